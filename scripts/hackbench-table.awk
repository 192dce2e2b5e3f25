# SPDX-License-Identifier: GPL-2.0
#
# The table; read together with hackbench-report.awk.

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
	return instruction_clock ? "all overheads are instructions, counted, not time on a real CPU" : \
		"shows that it works, not what it costs on a real CPU"
}

# "instructions of the run" or seconds
function run_text(x) { return instruction_clock ? short(1e9 * x) : plain(x, 3) }

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
		(instruction_clock ? "instructions by a clock that counts one of them as a nanosecond" : \
		clocks["elapsed"] ? "seconds elapsed as perf stat saw them" : "seconds as hackbench told them") \
		(meta["policy"] != "" ? "; " meta["policy"] : "") "; " counted(warmups, "warm-up run") " discarded")
	if (clocks["elapsed"] && clocks["hackbench"])
		wrap("", "(some by perf, some by hackbench: do not compare)")
	if (have_native)
		wrap("native", "user/bench on " native_meta["CPU"] ", kernel " native_meta["kernel"] ", spectre_v2: " \
			native_meta["spectre_v2"])
	print "" > table
	if (meta["emulated"] == "yes") {
		print "*** EMULATED CPU: " emulated_text() " ***" > table
		print "" > table
	}
}

function write_rows(    i, r, line) {
	line = sprintf("%-9s %2s %9s %9s %15s %8s %11s", "mode", "N", instruction_clock ? "instr." : "seconds", \
		"overhead", "range", "events", instruction_clock ? "instr/event" : "ns/event")
	if (have_native)
		line = line sprintf(" %10s %12s", "native ns", "= dispatch")
	else if (counters)
		line = line sprintf(" %8s %8s %8s", "cycles", "instr.", "br.miss")
	print line > table
	for (i = 1; i <= nsorted; i++) {
		r = sorted[i]
		line = sprintf("%-9s %2s %9s %9s %15s %8s %11s", row_mode[r], row_n[r], run_text(sec[r]), \
			r == base ? "baseline" : unsure[r] percent(over[r]), \
			over_lo[r] == "n/a" ? "" : signed(over_lo[r]) ".." signed(over_hi[r]), \
			(r in bad) ? "ERROR" : short(fired[r]), r == base ? "" : plain(per_event[r], 0))
		if (have_native)
			line = line sprintf(" %10s %12s", r == base ? "" : plain(native[r], 2), \
				r == base ? "" : is_number(dispatch_ms[r]) ? plain(dispatch_ms[r], 3) " ms" : "n/a")
		else if (counters)
			line = line sprintf(" %8s %8s %8s", short(median(r, "cycles")), \
				short(median(r, "instructions")), short(median(r, "branch_misses")))
		sub(/ +$/, "", line)
		print line > table
	}
	print "" > table
}

# What the columns mean.
function write_columns(many,    text) {
	text = "N: subscribers per tracepoint. All figures are medians over the rounds, per run. overhead: median " \
		"against the median of off; range: lowest and highest of the rounds, each against off of the same " \
		"round. events: how often a tracepoint fired (trace-all: events recorded); each calls N subscribers. "
	if (instruction_clock)
		text = text "instr/event: instructions that the run takes more than off, for each event, with what the " \
			"subscribers themselves do. "
	else
		text = text "ns/event: CPU time that the run takes more than off, for each event, with what the subscribers do. "
	if (many)
		text = text "~: the rounds do not agree on the sign, take it as noise."
	wrap("columns", text)
	if (have_native)
		wrap("", "native ns: to dispatch one event to N subscribers that do nothing, measured natively on the CPU " \
			"named above (user/bench, 64 sites, shortest): chain: direct calls; dynfunc, and kernel with one " \
			"subscriber: a direct call; the others: an array of pointers" \
			(meta["retpolines"] == "yes" ? " through retpolines" : "") \
			". = dispatch: computed, events x native ns: what the dispatch alone costs this run.")
	if (have_native && instruction_clock)
		wrap("why both", "A clock that counts instructions sees that a retpoline takes a few more of them, but not " \
			"that its return is always mispredicted, which costs a real CPU more than all of them together.")
	if (have_native && meta["retpolines"] == "yes" && native_meta["spectre_v2"] !~ /[Rr]etpoline/)
		wrap("NOTE", "The kernel of this machine itself runs without retpolines; there an array of pointers costs " \
			plain(native_ns["array-plain", 1], 2) " to " plain(native_ns["array-plain", 8], 2) " ns for 1 to 8 subscribers.")
	if (!have_native)
		wrap("", counters ? "n/a: perf cannot count it here." : "perf cannot count cycles here.")
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
	write_columns(many)
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
