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
