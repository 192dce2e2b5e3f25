#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a machine of its own
# JF_VM=-a preempt=full
# JF_TIMEOUT=180
# JF_ANY_BACKEND: it has two of them
# Tasks that are preempted where no stack shows what they are about to use: a target in the tests of its
# branches, which stand after the last function of a section, and the caller of jf_key_dec_deferred() by
# a tail call, just before the work is queued.  Both are waited for.
#
# Seen to fail (6.1): with the back end indirect each of ten quiesces returned while the target was
# running, before a function's tests counted as its text; and the work's timer ran in freed memory, when
# jf_key_dec_deferred() was no read section.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "tasks that are preempted at a bad place"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
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
	check "$be: its module unloads" jf_rmmod jf_tests
	check "$be: jumpfunc unloads" jf_unload
done

# ---- a task that queues work late ----

jf_load
if jf_has jf_past_slow && jf_insmod jf_past_slow 2>/dev/null; then
	check "a module that queues work late" jf_insmod jf_past_defer
	sh -c 'printf past_writer >/proc/self/task/$$/comm 2>/dev/null || printf past_writer >/proc/$$/comm
		echo 1 >/sys/module/jf_past_defer/parameters/off' 2>/dev/null &
	writer=$!
	is_slow() { grep -q Y /sys/module/jf_past_slow/parameters/slow; }
	check "a task is about to" jf_until 50 is_slow
	check "it unloads" jf_rmmod jf_past_defer
	wait $writer
	# It is loaded again, at the same address, and the timer would be due.
	check "it loads again" jf_insmod jf_past_defer
	sleep 5
	check "... and unloads" jf_rmmod jf_past_defer
	jf_rmmod jf_past_slow
else
	skip "a module that queues work late" "no kprobes"
fi
jf_done
