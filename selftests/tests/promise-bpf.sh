#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_VM=--with bpftrace
# JF_TIMEOUT=120
# A former target that is a function of the kernel, with a BPF program at its end: the program's trampoline is on
# the stack of each task in there. Only a task that entered through what changed counts.
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/kernel/debug/jf_promise

jf_start "a quiesce beside a BPF program at the end of a former target"
jf_patching || jf_skip_all "stacks are read on x86 alone"
jf_has jf_promise || jf_skip_all "no jf_promise.ko: build selftests/modules"
command -v bpftrace >/dev/null || jf_skip_all "no bpftrace"

promise() { awk -v n="$1" '$1 == n {print $2}' $P/state; }
promise_do() { echo "$*" >$P/do; }
at_least() { [ "$(promise "$1")" -ge "$2" ]; }
ended() { [ "$(promise threads)" = 0 ]; }
limit=$((2000 * ${JF_SLOW:-1}))

bpftrace -e 'kretfunc:msleep { @[comm] = count(); }' >"$JF_TMP/bpf" 2>&1 &
JF_PIDS="$JF_PIDS $!"
if ! jf_until 600 grep -q Attaching "$JF_TMP/bpf" || ! sleep 3 || ! kill -0 $!; then
	jf_stop_all
	jf_skip_all "bpftrace: $(tail -n 1 "$JF_TMP/bpf")"
fi
jf_load ${JF_BACKEND:+"backend=$JF_BACKEND"}
jf_insmod jf_promise || jf_bail "jf_promise loads"

promise_do go msleep
sleep 1
promise_do awake
check "a quiesce ends beside a thread in msleep()" promise_do quiesce $limit
note "after $(promise quiesce_ms) ms"
promise_do stop
promise_do doze
promise_do quiesce
promise_do go doze
jf_until 100 at_least inside 1 || fail "the thread is there" "$(cat $P/state)"
sleep 1
promise_do awake
promise_do quiesce 500 2>"$JF_TMP/now" || true
check_match "a task that entered through the dynamic function is waited for" "$(cat "$JF_TMP/now")" 'timed out'
promise_do stop
jf_until 400 ended || fail "the thread ends" "$(cat $P/state)"
jf_stop_all
if ! jf_rmmod jf_promise || ! jf_unload; then jf_bail "the modules unload"; fi
jf_done
