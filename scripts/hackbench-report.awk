# SPDX-License-Identifier: GPL-2.0
#
# From meta.txt and runs.csv of a hackbench run: table.txt, summary.csv, chart.dat and the
# first lines of chart.gp, all in the folder "dir".  Exit status 1 when a run shows that the
# numbers are not to be believed.  Any POSIX awk will do, that of busybox among them.

function fail(text) { print "hackbench-report.awk: " text > "/dev/stderr"; broken = 1; exit 2 }

# (awk writes large numbers with an exponent when it matches them)
function is_number(x) { return x ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ }

# sort v[1..n], ascending
function sort_up(v, n,    i, j, x) {
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j >= 1 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
}

# The median of a column of a row over the measured rounds; sets lo, hi and count.
# A run in which perf did not count says nothing: if any did not, the median is n/a.
function median(row, col,    i, v, n) {
	n = 0
	count = 0
	for (i = 1; i <= nrounds; i++) {
		if (!((row, i) in have))
			continue
		if (!is_number(cell[row, i, col]))
			return "n/a"
		v[++n] = cell[row, i, col] + 0
	}
	if (!n)
		return "n/a"
	sort_up(v, n)
	count = n
	lo = v[1]
	hi = v[n]
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

# 859904212284 -> 860G, 6399594 -> 6.40M
function short(x,    i) {
	if (!is_number(x))
		return x
	for (i = 1; x >= 999.5 && i < 6; i++)
		x /= 1000
	if (i == 1)
		return sprintf("%.0f", x)
	return sprintf(x >= 99.95 ? "%.0f%s" : x >= 9.995 ? "%.1f%s" : "%.2f%s", x, substr(" kMGTP", i, 1))
}

function plain(x, digits) { return is_number(x) ? sprintf("%." digits "f", x) : x }

function signed(x) { return x > -0.05 && x < 0.05 ? "0.0" : sprintf("%+.1f", x) }

function percent(x) { return is_number(x) ? signed(x) "%" : x }

function counted(n, what) { return n + 0 " " what (n == 1 ? "" : "s") }

# a CSV field
function field(x) {
	if (x !~ /[",]/)
		return x
	gsub(/"/, "\"\"", x)
	return "\"" x "\""
}

# text in a double-quoted gnuplot string
function quoted(x) { gsub(/[\\"]/, "\\\\&", x); gsub(/\n/, "\\n", x); return "\"" x "\"" }

# for gnuplot's enhanced text, where these are marks
function escaped(x) { gsub(/[_^{}@&~]/, "\\\\&", x); return x }

# Prints "label text", the text folded at about 92 columns.
function wrap(label, text,    n, w, i, line) {
	n = split(text, w, " ")
	line = sprintf("%-11s", label)
	for (i = 1; i <= n; i++) {
		if (length(line) + 1 + length(w[i]) > 99) {
			print line > table
			line = sprintf("%-11s", "")
		}
		line = line " " w[i]
	}
	print line > table
}

BEGIN {
	table = dir "/table.txt"
	summary = dir "/summary.csv"
	data = dir "/chart.dat"
	plot = dir "/chart.gp"
}

FILENAME ~ /meta\.txt$/ {
	i = index($0, "=")
	meta[substr($0, 1, i - 1)] = substr($0, i + 1)
	next
}

FNR == 1 {
	n = split($0, name, ",")
	for (i = 1; i <= n; i++)
		col[name[i]] = i
	if (!("events" in col) || !("seconds" in col))
		fail("runs.csv does not begin with the names of its columns")
	next
}

{
	if (split($0, f, ",") != n)
		fail("runs.csv: line " FNR " does not have " n " fields")
	round = f[col["round"]] + 0
	if (round < 1) {
		warmups++
		next
	}
	row = f[col["mode"]] ":" f[col["subscribers"]]
	if (!(row in number)) {
		number[row] = ++nrows
		row_mode[nrows] = f[col["mode"]]
		row_n[nrows] = f[col["subscribers"]]
	}
	r = number[row]
	if (round > nrounds)
		nrounds = round
	have[r, round] = 1
	runs[r]++
	for (i in col)
		cell[r, round, i] = f[col[i]]
	clocks[f[col["clock"]]] = 1
	ev = f[col["events"]]
	if (r in bad)
		next
	if (ev == "none")
		bad[r] = "events has no column for it"
	else if (f[col["mode"]] == "off") {
		if (ev + 0 != 0)
			bad[r] = "it dispatched " ev " events in round " round ", so it is no baseline"
	} else if (ev + 0 <= 0)
		bad[r] = "it dispatched no event in round " round ": attached, but never fires"
}

# The order of the plan (that of the first round is rotated).
function arrange(    n, w, i, seen) {
	n = split(meta["rows"], w, " ")
	nsorted = 0
	for (i = 1; i <= n; i++)
		if (w[i] in number) {
			sorted[++nsorted] = number[w[i]]
			seen[number[w[i]]] = 1
		}
	for (i = 1; i <= nrows; i++)
		if (!(i in seen))
			sorted[++nsorted] = i
}

function numbers(    i, r, k, v, n) {
	base = ("off:-" in number) ? number["off:-"] : 0
	if (base) {
		base_s = median(base, "seconds")
		base_lo = lo
		base_hi = hi
	}
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		sec[r] = median(r, "seconds")
		sec_lo[r] = lo
		sec_hi[r] = hi
		over[r] = over_lo[r] = over_hi[r] = "n/a"
		unsure[r] = ""
		events[r] = median(r, "events")
		total[r] = 0
		for (k = 1; k <= nrounds; k++)
			if ((r, k) in have) total[r] += cell[r, k, "events"]
		if (!base || r == base)
			continue
		over[r] = 100 * (sec[r] / base_s - 1)
		n = 0
		for (k = 1; k <= nrounds; k++) {
			if (!((r, k) in have) || !((base, k) in have))
				continue
			v = 100 * (cell[r, k, "seconds"] / cell[base, k, "seconds"] - 1)
			if (!n++ || v < over_lo[r]) over_lo[r] = v
			if (n == 1 || v > over_hi[r]) over_hi[r] = v
		}
		if (n && over_lo[r] < 0 && over_hi[r] > 0)
			unsure[r] = "~"
	}
}

function meaning(mode) {
	if (mode == "off") return "no probe on any tracepoint."
	if (mode == "kernel") return "each subscriber on the kernel's own tracepoint."
	if (mode == "indirect") return "through function pointers, retpolined where the kernel has that in force."
	if (mode == "dynfunc") return "one subscriber, by a patched direct call."
	if (mode == "chain") return "N subscribers, by an unrolled chain of direct calls."
	if (mode == "trace-all") return "off, and all events of the kernel's own tracer (trace-cmd start -e all)."
	return ""
}

function emulated_text() {
	return meta["emulated_why"] ~ /counts instructions/ ? \
		"seconds stand for instructions executed, not for time on a real CPU" : \
		"shows that it works, not what it costs on a real CPU"
}

# What was measured, where and how, above the table.
function write_machine() {
	print "What each kind of dispatch costs: " meta["load"] > table
	print "" > table
	wrap("kernel", meta["kernel"] ", " meta["build"] "; measured " meta["date"])
	wrap("cpu", meta["cpu"] ", " counted(meta["cores"], "core") ", frequency governor: " meta["governor"])
	wrap("emulated", meta["emulated"] " (" meta["emulated_why"] ")")
	wrap("spectre_v2", meta["spectre_v2"])
	wrap("jumpfunc", (meta["module"] != "" ? meta["module"] ", " : "") "back end " meta["backend"] \
		(meta["backend_asked"] != meta["backend"] ? " (asked for: " meta["backend_asked"] ")" : "") \
		"; " meta["tracepoints"])
	wrap("method", counted(nrounds, "round") ", rows interleaved, " counted(meta["inner"], "run") " per round and row; " \
		(clocks["elapsed"] ? "seconds elapsed as perf stat saw them" : \
		"seconds as hackbench told them" ) "; " counted(warmups, "warm-up run") " discarded")
	if (clocks["elapsed"] && clocks["hackbench"])
		wrap("", "(some by perf, some by hackbench: do not compare)")
	print "" > table
	if (meta["emulated"] == "yes") {
		print "*** EMULATED CPU: " emulated_text() " ***" > table
		print "" > table
	}
}

function write_rows(    i, r) {
	printf "%-9s %2s %8s %15s %9s %14s %9s %7s %7s %7s\n", "mode", "N", "seconds", "min..max",
		"overhead", "range", "events", "cycles", "instr.", "br.miss" > table
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		printf "%-9s %2s %8s %15s %9s %14s %9s %7s %7s %7s\n", row_mode[r], row_n[r],
			plain(sec[r], 3), sprintf("%.3f..%.3f", sec_lo[r], sec_hi[r]),
			r == base ? "baseline" : unsure[r] percent(over[r]),
			over_lo[r] == "n/a" ? "" : signed(over_lo[r]) ".." signed(over_hi[r]),
			(r in bad) ? "ERROR" : short(events[r]), short(median(r, "cycles")),
			short(median(r, "instructions")), short(median(r, "branch_misses")) > table
	}
	print "" > table
}

# What went wrong, and what the words in the table mean.
function write_notes(    i, mode, notes, told, many) {
	for (i = 1; i <= nsorted; i++) {
		if (sorted[i] in bad)
			wrap("ERROR", row_mode[sorted[i]] (row_n[sorted[i]] == "-" ? "" : " N=" row_n[sorted[i]]) ": " bad[sorted[i]])
		if (unsure[sorted[i]] != "") many = 1
	}
	notes = ""
	for (i = 1; i <= nsorted; i++) {
		mode = row_mode[sorted[i]]
		if (!(mode in told) && meaning(mode) != "")
			notes = notes (notes == "" ? "" : " ") mode ": " meaning(mode)
		told[mode] = 1
	}
	wrap("modes", notes)
	wrap("columns", "N: subscribers per tracepoint. All figures are medians over the rounds, per run. overhead: " \
		"median against the median of off; range: lowest and highest of the rounds, each against off " \
		"of the same round. events: calls of subscribers (trace-all: events recorded)." \
		(many ? " ~: the rounds do not agree on the sign, take it as noise." : ""))
	if (median(sorted[1], "cycles") == "n/a")
		wrap("", "n/a: perf cannot count it here.")
}

function write_retpolines() {
	if (meta["retpolines"] == "no")
		wrap("NOTE", "This kernel runs without retpolines: an indirect call is then nearly as cheap as a " \
			"direct one. Expect indirect close to dynfunc, and a trampoline perhaps a little slower than " \
			"a pointer; chain gains mainly with many subscribers. To see what retpolines cost: boot with " \
			"spectre_v2=retpoline.")
	else if (meta["retpolines"] == "lfence")
		wrap("NOTE", "Indirect branches go through lfence here, about half as dear as a retpoline.")
	else if (meta["retpolines"] == "unknown")
		wrap("NOTE", "It is not known whether this kernel runs with retpolines; without them expect " \
			"indirect close to dynfunc.")
}

function write_table() {
	write_machine()
	write_rows()
	write_notes()
	write_retpolines()
	wrap("2018", "The proof of concept (its author's mail; all events of trace-cmd, hackbench 50, real hardware): " \
		"31.20 s without retpolines, 33.97 s with (+8.9%), 32.15 s with jump functions (+3.0%).")
}

function write_summary(    i, r) {
	print "mode,subscribers,rounds,median_s,min_s,max_s,overhead_pct,overhead_min_pct,overhead_max_pct," \
		"events_per_run,events_total,task_clock_ms,context_switches,cycles,instructions,branches," \
		"branch_misses,error,emulated,retpolines,kernel,backend,cpu,load" > summary
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		printf "%s,%s,%d,%.6f,%.6f,%.6f,%s,%s,%s,%s,%.0f,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n",
			row_mode[r], row_n[r], runs[r], sec[r], sec_lo[r], sec_hi[r],
			plain(over[r], 2), plain(over_lo[r], 2), plain(over_hi[r], 2),
			plain(events[r], 0), total[r], plain(median(r, "task_clock_ms"), 3),
			plain(median(r, "context_switches"), 0), plain(median(r, "cycles"), 0),
			plain(median(r, "instructions"), 0), plain(median(r, "branches"), 0),
			plain(median(r, "branch_misses"), 0), field((r in bad) ? bad[r] : ""), meta["emulated"],
			meta["retpolines"], field(meta["kernel"]), field(meta["backend"]),
			field(meta["cpu"]), field(meta["load"]) > summary
	}
}

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

# One data block per mode, so that each has its colour.
function write_bars(    i, k, r, value, low, high, label, cut) {
	print "# x value low high label; one block per mode" > data
	for (k = 1; k <= nmodes; k++) {
		if (k > 1)
			print "\n" > data
		print "# " modes[k] > data
		for (i = 1; i <= nsorted; i++) {
			r = sorted[i]
			if (!(r in group) || row_mode[r] != modes[k])
				continue
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
	}
}

function write_titles() {
	print "# Written together with the results; render with: gnuplot chart.gp" > plot
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
function write_frame(x,    k, pad) {
	pad = x < 6 ? (6 - x) / 2 : 0
	printf "x_min = %.2f\nx_max = %.2f\ny_min = %.6f\ny_max = %.6f\n", 0.2 - pad, x + 0.8 + pad, bottom - (bottom < 0 ? (top - bottom) * 0.06 : 0), top + (top - bottom) * 0.16 > plot
	printf "noise_low = %.6f\nnoise_high = %.6f\n", base ? 100 * (base_lo / base_s - 1) : 0, base ? 100 * (base_hi / base_s - 1) : 0 > plot
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
	n = make_groups()
	if (!n)
		return
	x = place_bars()
	scale(n)
	write_bars()
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

END {
	if (broken)
		exit 2
	if (!nrows)
		fail("runs.csv has no measured run")
	arrange()
	numbers()
	write_table()
	write_summary()
	write_chart()
	for (r in bad)
		exit 1
}
