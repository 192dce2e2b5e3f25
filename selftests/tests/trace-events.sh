#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=3: slow, in a large machine; event-life.sh has events on each kernel
# JF_ANY_BACKEND: it shows the same with each of them
# JF_TIMEOUT=180
# JF_VM=--with bpftrace
# The trace events of the core, as tools see them: formats, values, and how many there are.
. "$(dirname "$0")/../lib/lib.sh"

T=$JF_TRACEFS

jf_start "events/jumpfunc: formats, trace-cmd, perf, bpftrace"
[ -d $T/events ] || jf_skip_all "no tracefs in this kernel (CONFIG_TRACING)"
check_fails "no events without the module" test -e $T/events/jumpfunc
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)

# What is traced: 7 updates in 8 commits, of which one fails and two find nothing to do.
cat >"$JF_TMP/work" <<END
set -e
refused() { if printf '%s\n' "\$2" >$JF/\$1; then echo "\$1 took '\$2'" >&2; exit 1; fi 2>/dev/null; }
echo 1 >$JF/func2
echo 2 >$JF/func2
echo 0 >$JF/func2
echo 'func0=jf_func0_1 func1=jf_func1_2' >$JF/functions
refused functions 'func3=jf_func3_1 func3=jf_func3_2'	# a commit that fails: EINVAL
refused functions 'func3=panic'				# nothing that is committed
refused func3 9
echo 'func0=default func1=default' >$JF/functions
echo 0 >$JF/func2					# is there already
echo 0 >$JF/func1
# A recorder of trace-cmd that has not begun when the command ends records nothing: 1 run in 8 with one CPU.
sleep 0.3
END
updates=7 batches=8

# ---- formats ----

# "type name size signed" of each field of its own
fields()
{
	sed -n 's/^\tfield:\(.*\);\toffset:[0-9]*;\tsize:\([0-9]*\);\tsigned:\([01]\);$/\1 \2 \3/p' \
		$T/events/jumpfunc/"$1"/format | grep -v ' common_'
}
check_eq "the fields of jf_update" "$(fields jf_update)" "\
__data_loc char[] name 4 $(fields jf_update | sed -n '1s/.* //p')
void * from 8 0
void * to 8 0"
check_eq "the fields of jf_batch" "$(fields jf_batch)" "\
u64 begin 8 0
u64 end 8 0
u64 ns 8 0
unsigned int entities 4 0
unsigned int sites 4 0
int error 4 1"
check_eq "no others" "$(cd $T/events/jumpfunc && echo */format)" "jf_batch/format jf_update/format"

# ---- lists of events: "event field=value ..." ----

addr() { awk -v s="$1" '$3 == s && $4 == "[jumpfunc]" {print "0x" $1; exit}' /proc/kallsyms; }
# values EVENT FIELD LIST: that field of all of them, in one line
values()
{
	awk -v e="$1" -v f="$2" '$1 == e {for (i = 2; i <= NF; i++) if (index($i, f "=") == 1) \
		printf "%s%s", sep, substr($i, length(f) + 2); sep = " "}' "$3"
}

# check_events TOOL LIST: the work is in the list, with the right values and nothing else
check_events()
{
	check_eq "$1: entities of each commit" "$(values jf_batch entities "$2")" "1 1 1 2 0 2 0 0"
	check_eq "$1: errors of each commit" "$(values jf_batch error "$2" | sed 's/4294967274\|0xffffffea/-22/')" "0 0 0 0 -22 0 0 0"
	if [ "$be" = indirect ]; then
		check_eq "$1: no sites without a back end that patches" "$(values jf_batch sites "$2")" "0 0 0 0 0 0 0 0"
	else
		# At least the trampoline of each.
		check_match "$1: sites of each commit" "$(values jf_batch sites "$2")" \
			'^[1-9][0-9]* [1-9][0-9]* [1-9][0-9]* ([2-9]|[1-9][0-9]+) 0 ([2-9]|[1-9][0-9]+) 0 0$'
	fi
	check_eq "$1: ns is end - begin, and time goes forward" "$(awk '$1 == "jf_batch" {
		for (i = 2; i <= NF; i++) {split($i, a, "="); v[a[1]] = a[2]}
		# Differences of the last digits: awk has no 64-bit numbers.
		b = substr(v["begin"], length(v["begin"]) - 11); e = substr(v["end"], length(v["end"]) - 11)
		d = e - b; if (d < 0) d += 1e12
		if (d != v["ns"]) print}' "$2")" ""
}

# ---- trace-cmd ----

