#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: which tasks are searched for, and how, is the same with each of them
# JF_TIMEOUT=200
# Code that a key led to, and leads to again, and targets that were replaced, and set again: a task that has been
# there all the time is waited for; a main loop that sleeps there again and again is not, once it has left.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/promise.sh"

jf_start "a quiesce beside code that is led to again"
# Tasks that sleep where they are led to again are watched by x86/watch.c.
jf_x86 || jf_skip_all "no task is watched but on x86"
jf_has jf_promise || jf_skip_all "no jf_promise.ko: build selftests/modules"
load ${JF_BACKEND:+"backend=$JF_BACKEND"}

# works WHAT PLACE: a thread's main loop is there
works()
{
	promise_do go "$2"
	jf_until 100 at_least rounds 1 || fail "$1: the thread is at work" "$(cat $P/state)"
}

# ---- main loops ----

for place in way_loop way_call; do
	works "$place" $place
	i=0
	while [ $i -lt 3 ]; do
		promise_do on way
		sleep 0.1
		promise_do off way
		sleep 0.1
		i=$((i + 1))
	done
	passed "$place, off again"
	promise_do on way
	promise_do off way
	promise_do on way
	passed "$place, on again"
	promise_do off way
	promise_do stop
	promise_do quiesce
done

for place in nap nap_tramp nap_ptr; do
	works "$place" $place
	promise_do nod
	sleep 0.1
	promise_do nap
	passed "$place, set again"
	promise_do stop
	promise_do quiesce
done

# ---- tasks that have been there all the time ----

# stays WHAT: a task is inside, and however long a quiesce waits, it is not taken for one that has left
stays()
{
	promise_do quiesce 3000 2>"$JF_TMP/stays" || true
	check_match "$1: a quiesce waits for 3 s, and says so" "$(cat "$JF_TMP/stays")" 'timed out'
	check "$1: the task is still inside" at_least inside 1
	leaves "$1"
}

promise_do on deep
enters deep deep
promise_do off deep
promise_do on deep
stays "deep, on again"
promise_do off deep
promise_do quiesce

promise_do on deep
enters stay_loop stay_loop
promise_do off deep
promise_do on deep
promise_do quiesce 3000 2>"$JF_TMP/stays" || true
check_match "stay_loop, on again: a quiesce waits for 3 s, and says so" "$(cat "$JF_TMP/stays")" 'timed out'
promise_do off deep
leaves "stay_loop"

enters nest nest
promise_do flat
promise_do nest
stays "nest, set again"
promise_do quiesce
# ---- many ways on one stack ----

enters hub hub
promise_do unhub
passed "nine functions that jump to a former target, on one stack"
check "hub: the task is still inside" at_least inside 1
promise_do open
jf_until 100 ended || true
promise_do hub
promise_do quiesce
for place in hub_changed hub_jump; do
	enters $place $place
	promise_do unhub
	held "the same, and the first one came by what was changed, $place"
	leaves "the same, $place"
	promise_do hub
	promise_do quiesce
done

# ---- a tool's probe where a quiesce sets its own ----

optimise=/proc/sys/debug/kprobes-optimization
reset()
{
	echo 1 >$optimise
	echo 0 >$JF_TRACEFS/events/jfpromise/enable
	echo >$JF_TRACEFS/kprobe_events
} 2>/dev/null
# promise_symbol NAME: as the compiler has left it
promise_symbol()
{
	awk -v n="$1" '$4 == "[jf_promise]" && ($3 == n || index($3, n ".") == 1) {print $3}' /proc/kallsyms
}
goes_on()
{
	was=$(promise rounds)
	jf_until 100 at_least rounds $((was + 2))
}
if [ -w $JF_TRACEFS/kprobe_events ]; then
	jf_on_exit reset
	works way_call way_call
	echo "p:jfpromise/begin jf_promise:$(promise_symbol one_way)" >$JF_TRACEFS/kprobe_events
	echo 1 >$JF_TRACEFS/events/jfpromise/enable
	promise_do on way
	promise_do off way
	promise_do on way
	passed "way_call, on again, with a tool's probe where it begins"
	# Of the two the tool's is the last to go.
	reset
	check "way_call: the thread goes on without the probe" goes_on
	promise_do off way
	promise_do stop
	promise_do quiesce
else
	skip "a tool's probe where a function begins" "no kprobe events"
fi

# ---- a jump by a pointer, after a probe ----

if [ -w $JF_TRACEFS/kprobe_events ] && [ -w $optimise ]; then
	jf_on_exit reset
	echo 0 >$optimise
	echo "p:jfpromise/either jf_promise:$(promise_symbol jumps_either)+5" >$JF_TRACEFS/kprobe_events
	echo 1 >$JF_TRACEFS/events/jfpromise/enable
	enters either either
	promise_do swap
	held "a former target, by a function with a probe that jumps there by name or by a pointer"
	leaves "a former target, by a function with a probe that jumps there by name or by a pointer"
	promise_do back
	promise_do quiesce
	reset
else
	skip "a jump by a pointer, after a probe" "no kprobe events"
fi
check "no probe of a quiesce is left" sh -c "! grep -q jf_promise /sys/kernel/debug/kprobes/list"

unload
jf_done
