#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Breakpoints: calls that run into one arrive where they would have arrived, in tasks, interrupts and NMIs,
# and stack traces show the caller; other people's breakpoints, kprobes and function tracing are left
# alone, also while batches are written.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "breakpoints, kprobes, tracing"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)
[ "$be" != indirect ] || jf_skip_all "back end indirect has no breakpoints"

check "jf_int3 loads" jf_insmod jf_int3
n=$(jf_stat int3_hits)
jf_cases jf_int3 emulate
check_match "the breakpoints were hit" $(($(jf_stat int3_hits) - n)) '^[1-9][0-9]'
jf_cases jf_int3 stack
n=$(jf_stat int3_hits)
jf_cases jf_int3 foreign
check_eq "foreign breakpoints are not ours" "$(jf_stat int3_hits)" "$n"
jf_cases jf_int3 kprobes
check "jf_int3 unloads" jf_rmmod jf_int3

# ---- tracing on targets, in a storm ----

T=$JF_TRACEFS
funcs=5
[ "$be" != kernel ] || funcs=3
check "jf_many_sites loads" jf_insmod jf_many_sites seconds="${JF_STORM_SECONDS:-3}" storm_funcs=$funcs
if [ -w $T/kprobe_events ]; then
	jf_on_exit "echo 0 >$T/events/kprobes/enable; echo >$T/kprobe_events; echo nop >$T/current_tracer; echo >$T/set_ftrace_filter; echo >$T/trace"
	check "a kprobe on a target" sh -c "echo 'p:jf_t1 many_t1' >$T/kprobe_events"
	echo 1 >$T/events/kprobes/jf_t1/enable
	check "function tracing of targets" sh -c "echo many_t0 >$T/set_ftrace_filter && echo many_t2 >>$T/set_ftrace_filter && echo function >$T/current_tracer"
	jf_log_mark
	# All the time: what is left in the buffer at the end is what one CPU called last.
	awk '/many_t0 <-/ && !a++ {print "many_t0"; fflush()} /many_t2 <-/ && !b++ {print "many_t2"; fflush()}
		/jf_t1: \(many_t1/ && !c++ {print "jf_t1"; fflush()} a && b && c {exit}' $T/trace_pipe >"$JF_TMP/trace" &
	JF_PIDS="$JF_PIDS $!"
	jf_cases jf_many_sites storm "traced: "
	log=$(jf_log_new | sed -n 's/.*jf_many_sites: //p')
	note "$log"
	# shellcheck disable=SC2046
	jf_count calls $(jf_many_calls "$log")
	i=0
	while [ "$(wc -l <"$JF_TMP/trace")" -lt 3 ] && [ $i -lt 100 ]; do sleep 0.2; i=$((i + 1)); done
	for f in many_t0 many_t2; do
		check "$f shows in the trace" grep -qx $f "$JF_TMP/trace"
	done
	check "the kprobe shows in the trace" grep -qx jf_t1 "$JF_TMP/trace"
	check_match "sites and trampolines cannot be traced" "$(grep -c 'many_stub_\|dynfunc_many' $T/available_filter_functions)" '^0$'
	check_fails "a kprobe event on a trampoline is refused" sh -c "echo 'p:jf_bad dynfunc_many_k0' >>$T/kprobe_events && echo 1 >$T/events/kprobes/jf_bad/enable"
	echo 0 >$T/events/kprobes/enable
	echo nop >$T/current_tracer
	echo >$T/set_ftrace_filter
	echo >$T/kprobe_events
else
	skip "tracing on targets" "no kprobe events in this kernel"
fi
check "jf_many_sites unloads" jf_rmmod jf_many_sites
jf_done
