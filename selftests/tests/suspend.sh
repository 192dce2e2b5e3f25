#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: nothing depends on it
# JF_TIMEOUT=120
# The machine can be suspended while rmmod, and a task in jf_quiesce(), wait for a task that sleeps in a target: they are
# frozen with the others, and go on. The kernel tests as much of it as freezing tasks.
#
# Seen to fail (6.1) with waits that cannot be frozen: "Freezing of tasks failed".
. "$(dirname "$0")/../lib/lib.sh"

pm=/sys/power/pm_test
suspends() { echo freeze >/sys/power/state; }

jf_start "suspending the machine while something waits"
jf_has jf_asleep || jf_skip_all "no jf_asleep.ko: build selftests/modules"
[ -w $pm ] || jf_skip_all "the kernel cannot test suspending: no $pm (CONFIG_PM_DEBUG)"
jf_scanning || jf_skip_all "$JF_NO_SCAN"

jf_load
check "a thread sleeps in a target" jf_insmod jf_asleep
jf_on_exit "echo none >$pm; echo 0 >/sys/module/jf_asleep/parameters/hold"
echo freezer >$pm
check "the machine can be suspended" suspends
rmmod jf_asleep &
unloading() { grep -q '^jf_asleep .* Unloading' /proc/modules; }
check "its module is being unloaded" jf_until 100 unloading
jf_unloaded jf_asleep
# It has begun to wait by then.
sleep 2
check "the machine can be suspended meanwhile" suspends
check "... and the module is still waited for" unloading
# The notifier waits for ten seconds. Then the kernel frees the module, and the wait is elsewhere.
sleep 12
check "the machine can be suspended later, too" suspends
check "... and the module is still waited for later" unloading
echo 0 >/sys/module/jf_asleep/parameters/hold
wait
gone() { ! grep -q '^jf_asleep ' /proc/modules; }
check "it is gone when the thread has left" gone
jf_done
