#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a machine of its own
# JF_VM=-a preempt=full
# JF_TIMEOUT=180
# JF_ANY_BACKEND: it has two of them
# A target that is preempted in the tests of its branches, which stand behind the last function of a
# section, is waited for.
#
# Seen to fail (6.1, back end indirect) before a function's tests counted as its text: each of ten
# quiesces returned while the target was running.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "tests that stand elsewhere"
jf_patching || jf_skip_all "stacks are looked at on x86 alone"
jf_has jf_tests || jf_skip_all "no jf_tests.ko: build selftests/modules"
full() { grep -q '(full)' /sys/kernel/debug/sched/preempt 2>/dev/null || [ "$(cat /sys/kernel/realtime 2>/dev/null)" = 1 ]; }
full || jf_skip_all "this kernel does not preempt itself everywhere (preempt=full)"

rounds=5
run() { echo $rounds >/sys/module/jf_tests/parameters/run; }
for be in auto indirect; do
	jf_load backend=$be
	check "$be: a target that is mostly in its tests" jf_insmod jf_tests
	check "$be: it is replaced $rounds times" run
	check_match "$be: it is waited for" "$(dmesg | grep 'jf_tests: ' | tail -n 1)" ": 0 of $rounds returned early"
	check "$be: its module goes" jf_rmmod jf_tests
	check "$be: jumpfunc goes" jf_unload
done
jf_done
