#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a storm; branch-modules.sh and branch-trace.sh have each step
# JF_TIMEOUT=300
# Keys change while every CPU runs their branches, in threads and timer interrupts, from sites at
# every offset in a cache line and across the ends of pages; and all CPUs count keys up and down.
# JF_LONG=1 makes it two minutes instead of some seconds.
#
# Seen to fail with the code broken on purpose:
#   jf_key_inc() reading the count before it has the lock	bad_user, bad_op, bad_rest
#   jf_write_live(), tails written after the first bytes	the kernel oopses
#   jf_write_live() without the first bytes		bytes, bad_places, toggles
#   jf_pages(), wrong page for a site across two	the callers do not even load
# Not seen, and not wrong: an INT3 handler that takes the old way while a change runs.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/branch.sh"

S=/sys/kernel/debug/jf_keystorm
result() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' $S/results; }
seconds=3
[ -z "${JF_LONG:-}" ] || seconds=60

# storm SECONDS: rounds of toggles from inside the kernel
storm()
{
	jf_end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $jf_end ]; do
		echo 20 >$S/toggle || return 1
	done
}

jf_start "jump labels: storms on $(nproc) CPUs"
jf_has jf_keystorm || jf_skip_all "no jf_keystorm.ko: build selftests/modules"
jf_load
check "the callers start" jf_insmod jf_keystorm
check_eq "sites at each offset in a line, and across page ends" "$(result places)" 73
check_eq "they are where they should be" "$(result bad_places)" 0
check_bytes "bytes of all sites with the key off"
echo 1 >$S/toggle
check_bytes "bytes of all sites with the key on"
check "toggling succeeds" storm $seconds
check_bytes "bytes of all sites after the storm"

check "counting starts on all CPUs" sh -c "echo 1 >$S/run"
check "toggling and counting" storm $seconds
check "counting stops, keys are as they should be" sh -c "echo 0 >$S/run"
note "$(grep -E '^(count_key|fight_key|storm_key)' $JF/keys)"
check_bytes "bytes say what the counts say"
for i in 0 1 2 3 4 5; do
	check_match "keys: state and count of count_key[$i] agree" "$(grep "^count_key\[$i\]" $JF/keys)" \
		' (on [1-9][0-9]*|off 0) [0-9]+ [0-9]+$'
done
check "the users left are taken away" sh -c "echo 2 >$S/run"
check_eq "no key has a user" "$(grep -c '^count_key.* off 0 ' $JF/keys)" 6
check_bytes "bytes at the end"

note "$(cat $S/results)"
note "$(cat $JF/stats)"
jf_count calls "$(result calls)" "$(result irq_calls)"
for r in bad_phase bad_user bad_op bad_toggles bad_rest bad_places; do
	check_eq "$r" "$(result $r)" 0
done
for r in calls irq_calls on off toggles ops; do
	check_match "$r happened" "$(result $r)" '^[1-9]'
done
if [ "$(nproc)" -gt 1 ]; then
	check_match "shared happened" "$(result shared)" '^[1-9]'
else
	skip "shared happened" "one CPU"
fi
check "the callers stop" jf_rmmod jf_keystorm
jf_done
