#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# Functions are retargeted while every CPU calls them, from threads and from interrupts.
. "$(dirname "$0")/lib.sh"

S=/sys/kernel/debug/jf_storm
result() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' $S/results; }

jf_start "retarget under concurrent callers on $(nproc) CPUs"
jf_has jf_storm || jf_skip_all "no jf_storm.ko: build selftests/modules"
jf_load
check "the callers start" jf_insmod jf_storm

# storm SECONDS: rounds of updates from inside the kernel
storm()
{
	jf_end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $jf_end ]; do
		echo 50 >$S/updates || return 1
	done
}

check "updates and batches go through" storm 15

# The same functions by name, through debugfs, with the demo functions beside them.
n=0
while [ $n -lt 60 ]; do
	t=$((n % 3))
	jf_write functions "storm_a=storm_$t storm_b=storm_$t func2=jf_func2_$t" >/dev/null || break
	[ "$(jf_call 2 | cut -d' ' -f1)" = $t ] || break
	n=$((n + 1))
done
check_eq "60 batches by name, each in force when the write returned" "$n" 60

note "$(cat $S/results)"
note "$(cat $JF/stats)"
for r in bad_value bad_updates bad_queries; do
	check_eq "$r" "$(result $r)" 0
done
# By name there are no phases: what ran late is judged before.
for r in calls irq_calls updates batches; do
	check_match "$r happened" "$(result $r)" '^[1-9]'
done
for t in 0 1 2; do
	check_match "target $t ran" "$(result target_$t)" '^[1-9]'
done
[ "$(jf_stat backend)" = indirect ] ||
	check_match "sites were patched" "$(jf_stat sites_patched)" '^[1-9]'
check "the callers stop" jf_rmmod jf_storm
jf_done
