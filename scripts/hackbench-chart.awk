# SPDX-License-Identifier: GPL-2.0
#
# What hackbench-chart.gp draws; read together with hackbench-report.awk.

# What a bar's group is called: those with as many subscribers stand together.
function group_of(r) {
	if (row_mode[r] == "trace-all")
		return "trace-cmd -e all"
	if (row_n[r] == "-")
		return ""
	return row_n[r] == 1 ? "1 subscriber" : row_n[r] " subscribers"
}

# Sets group of each row that has a bar, groups and modes; returns how many bars.
function make_groups(    i, r, n, seen_n, seen_m) {
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		if (base && r == base)
			continue
		group[r] = group_of(r)
		if (!(group[r] in seen_n)) { seen_n[group[r]] = 1; groups[++ngroups] = group[r] }
		if (!(row_mode[r] in seen_m)) { seen_m[row_mode[r]] = 1; modes[++nmodes] = row_mode[r] }
		n++
	}
	return n + 0
}

# Sets at, where each bar stands, and tics, what is written below; returns where the last one stands.
function place_bars(    i, k, r, x, first) {
	x = 0
	for (k = 1; k <= ngroups; k++) {
		first = x + 1
		for (i = 1; i <= nsorted; i++)
			if ((r = sorted[i]) in group && group[r] == groups[k])
				at[r] = ++x
		if (groups[k] != "")
			tics = tics (tics == "" ? "" : ", ") quoted(groups[k]) " " (first + x) / 2
		else
			for (i = 1; i <= nsorted; i++)
				if ((r = sorted[i]) in group && group[r] == "")
					tics = tics (tics == "" ? "" : ", ") quoted(escaped(row_mode[r])) " " at[r]
		x += 0.8
	}
	return x - 0.8
}

# What a bar shows, and the line on it from low to high.
function bar_value(r) { return base ? over[r] : sec[r] }

function bar_low(r) { return !base ? sec_lo[r] : is_number(over_lo[r]) ? over_lo[r] : over[r] }

function bar_high(r) { return !base ? sec_hi[r] : is_number(over_hi[r]) ? over_hi[r] : over[r] }

function reach(low, high) {
	if (high > top) top = high
	if (low < bottom) bottom = low
}

# Sets top and bottom of the chart.
function scale(n,    i, r) {
	top = 0
	bottom = 0
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		if (!(r in group) || (row_mode[r] == "trace-all" && n > 1))
			continue
		reach(base ? bar_low(r) : 0, bar_high(r))
	}
	if (base)
		reach(100 * (base_lo / base_s - 1), 100 * (base_hi / base_s - 1))
	if (top - bottom <= 0)
		top = bottom + 1
}

# One data block for each mode, so that each has its colour. eventful: of the picture of hackbench-event.awk.
function write_blocks(head, eventful,    i, k, r) {
	print head > data
	for (k = 1; k <= nmodes; k++) {
		if (k > 1)
			print "\n" > data
		print "# " modes[k] > data
		for (i = 1; i <= nsorted; i++) {
			r = sorted[i]
			if (!(r in group) || row_mode[r] != modes[k])
				continue
			if (eventful)
				write_event(r)
			else
				write_bar(r)
		}
	}
}

function write_bar(r,    value, low, high, label, cut) {
	value = bar_value(r)
	low = bar_low(r)
	high = bar_high(r)
	label = base ? percent(value) : sprintf("%.3f", value)
	# The kernel's own tracer with all events on would dwarf the rest.
	cut = top + (top - bottom) * 0.06
	if (value > cut) { label = label " (cut)"; value = low = high = cut }
	if (high > cut) high = cut
	if (low > high) low = high
	print at[r], value, low, high, quoted(label) > data
}

function write_titles() {
	print "# Written together with the results; render with: gnuplot chart.gp" > plot
	print "picture = " quoted("hackbench-chart.gp") > plot
	print "title_text = " quoted(base ? sprintf("%s: overhead of dispatch against off (%.3f s)", escaped(meta["load"]), base_s) : \
		escaped(meta["load"]) ": seconds") > plot
	print "machine_text = " quoted(escaped(meta["kernel"] ", " meta["cpu"] ", " counted(meta["cores"], "core") ", back end " \
		meta["backend"] ", " counted(nrounds, "round"))) > plot
	print "spectre_text = " quoted(escaped("spectre_v2: " meta["spectre_v2"])) > plot
	print "warn_text = " quoted(meta["emulated"] == "yes" ? "EMULATED CPU: " emulated_text() : \
		meta["emulated"] == "unknown" ? "It is not known whether this CPU is emulated" : \
		meta["retpolines"] == "no" ? "This kernel runs without retpolines" : "") > plot
	print "y_text = " quoted(base ? "overhead, % (bar: medians; line: range of the rounds)" : "seconds (bar: median; line: min to max)") > plot
}

# The frame around bars up to x, and the modes with their colours.
function write_frame(x,    pad) {
	pad = x < 6 ? (6 - x) / 2 : 0
	printf "x_min = %.2f\nx_max = %.2f\ny_min = %.6f\ny_max = %.6f\n", 0.2 - pad, x + 0.8 + pad, bottom - (bottom < 0 ? (top - bottom) * 0.06 : 0), top + (top - bottom) * 0.16 > plot
	printf "noise_low = %.6f\nnoise_high = %.6f\n", base ? 100 * (base_lo / base_s - 1) : 0, base ? 100 * (base_hi / base_s - 1) : 0 > plot
	write_modes()
}

# The modes, their colours, and what stands below the bars.
function write_modes(    k) {
	print "n_modes = " nmodes > plot
	printf "array modes[%d] = [", nmodes > plot
	for (k = 1; k <= nmodes; k++)
		printf "%s%s", (k > 1 ? ", " : ""), quoted(escaped(modes[k])) > plot
	print "]" > plot
	printf "array colours[%d] = [", nmodes > plot
	for (k = 1; k <= nmodes; k++)
		printf "%s%s", (k > 1 ? ", " : ""), quoted(colour(modes[k])) > plot
	print "]" > plot
	print "set xtics (" tics ")" > plot
}

function write_chart(    n, x) {
	if (write_event_chart())
		return
	n = make_groups()
	if (!n)
		return
	x = place_bars()
	scale(n)
	write_blocks("# x value low high label; one block per mode", 0)
	write_titles()
	write_frame(x)
}

# Colours that colour-blind readers can tell apart, always the same for a mode.
function colour(mode) {
	if (mode == "kernel") return "#0072b2"
	if (mode == "indirect") return "#d55e00"
	if (mode == "dynfunc") return "#009e73"
	if (mode == "chain") return "#56b4e9"
	if (mode == "trace-all") return "#999999"
	return "#cc79a7"
}
