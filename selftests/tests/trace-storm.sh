#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a storm; trace.sh has each step
# JF_TIMEOUT=240
# Probes are registered and unregistered while every CPU hits their tracepoints, from threads, interrupts and NMIs.
# JF_LONG=1 makes it five minutes, JF_LONG=N more than one N seconds.
. "$(dirname "$0")/../lib/lib.sh"

S=/sys/kernel/debug/jf_trace_storm

jf_start "probes change under callers on $(nproc) CPUs"
jf_has jf_trace_storm || jf_skip_all "no jf_trace_storm.ko: build selftests/modules"
jf_load
case ${JF_LONG:-0} in 0) seconds=12 ;; 1) seconds=300 ;; *) seconds=$JF_LONG ;; esac
check "the callers start" jf_insmod jf_trace_storm

storm()
{
	jf_begin=$(date +%s) jf_end=$(($(date +%s) + $1)) jf_said=$(date +%s)
	while [ "$(date +%s)" -lt $jf_end ]; do
		echo 50 >$S/run || return 1
		[ $(($(date +%s) - jf_said)) -lt 60 ] || {
			jf_said=$(date +%s)
			echo "# $((jf_said - jf_begin)) of $1 s, $(jf_stat trace_transitions) transitions" >&2
		}
	done
}
check "probes change for $seconds s" storm $seconds

# Reading the results ends the storm.
cat $S/results >"$JF_TMP/results"
result() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' "$JF_TMP/results"; }
note "$(cat "$JF_TMP/results")"
jf_count calls "$(result calls)"
note "$(grep -E '^(backend|int3|window|by_|trace_|images)' $JF/stats)"
for r in bad_data bad_late bad_args bad_lost bad_errors; do
	check_eq "$r" "$(result $r)" 0
done
nmi=hits_nmi
jf_x86 || { nmi=''; skip "hits_nmi happened" "no NMIs on this architecture"; }
for r in transitions quiesces hits_thread hits_irq $nmi calls to_0 to_1 to_2 to_more; do
	check_match "$r happened" "$(result $r)" '^[1-9]'
done
check "the callers stop, their module unloads" jf_rmmod jf_trace_storm
# With the last probe unregistered and a grace period over, nothing holds an image.
jf_images_back "all images are given back"
jf_done
