# SPDX-License-Identifier: GPL-2.0
#
# What hackbench-event.gp draws; read together with hackbench-report.awk and hackbench-chart.awk.

function in_picture(r) { return is_number(per_event[r]) && is_number(native[r]) }

# Sets where each bar stands, below which words, and the modes; returns where the last bar stands.
function place_events(    i, r, x, n, first) {
	x = n = first = 0
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		if (!in_picture(r))
			continue
		if (x && row_n[r] != n) {
			event_tic(n, first, x)
			x += 0.8
		}
		if (row_n[r] != n)
			first = x + 1
		n = row_n[r]
		at[r] = ++x
		group[r] = n
		if (!(row_mode[r] in event_modes)) {
			event_modes[row_mode[r]] = 1
			modes[++nmodes] = row_mode[r]
		}
	}
	event_tic(n, first, x)
	return x
}

function event_tic(n, first, last) {
	tics = tics (tics == "" ? "" : ", ") quoted(n == "-" ? "1" : n) " " (first + last) / 2
}

function write_event(r) {
	print at[r], per_event[r], native[r], quoted(plain(per_event[r], 0)), \
		quoted(plain(native[r], native[r] < 9.95 ? 1 : 0)) > data
	if (per_event[r] < left_low) left_low = per_event[r]
	if (per_event[r] > left_high) left_high = per_event[r]
	if (native[r] > right_high) right_high = native[r]
}

# Sets most and worst: the most subscribers that a chain has, and the dearest other way to call as many.
function compare(    i, r) {
	most = worst = 0
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		if ((r in group) && row_mode[r] == "chain" && (!most || row_n[r] + 0 > row_n[most] + 0))
			most = r
	}
	for (i = 1; most && i <= nsorted; i++) {
		r = sorted[i]
		if ((r in group) && row_mode[r] != "chain" && row_n[r] == row_n[most] && (!worst || native[r] + 0 > native[worst] + 0))
			worst = r
	}
}

# The finding in one line, and what follows for the run.
function write_finding() {
	compare()
	print "title_text = " quoted(!worst ? "What it costs to call the subscribers of an event" : \
		sprintf("An event with %s: %s ns by direct calls, %s ns %s", counted(row_n[most], "subscriber"), \
			plain(native[most], 1), plain(native[worst], 1), \
			native_shape(row_mode[worst], row_n[worst]) == "direct" ? "by " row_mode[worst] : "by pointers")) > plot
	print "below_text = " quoted(!worst ? escaped(meta["load"]) : \
		sprintf("For the %s such events of %s: %s ms against %s ms (computed)", short(fired[most]), \
			escaped(meta["load"]), plain(dispatch_ms[most], 2), plain(dispatch_ms[worst], 2))) > plot
}

# What the legend says of a mode.
function legend(mode) {
	if (mode == "kernel") return "the kernel's own tracepoint"
	if (mode == "indirect") return "an array of pointers"
	if (mode == "dynfunc") return "a patched call (dynfunc)"
	if (mode == "chain") return "a chain of direct calls"
	return mode
}

# Returns 0, having written nothing, when there is too little for this picture.
function write_event_chart(    i, n, x) {
	for (i = 1; i <= nsorted; i++)
		n += in_picture(sorted[i])
	if (!n)
		return 0
	x = place_events()
	left_low = left_high = right_high = 0
	write_blocks("# x per-event native-ns label label; one block per mode", 1)
	print "# Written together with the results; render with: gnuplot chart.gp" > plot
	print "picture = " quoted("hackbench-event.gp") > plot
	write_finding()
	print "machine_text = " quoted(escaped("left: kernel " meta["kernel"] ", " meta["cpu"] (meta["emulated"] == "yes" ? \
		" (EMULATED CPU: " emulated_text() ")" : ""))) > plot
	print "native_text = " quoted(escaped("right: " native_meta["CPU"] ", as a kernel does it whose spectre_v2 says: " \
		substr(meta["spectre_v2"], 1, index(meta["spectre_v2"] ";", ";") - 1))) > plot
	print "left_text = " quoted(instruction_clock ? "instructions per event, with the subscribers' work" : \
		"CPU time per event, ns, with the subscribers' work") > plot
	print "right_text = " quoted("nanoseconds per event, dispatch alone, real CPU") > plot
	printf "left_min = %g\nleft_max = %g\nright_max = %g\n", left_low * 1.1, left_high * 1.12, right_high * 1.12 > plot
	print "x_min = 0.2" > plot
	printf "x_max = %.2f\n", x + 0.8 > plot
	write_modes()
	for (i = 1; i <= nmodes; i++)
		printf "modes[%d] = %s\n", i, quoted(escaped(legend(modes[i]))) > plot
	return 1
}
