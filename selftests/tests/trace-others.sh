#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Probes of one module with data of another one, which is unloaded: tasks inside the probe are waited for, and a
# probe that it did not unregister is removed.  And probes that are registered and unregistered in work of a queue
# with a rescuer, until the images are used up; and in a probe that is called by one of them.
#
# Seen to fail (6.1): rmmod returned while the probe slept, and a probe that was left stayed registered;
# the kernel warned that a queue with a rescuer waits for one without; and when the updater itself freed the
# images, it returned from the probe into what another chain was by then.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "probes with data of others"
jf_has jf_trace_lend || jf_skip_all "no jf_trace_lend.ko: build selftests/modules"
jf_load
lend() { dmesg | grep -c "jf_trace_lend: $1"; }
inside() { [ "$(lend inside)" -gt "$n" ]; }

check "a module with a tracepoint and a probe" jf_insmod jf_trace_lend
unloads()
{
	what=unregisters
	[ $1 = 0 ] || what=forgets
	check "$what: one that registers it with data of its own" jf_insmod jf_trace_borrow forgets=$1
	n=$(lend inside)
	echo 1 >/sys/module/jf_trace_lend/parameters/hit &
	writer=$!
	check "$what: a task is in the probe" jf_until 50 inside
	check "$what: it unloads" jf_rmmod jf_trace_borrow
	check_eq "$what: ... when the probe is over" "$(lend 'its data is')" "$(lend inside)"
	wait $writer
	n=$(lend inside)
	echo 1 >/sys/module/jf_trace_lend/parameters/hit
	check_eq "$what: the probe is not called any more" "$(lend inside)" "$n"
}
if jf_scanning; then
	unloads 0
	unloads 1
else
	# A probe that sleeps there has to say so.
	skip "a module whose data a probe has unloads" "no stack is scanned here"
fi
rounds() { echo 400 >/sys/module/jf_trace_lend/parameters/rounds; }
check "probes change in work of a queue with a rescuer" rounds
rounds_inside() { echo 400 >/sys/module/jf_trace_lend/parameters/rounds_inside; }
check "a probe in a chain changes the chain's probes" rounds_inside
check_match "... which stays as it was until the probe has returned" "$(dmesg | grep 'jf_trace_lend: chain:')" ': 1 calls$'
check "the module unloads" jf_rmmod jf_trace_lend
jf_done
