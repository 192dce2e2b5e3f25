#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# JF_TIMEOUT=300
# Probes in batches: two probes on each of twenty tracepoints, a function and a key go on and off in
# one transaction of three broadcasts, or not at all; while all CPUs hit them, and while another
# module's probes are registered and unregistered.
. "$(dirname "$0")/../lib/lib.sh"

S=/sys/kernel/debug/jf_trace_set
count() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' $S/counts; }
bads() { awk '/^bad_/ && $2 != 0' $S/counts; }
seconds=3 rounds=2
[ -z "${JF_LONG:-}" ] || seconds=60 rounds=40

toggle()
{
	jf_end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $jf_end ]; do echo 10 >$S/toggle || return 1; done
}

# guests ROUNDS: the other module registers its probes; every other time it is unloaded without unregistering them
guests()
{
	jf_i=0 jf_called=0
	while [ $jf_i -lt "$1" ]; do
		jf_insmod jf_trace_set_guest leave=$((jf_i & 1)) || return
		sleep 0.2
		# shellcheck disable=SC2046 # two numbers
		set -- "$1" $(cat /sys/module/jf_trace_set_guest/parameters/calls)
		[ "$3" = 0 ] || { echo "$3 bad calls"; return 1; }
		jf_i=$((jf_i + 1)) jf_called=$((jf_called + $2))
		jf_rmmod jf_trace_set_guest || return
	done
	echo "$jf_called calls"
	[ "$jf_called" -gt 0 ]
}

jf_start "probes in batches"
jf_has jf_trace_set || jf_skip_all "no jf_trace_set.ko: build selftests/modules"

for b in ${JF_BACKEND:-$(jf_backends)}; do
	jf_load "backend=$b"
	check "$b: twenty tracepoints" jf_insmod jf_trace_set
	for c in refused exchange; do jf_cases jf_trace_set $c "$b: "; done
	for c in on off; do
		n=$(jf_stat sync_broadcasts) t=$(jf_stat batches)
		jf_cases jf_trace_set $c "$b: "
		n=$(($(jf_stat sync_broadcasts) - n)) t=$(($(jf_stat batches) - t))
		# One more before sites lead to what was written for them: INT3's protocol has it.
		want=$(jf_broadcasts)
		[ "$c" = off ] || jf_x86 || want=$((want + 1))
		case $b in
		auto|xmc) check_eq "$b: $c: one transaction, $want broadcast(s)" "$t $n" "1 $want" ;;
		indirect) check_eq "$b: $c: nothing is written" "$t $n" "0 0" ;;
		esac
	done

	# The kernel's protocol cannot do them together, and an emulator takes its time.
	[ "$b" != kernel ] || { check "$b: the tracepoints unload" jf_rmmod jf_trace_set; jf_unload; continue; }
	check "$b: callers on all CPUs" sh -c "echo 1 >$S/storm"
	check "$b: batches while all CPUs hit" toggle $seconds
	check_eq "$b: nothing was called in the wrong phase" "$(bads)" ""
	check "$b: enough of it" [ "$(count hits)" -gt 500 -a "$(count on)" -gt 100 -a "$(count toggles)" -ge 10 ]
	jf_run toggle 1000
	check "$b: another module's probes are registered and unregistered meanwhile" guests $rounds
	jf_stop_all
	check_eq "$b: nor then" "$(bads)" ""
	jf_count calls "$(count hits)"
	check "$b: the tracepoints are on" sh -c \
		"grep -q '^set_key .* on ' $JF/keys || echo 1 >$S/toggle"
	check "$b: ... while their module unloads" jf_rmmod jf_trace_set
	jf_images_back "$b: all images are given back"
	check "$b: the core unloads" jf_unload
done
jf_done
