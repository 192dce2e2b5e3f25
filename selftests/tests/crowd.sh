#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A quiesce finds out what a key led to in each function that has a site of it. There may be thousands of
# these; meanwhile other tasks can change values.
. "$(dirname "$0")/../lib/lib.sh"

C=/sys/kernel/debug/jf_crowd

jf_start "thousands of functions with sites of one key"
jf_patching || jf_skip_all "stacks are read on x86 alone"
jf_has jf_crowd || jf_skip_all "no jf_crowd.ko: build selftests/modules"

crowd() { awk -v n="$1" '$1 == n {print $2}' $C/state; }
# In ms; a machine that is emulated has more.
limit=$((500 * ${JF_SLOW:-1}))

jf_load ${JF_BACKEND:+"backend=$JF_BACKEND"}
jf_insmod jf_crowd || jf_bail "jf_crowd loads"
for i in 1 2; do
	check "a quiesce ends, $i" sh -c "echo quiesce >$C/do"
	note "the quiesce took $(crowd quiesce_ms) ms, the longest change beside it $(crowd change_ms) ms"
	if [ "$(crowd change_ms)" -le $limit ]; then
		pass "other tasks can change values meanwhile, $i"
	else
		fail "other tasks can change values meanwhile, $i" "one took $(crowd change_ms) ms, more than $limit"
	fi
done
check "jf_crowd unloads" jf_rmmod jf_crowd
jf_unload || jf_bail "jumpfunc unloads"
jf_done
