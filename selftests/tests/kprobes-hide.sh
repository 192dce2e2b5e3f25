#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# JF_ARM64: a breakpoint hides the whole instruction there alone
# A kprobe stands on the jump by which code of a key leaves, in a function that has no site itself. A quiesce finds
# out where that jump leads, and is not early.
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/kernel/debug/jf_promise
T=$JF_TRACEFS

jf_start "kprobes that hide jumps"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_promise || jf_skip_all "no jf_promise.ko: build selftests/modules"
[ -w "$T/kprobe_events" ] || jf_skip_all "no kprobe events"

promise() { awk -v n="$1" '$1 == n {print $2}' $P/state; }
promise_do() { echo "$*" >$P/do; }
at_least() { [ "$(promise "$1")" -ge "$2" ]; }
ended() { [ "$(promise threads)" = 0 ]; }
# enters PLACE: a thread is there
enters()
{
	promise_do shut
	promise_do go "$1"
	jf_until 100 at_least inside 1 || fail "$1: the thread is there" "$(cat $P/state)"
}
unprobe()
{
	echo 0 >"$T/events/jfhide/enable"
	echo >"$T/kprobe_events"
} 2>/dev/null
# A function's name may have got a suffix.
symbol() { awk -v f="$1" '$4 == "[jf_promise]" && ($3 == f || index($3, f ".") == 1) && $3 !~ /cold/ {print $3}' /proc/kallsyms; }
# probe FUNCTION: on each of its instructions that takes one
probe()
{
	n=0 probes=0 step=$(if jf_x86; then echo 1; else echo 4; fi)
	# Once: an emulated CPU takes a second or two for all symbols.
	sym=$(symbol "$1")
	while [ $n -lt 100 ]; do
		echo "p:jfhide/at_$n jf_promise:$sym+$n" >>"$T/kprobe_events" && probes=$((probes + 1))
		n=$((n + step))
	done 2>/dev/null
	for e in "$T"/events/jfhide/*/enable; do
		echo 1 >"$e"
	done 2>/dev/null
	check "$1() has probes: $probes" [ $probes -ge 3 ]
}
listed() { wc -l </sys/kernel/debug/kprobes/list; }

jf_on_exit unprobe
jf_on_exit "echo open >$P/do"
jf_load ${JF_BACKEND:+"backend=$JF_BACKEND"}
jf_insmod jf_promise || jf_bail "jf_promise loads"

promise_do on chain
# No other key has left a task in what the jump leads to.
promise_do quiesce
probe chain_first
before=$(listed)
enters chain
promise_do off chain
promise_do quiesce 700 2>"$JF_TMP/err" || true
check_match "a task that came by a hidden jump is waited for" "$(cat "$JF_TMP/err")" 'timed out'
check "it is still inside" at_least inside 1
check_eq "no kprobe is left over" "$(listed)" "$before"
promise_do open
check "the quiesce ends when it has left" promise_do quiesce 20000
jf_until 100 ended || fail "the thread ends" "$(cat $P/state)"
unprobe

# A caller that jumped to a shared function for another reason is not waited for.
promise_do quiesce
probe jumps_to_shared
enters jump
promise_do swap
check "beside a task that came by another hidden jump a quiesce ends" promise_do quiesce 20000
check "it is still inside" at_least inside 1
promise_do open
jf_until 100 ended || fail "the thread ends" "$(cat $P/state)"
promise_do back
unprobe

promise_do stop
check "jf_promise unloads" jf_rmmod jf_promise
check "jumpfunc unloads" jf_unload
jf_done