if command -v trace-cmd >/dev/null; then
	check "trace-cmd record" trace-cmd record -q -o "$JF_TMP/dat" -e jumpfunc sh "$JF_TMP/work"
	trace-cmd report -i "$JF_TMP/dat" >"$JF_TMP/report" 2>"$JF_TMP/err" || note "$(cat "$JF_TMP/err")"
	trace-cmd report -R -i "$JF_TMP/dat" >"$JF_TMP/raw" 2>/dev/null || true
	sed -n 's/.*: *\(jf_[a-z]*\): */\1 /p' "$JF_TMP/report" >"$JF_TMP/list"
	check_eq "trace-cmd: updates, as people read them" "$(sed -n 's/^jf_update //p' "$JF_TMP/list" | head -n 3)" "\
func2: jf_func2_0 -> jf_func2_1
func2: jf_func2_1 -> jf_func2_2
func2: jf_func2_2 -> jf_func2_0"
	check_events trace-cmd "$JF_TMP/list"
	sed -n 's/.*: *\(jf_[a-z]*\): */\1 /p' "$JF_TMP/raw" >"$JF_TMP/list"
	check_eq "trace-cmd: names" "$(values jf_update name "$JF_TMP/list")" "func2 func2 func2 func0 func1 func0 func1"
	# As numbers or, where trace-cmd knows them, as names.
	check_match "trace-cmd: from which address" "$(values jf_update from "$JF_TMP/list" | cut -d' ' -f1)" \
		"^(jf_func2_0|$(addr jf_func2_0))\$"
	check_match "trace-cmd: to which address" "$(values jf_update to "$JF_TMP/list" | cut -d' ' -f1)" \
		"^(jf_func2_1|$(addr jf_func2_1))\$"
	check "trace-cmd record with a filter" trace-cmd record -q -o "$JF_TMP/dat" -e jumpfunc:jf_batch -f 'error != 0' sh "$JF_TMP/work"
	check_eq "trace-cmd: only the failed commit passes it" \
		"$(trace-cmd report -i "$JF_TMP/dat" 2>/dev/null | grep -c 'jf_batch:.*entities=0 sites=0 error=-22')" 1
else
	skip "trace-cmd" "not installed"
fi

# ---- perf ----

if [ ! -e /proc/sys/kernel/perf_event_paranoid ]; then
	skip "perf" "no perf events in this kernel (CONFIG_PERF_EVENTS)"
elif command -v perf >/dev/null; then
	check "perf record" perf record -q -o "$JF_TMP/data" -a -e 'jumpfunc:*' sh "$JF_TMP/work"
	perf script -i "$JF_TMP/data" -F event,trace >"$JF_TMP/report" 2>"$JF_TMP/err" || note "$(cat "$JF_TMP/err")"
	sed -n 's/^ *jumpfunc:\(jf_[a-z]*\): */\1 /p' "$JF_TMP/report" >"$JF_TMP/list"
	check_events perf "$JF_TMP/list"
	check_eq "perf: names" "$(awk '$1 == "jf_update" {printf "%s%s", sep, $2; sep = " "}' "$JF_TMP/list")" \
		"func2: func2: func2: func0: func1: func0: func1:"

	before=$(jf_stat updates)
	check "perf stat" perf stat -x, -o "$JF_TMP/stat" -e 'jumpfunc:*' sh "$JF_TMP/work"
	counted() { awk -F, -v e="jumpfunc:$1" '$3 == e {print $1}' "$JF_TMP/stat"; }
	check_eq "perf stat counts each update" "$(counted jf_update)" $updates
	check_eq "perf stat counts each commit" "$(counted jf_batch)" $batches
	check_eq "the core counts the same" $(($(jf_stat updates) - before)) $updates
else
	skip "perf" "not installed"
fi

# ---- bpftrace ----

why=$(jf_no_bpftrace)
if [ -n "$why" ]; then
	skip "bpftrace" "$why"
else
	check "bpftrace" sh -c "bpftrace -c 'sh $JF_TMP/work' -e '
		tracepoint:jumpfunc:jf_update { @updates = count(); }
		tracepoint:jumpfunc:jf_batch { @batches = count(); }' >$JF_TMP/bpf"
	check_eq "bpftrace counts updates" "$(sed -n 's/^@updates: //p' "$JF_TMP/bpf")" $updates
	check_eq "bpftrace counts commits" "$(sed -n 's/^@batches: //p' "$JF_TMP/bpf")" $batches
fi

# ---- the module is unloaded while they are on ----

echo 1 >$T/events/jumpfunc/enable
jf_on_exit "echo 0 >$T/events/jumpfunc/enable; echo >$T/trace"
check "the work, with events on" sh "$JF_TMP/work"
check_match "they are in the trace" "$(grep -c 'jf_update: func' $T/trace)" '^[1-9]'
check "the core unloads while its events are on" jf_unload
check_fails "its events are removed" test -e $T/events/jumpfunc
check "the trace can still be read" cat $T/trace
jf_done
