#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# JF_TIMEOUT=300
# Functions are retargeted while every CPU calls them, from threads and from interrupts: with each
# back end in turn (or the one that JF_BACKEND names).  JF_LONG=1: a minute of each.
. "$(dirname "$0")/../lib/lib.sh"

S=/sys/kernel/debug/jf_storm
result() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' $S/results; }

# storm SECONDS: rounds of updates and batches from inside the kernel
storm()
{
	jf_end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $jf_end ]; do
		echo 20 >$S/updates || return 1
	done
}

seconds=3
[ "${JF_LONG:-0}" = 0 ] || seconds=60

jf_start "retarget under concurrent callers on $(nproc) CPUs"
jf_has jf_storm || jf_bail "jf_storm.ko is there" "build selftests/modules"

for b in ${JF_BACKEND:-xmc kernel auto indirect}; do
	if ! jf_insmod jumpfunc backend=$b 2>"$JF_TMP/err"; then
		if [ $b = kernel ] && jf_log | tail -n 3 | grep -q 'jumpfunc: .*kernel'; then
			skip "$b: storm" "this kernel does not offer its protocol: $(jf_log | tail -n 1)"
			continue
		fi
		jf_bail "$b: loads" "$(cat "$JF_TMP/err")"
	fi
	check "$b: the callers start" jf_insmod jf_storm
	check "$b: updates and batches go through" storm $seconds

	# The same functions by name, through debugfs, with a demo function beside them.
	n=0
	while [ $n -lt 6 ]; do
		t=$((n % 3))
		c=storm_$t; [ $t != 2 ] || c=none
		jf_write functions "storm_a=storm_$t storm_b=storm_$t storm_c=$c func2=jf_func2_$t" || break
		[ "$(jf_call 2 | cut -d' ' -f1)" = $t ] || break
		n=$((n + 1))
	done >"$JF_TMP/byname" 2>&1
	check_eq "$b: 6 batches by name, each in force when the write returned" "$n" 6
	[ $n = 6 ] || note "$(cat "$JF_TMP/byname")"

	note "$b: $(tr '\n' ' ' <$S/results)"
	note "$b: $(tr '\n' ' ' <$JF/stats)"
	jf_count calls "$(result calls)" "$(result irq_calls)"
	check_eq "$b: every result was that of a target with all its arguments" "$(result bad_value)" 0
	check_eq "$b: no call reached an old target after the update had returned" "$(result bad_target)" 0
	check_eq "$b: no update failed" "$(result bad_updates)" 0
	check_eq "$b: queries told the new target" "$(result bad_queries)" 0
	for r in calls irq_calls updates batches target_0 target_1 target_2; do
		check_match "$b: $r happened" "$(result $r)" '^[1-9]'
	done
	if [ $b = indirect ]; then
		check_eq "$b: no text was patched" "$(jf_stat sites_patched)" 0
	else
		check_match "$b: sites were patched" "$(jf_stat sites_patched)" '^[1-9]'
	fi
	check "$b: the callers stop" jf_rmmod jf_storm
	check "$b: unloads" jf_rmmod jumpfunc
done
jf_done
