# SPDX-License-Identifier: GPL-2.0
#
# From meta.txt and runs.csv of a hackbench run: table.txt (hackbench-table.awk), summary.csv, chart.dat
# and the first lines of chart.gp (hackbench-chart.awk), all in the folder that the variable "dir" of the
# environment names. If there is a native.csv, of user/bench, it says what one event costs to dispatch on a
# real CPU.  Exit status 1 when a run shows that the numbers are not to be believed.  Any POSIX awk will do,
# that of busybox among them.

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

# text in a double-quoted gnuplot string; between backticks it would be run as a command
function quoted(x) { gsub(/`/, "'", x); gsub(/[\\"]/, "\\\\&", x); gsub(/\n/, "\\n", x); return "\"" x "\"" }

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
	dir = ENVIRON["dir"]
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

FILENAME ~ /native\.csv$/ {
	native_line($0)
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
	# The seconds of "perf stat -r" are a mean, the events those of all its runs.
	cell[r, round, "events of a run"] = is_number(ev) && f[col["inner"]] > 0 ? ev / f[col["inner"]] : ev
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

# A line of user/bench's CSV: "# CPU: ...", the columns' names, or a row.
function native_line(line,    i, n, f) {
	if (line ~ /^# /) {
		i = index(line, ": ")
		native_meta[substr(line, 3, i - 3)] = substr(line, i + 2)
		return
	}
	n = split(line, f, ",")
	if (!("ns_min" in native_col)) {
		for (i = 1; i <= n; i++)
			native_col[f[i]] = i
		if (!("ns_min" in native_col) || !("shape" in native_col))
			fail("native.csv does not begin with the names of its columns")
		return
	}
	if (f[native_col["group"]] == "subscribers" && f[native_col["layout"]] == "64")
		native_ns[f[native_col["shape"]], f[native_col["n"]]] = f[native_col["ns_min"]]
}

# The row of user/bench that calls N subscribers as this mode does.
function native_shape(mode, n) {
	if (mode == "chain")
		return "chain"
	if (mode == "dynfunc" || (mode == "kernel" && n == 1))
		return "direct"
	if (mode == "indirect" || mode == "kernel")
		return meta["retpolines"] == "yes" ? "array-retpoline" : meta["retpolines"] == "no" ? "array-plain" : ""
	return ""
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

# What one event costs: fired, per_event in the unit of the clock, native and dispatch_ms.
function per_event_numbers(r,    n, shape, cpu, cpu_base) {
	n = row_n[r] == "-" ? 1 : row_n[r] + 0
	fired[r] = is_number(events[r]) && n ? events[r] / n : events[r]
	per_event[r] = native[r] = dispatch_ms[r] = "n/a"
	if (!base || r == base || !is_number(fired[r]) || fired[r] <= 0)
		return
	if (instruction_clock) {
		per_event[r] = 1e9 * (sec[r] - base_s) / fired[r]
	} else if (meta["emulated"] == "no") {
		# Of all CPUs together; seconds are not.
		cpu = median(r, "task_clock_ms")
		cpu_base = median(base, "task_clock_ms")
		if (is_number(cpu) && is_number(cpu_base))
			per_event[r] = 1e6 * (cpu - cpu_base) / fired[r]
	}
	shape = native_shape(row_mode[r], n)
	if ((shape, n) in native_ns) {
		native[r] = native_ns[shape, n]
		dispatch_ms[r] = fired[r] * native[r] / 1e6
		have_native = 1
	}
}

function numbers(    i, r, k, v, n) {
	instruction_clock = meta["emulated_why"] ~ /counts instructions/
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
		events[r] = median(r, "events of a run")
		total[r] = 0
		for (k = 1; k <= nrounds; k++)
			if ((r, k) in have) total[r] += cell[r, k, "events"]
		per_event_numbers(r)
		if (is_number(median(r, "cycles")) || is_number(median(r, "instructions")) || is_number(median(r, "branch_misses")))
			counters = 1
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

function write_summary(    i, r) {
	print "mode,subscribers,rounds,median_s,min_s,max_s,overhead_pct,overhead_min_pct,overhead_max_pct," \
		"events_per_run,calls_per_run,calls_total,per_event,per_event_unit,native_ns_per_event,native_dispatch_ms,task_clock_ms,context_switches,cycles,instructions,branches," \
		"branch_misses,error,emulated,retpolines,kernel,backend,cpu,load" > summary
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		printf "%s,%s,%d,%.6f,%.6f,%.6f,%s,%s,%s,%s,%s,%.0f,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n",
			row_mode[r], row_n[r], runs[r], sec[r], sec_lo[r], sec_hi[r],
			plain(over[r], 2), plain(over_lo[r], 2), plain(over_hi[r], 2),
			plain(fired[r], 0), plain(events[r], 0), total[r], plain(per_event[r], 2),
			instruction_clock ? "instructions" : "cpu-ns", plain(native[r], 4), plain(dispatch_ms[r], 4), plain(median(r, "task_clock_ms"), 3),
			plain(median(r, "context_switches"), 0), plain(median(r, "cycles"), 0),
			plain(median(r, "instructions"), 0), plain(median(r, "branches"), 0),
			plain(median(r, "branch_misses"), 0), field((r in bad) ? bad[r] : ""), meta["emulated"],
			meta["retpolines"], field(meta["kernel"]), field(meta["backend"]),
			field(meta["cpu"]), field(meta["load"]) > summary
	}
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
