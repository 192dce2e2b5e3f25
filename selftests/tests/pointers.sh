#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a machine of its own; promise.sh has each kernel's calls by pointers
# JF_VM=-a spectre_v2=off
# JF_TIMEOUT=120
# JF_ANY_BACKEND: which tasks are searched for is the same with each of them
# Calls by pointers on a kernel without retpolines: an instruction of two bytes, which names nothing that it calls.
# A task in a former target that returns to one may have come by a pointer to the trampoline: it is waited for.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/promise.sh"

jf_start "calls by pointers, without retpolines"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_promise || jf_skip_all "no jf_promise.ko: build selftests/modules"
grep -q Vulnerable /sys/devices/system/cpu/vulnerabilities/spectre_v2 2>/dev/null ||
	jf_skip_all "this kernel has retpolines all the same (spectre_v2=off)"

load ${JF_BACKEND:+"backend=$JF_BACKEND"}
for way in a_ptr a_tramp jump; do
	enters $way $way
	promise_do swap
	held "a former target, by $way"
	leaves "a former target, by $way"
	promise_do back
	promise_do quiesce
done
enters direct direct
promise_do swap
passed "beside a task in the same function, by its name"
check "direct: it is still there" at_least inside 1
promise_do open
jf_until 100 ended || true
promise_do back
promise_do quiesce
unload
jf_done
