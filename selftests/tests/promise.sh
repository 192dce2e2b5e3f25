#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it goes through them itself
# JF_TIMEOUT=400
# What a quiesce promises. It is never early: it waits for each task that executes a target or a probe that was replaced,
# and for read sections of RCU in code after a branch. And it ends, whatever other tasks do: processes that flood the
# kernel with system calls under seccomp, return probes on busy functions, tasks that execute a former target
# for another reason, or what is in use elsewhere or again.
#
# Seen to fail with the code broken on purpose (6.1):
#   a quiesce includes no grace period of RCU	unlikely: the quiesce ends while the reader is inside
#   a target that is set again is searched for	nap, set again: the quiesce does not end
#   so is what another function leads to	in use: share swap
#   so is a probe that another tracepoint has	two, void, one
#   an address in any register counts		hold: the quiesce does not end
#   a caller's own target is forgotten		self: a quiesce ends while the task is inside
#   no tracer is looked for that a target jumps to (7.2)	a tracer: the quiesce ends while the task is inside
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/promise.sh"

T=$JF_TRACEFS

jf_start "a quiesce is never early, and ends"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_promise || jf_skip_all "no jf_promise.ko: build selftests/modules"

# ---- code after branches ----

quiesced() { [ "$(promise quiesces)" -gt "$n" ]; }
# reader WHAT PLACE CHANGE UNDO: a task is in a read section in code that a branch led to, when that changes
reader()
{
	what="$b, $1"
	promise_do quiesce
	jf_until 200 all_called || fail "$what: the callbacks before this one" "$(cat $P/state)"
	n=$(promise quiesces) c=$(promise called)
	enters "$what" "$2"
	check "$what: the key changes" promise_do "$3"
	promise_do ask
	promise_do quiesce &
	pid=$!
	sleep 1
	check_fails "$what: a quiesce waits" quiesced
	check_eq "$what: a callback is not called before" "$(promise called)" "$c"
	check "$what: the reader is still inside" at_least inside 1
	promise_do open
	check "$what: the quiesce ends" wait $pid
	check_eq "$what: the reader had left by then" "$(promise left_inside)" 0
	check "$what: the callback is called" jf_until 200 all_called
	jf_until 100 ended || fail "$what: the thread ends" "$(cat $P/state)"
	check "$what: it changes back" promise_do "$4"
}

for b in ${JF_BACKEND:-auto indirect}; do
	load "backend=$b"
	promise_do on off
	reader "unlikely, rcu_read_lock()" off "off off" "on off"
	promise_do off on
	reader "likely, the other side, preemption off" else "on on" "off on"
	promise_do probe 1

	# A task that is in such code, and in no read section, does not count.
	promise_do on asleep
	enters "$b, asleep" asleep
	promise_do off asleep
	passed "$b: beside a task that sleeps after a branch"
	check "$b: it is still there" at_least inside 1
	promise_do open
	promise_do go loop
	jf_until 100 at_least rounds 1 || fail "$b: the thread is at work" "$(cat $P/state)"
	promise_do on loop
	passed "$b: beside a main loop with sites, on"
	promise_do off loop
	promise_do probe 0
	passed "$b: beside a main loop with sites, off"
	unload
done

# ---- functions that unrelated callers execute as well ----

preempt=/sys/kernel/debug/sched/preempt
mode=$(sed -n 's/.*(\(.*\)).*/\1/p' $preempt 2>/dev/null) || true
# Where the kernel can change that.
jf_mode()
{
	[ -z "$mode" ] || echo "$1" >$preempt
} 2>/dev/null
[ -z "$mode" ] || jf_on_exit "echo $mode >$preempt"

for b in ${JF_BACKEND:-auto indirect}; do
	load "backend=$b"
	for way in a a_tramp a_ptr a_jump jump; do
		enters "$b, $way" $way
		promise_do swap
		held "$b, a former target, by $way"
		n=$(promise called)
		promise_do ask
		sleep 0.5
		check_eq "$b, a former target, by $way: a callback is not called before" "$(promise called)" "$n"
		leaves "$b, a former target, by $way"
		promise_do back
		promise_do quiesce
	done
	enters "$b, direct" direct
	promise_do swap
	passed "$b: beside a task in the same function, by its name"
	check "$b, direct: it is still there" at_least inside 1
	promise_do open
	jf_until 100 ended || true
	promise_do back
	promise_do quiesce
	# What another one leads to is in use, whichever of the two changed first, and whichever way a task came.
	for way in a a_ptr jump; do
		for order in "share swap" "swap share"; do
			promise_do share
			enters "$b, in use, $way" $way
			case $order in swap*) promise_do part ;; esac
			for what in $order; do promise_do "$what"; done
			passed "$b: beside a task in what another function leads to, by $way, $order"
			check "$b, in use, $way: it is still there" at_least inside 1
			promise_do open
			jf_until 100 ended || true
			promise_do back
			promise_do part
			promise_do quiesce
		done
	done
	# Set again, it is in use: a task that stays there does not delay a quiesce, and neither does a main loop.
	enters "$b, set again" a
	promise_do swap
	held "$b, replaced"
	promise_do back
	passed "$b: a target that was replaced, and set again"
	check "$b, set again: the task is still there" at_least inside 1
	promise_do swap
	held "$b, replaced once more"
	leaves "$b, replaced once more"
	promise_do back
	for place in nap nap_tramp nap_ptr; do
		promise_do go $place
		jf_until 100 at_least rounds 1 || fail "$b, $place: the thread is at work" "$(cat $P/state)"
		promise_do nod
		sleep 0.1
		promise_do nap
		passed "$b: beside a main loop in what was set again, $place"
		promise_do stop
		promise_do quiesce
	done
	enters "$b, nest" nest
	promise_do flat
	promise_do nest
	passed "$b: beside a task in a target that has itself called again, set again"
	check "$b, nest: it is still there" at_least inside 1
	promise_do open
	jf_until 100 ended || true
	enters "$b, again" again
	promise_do once 1
	passed "$b: beside a recursion by another dynamic function"
	promise_do open
	jf_until 100 ended || true
	promise_do once 0
	# A task that quiesces inside of its own former target is not waited for by itself, but by all others.
	enters "$b, self" self
	held "$b, a task that has waited for all others in its target"
	leaves "$b, a task that has waited for all others in its target"
	promise_do self
	promise_do quiesce
	# A probe is in use as long as a tracepoint has it, with whatever data, alone or one of several, or a function leads there.
	for n in 1 2 3 4; do
		promise_do two $n
		# The iterator counts as replaced with each change: not after this.
		promise_do quiesce
		promise_do go two
		jf_until 100 at_least rounds 1 || fail "$b, two: the thread is at work" "$(cat $P/state)"
		promise_do one 3
		promise_do one 0
		passed "$b: beside a main loop in a probe that another tracepoint has, with $n"
		promise_do stop
		promise_do two 0
		promise_do quiesce
	done
	promise_do void 1
	promise_do go void
	jf_until 100 at_least rounds 1 || fail "$b, void: the thread is at work" "$(cat $P/state)"
	promise_do one 3
	promise_do one 0
	passed "$b: beside a main loop in a probe that a dynamic function leads to"
	promise_do stop
	promise_do one 1
	promise_do go one
	jf_until 100 at_least rounds 1 || fail "$b, one: the thread is at work" "$(cat $P/state)"
	promise_do void 0
	passed "$b: beside a main loop in a former target that is a probe"
	promise_do stop
	promise_do one 0
	promise_do quiesce
	# A thread that only knows where it begins, and is interrupted at work: that takes a kernel that preempts itself.
	if jf_x86; then
		jf_mode full
		promise_do go hold
		jf_until 100 at_least rounds 1 || fail "$b, hold: the thread is at work" "$(cat $P/state)"
		promise_do swap
		passed "$b: beside a thread that has a former target's address in a register"
		promise_do stop
		promise_do back
		promise_do quiesce
		jf_mode "$mode"
	else
		skip "$b: beside a thread that has a former target's address in a register" "any register counts here"
	fi
	# A function of the kernel: any thread may be in there.
	enters "$b, msleep()" doze
	promise_do awake
	held "$b, a former target that is the kernel's"
	jf_until 300 ended || true
	promise_do doze
	promise_do go msleep
	promise_do awake
	passed "$b: beside threads in msleep()"
	promise_do doze
	unload
done

# ---- a former target whose first instruction jumps to a tracer ----

for b in ${JF_BACKEND:-auto indirect}; do
	load "backend=$b"
	if ! promise_do trace 1 2>/dev/null; then
		skip "$b: a task in a tracer that a former target jumps to" "no such tracers in this kernel"
		unload
		continue
	fi
	enters "$b, a tracer" traced
	promise_do drop
	held "$b, a task in a tracer that a former target jumps to"
	leaves "$b, a task in a tracer that a former target jumps to"
	promise_do take
	promise_do quiesce
	enters "$b, a tracer, by name" traced_direct
	promise_do drop
	passed "$b: beside a task in the tracer of the same function, by its name"
	check "$b, a tracer, by name: it is still there" at_least inside 1
	promise_do open
	jf_until 100 ended || true
	promise_do take
	promise_do quiesce
	# The function jumps there no more, and the task still goes on to it.
	enters "$b, a former tracer" traced
	promise_do trace 0
	promise_do drop
	held "$b, a task in a former tracer"
	leaves "$b, a task in a former tracer"
	unload
done

# ---- a probe on the call of a former target ----

# A function's name may have got a suffix.
unprobe()
{
	echo 0 >$T/events/jfpromise/enable
	echo >$T/kprobe_events
} 2>/dev/null
if jf_x86 && [ -w $T/kprobe_events ]; then
	jf_on_exit unprobe
	load ${JF_BACKEND:+"backend=$JF_BACKEND"}
	sym=$(awk '$4 == "[jf_promise]" && ($3 == "place_direct" || index($3, "place_direct.") == 1) {print $3}' \
		/proc/kallsyms)
	n=0 probes=0
	while [ $n -lt 40 ]; do
		echo "p:jfpromise/direct_$n jf_promise:$sym+$n" >>$T/kprobe_events && probes=$((probes + 1))
		n=$((n + 1))
	done 2>/dev/null
	for e in "$T"/events/jfpromise/*/enable; do
		echo 1 >"$e"
	done 2>/dev/null
	check "the caller has probes: $probes" [ $probes -ge 3 ]
	enters "by a function with probes" direct
	promise_do swap
	passed "beside a task in the same function, by one with probes"
	check "by a function with probes: it is still there" at_least inside 1
	promise_do open
	jf_until 100 ended || true
	unprobe
	unload
else
	skip "a probe on the call of a former target" "no kprobe events"
fi

# ---- what cannot be unwound ----

load ${JF_BACKEND:+"backend=$JF_BACKEND"}
# So there is something to scan for.
promise_do swap
flood()
{
	"$@" >"$JF_TMP/flood" 2>&1 &
	flood_pid=$!
	JF_PIDS="$JF_PIDS $flood_pid"
	sleep 2
}
beside_flood()
{
	for i in 1 2 3; do
		promise_do back
		promise_do swap
		passed "$1, $i"
	done
}
if jf_tool seccomp_flood; then
	flood seccomp_flood 600 3
	beside_flood "beside three processes under seccomp"
	kill $flood_pid && wait $flood_pid || true
	flood seccomp_flood 600 200 2
	beside_flood "beside two hundred processes under seccomp"
	check "rmmod ends beside them" jf_rmmod jf_promise
	kill $flood_pid && wait $flood_pid || true
	check "jf_promise loads again" jf_insmod jf_promise
else
	skip "beside processes under seccomp" "no seccomp_flood"
fi

untrace()
{
	echo 0 >$T/events/jfpromise/enable
	echo >$T/kprobe_events
} 2>/dev/null
ungraph()
{
	echo nop >$T/current_tracer
	echo >$T/set_ftrace_filter
} 2>/dev/null
if [ -w $T/kprobe_events ] && echo r:jfpromise/read vfs_read >$T/kprobe_events; then
	jf_on_exit untrace
	echo 1 >$T/events/jfpromise/enable
	for i in 1 2 3; do
		dd if=/dev/zero of=/dev/null bs=32M 2>/dev/null &
		JF_PIDS="$JF_PIDS $!"
	done
	sleep 1
	beside_flood "beside readers with a probe at vfs_read()'s return"
	# Of such a task that runs, the unwinder cannot be asked then: its words have to do.
	if grep -qw function_graph $T/available_tracers && echo ksys_read >$T/set_ftrace_filter; then
		jf_on_exit ungraph
		echo function_graph >$T/current_tracer
		beside_flood "beside readers with a probe and in a graph of functions"
		ungraph
	else
		skip "beside readers in a graph of functions" "no function_graph"
	fi
	promise_do back
	enters "a probe at vfs_read()'s return" a
	# The scan still finds a task that is inside.
	promise_do swap
	held "beside readers, a former target"
	leaves "beside readers, a former target"
	untrace

	# A task whose own function has such a probe, asleep and at work.
	promise_do back
	promise_do quiesce
	for spin in 0 1; do
		promise_do spin $spin
		how=$([ $spin = 1 ] && echo 'at work' || echo asleep)
		for way in a a_jump jump direct; do
			# Nothing tells there what the function returns to.
			case $way,$(uname -r) in
			a* | jump*) ;;
			*,5.[0-9].* | *,5.10.*)
				skip "a probe at the return, beside a task by $way, $how" \
					"what return probes keep cannot be read in this kernel"
				continue
				;;
			esac
			promise_do back
			promise_do quiesce
			echo r:jfpromise/shared jf_promise:shared >$T/kprobe_events
			echo 1 >$T/events/jfpromise/enable
			enters "a probe at the return, $way" $way
			promise_do swap
			case $way in
			a* | jump)
				held "a probe at the return, $way, $how"
				leaves "a probe at the return, $way, $how"
				;;
			*)
				passed "a probe at the return, beside a task by $way, $how"
				check "a probe at the return, $way, $how: it is still there" at_least inside 1
				promise_do open
				jf_until 100 ended || true
				;;
			esac
			untrace
		done
	done

	# A task elsewhere: the words on its stack say nothing, if the unwinder is told what the probe has taken.
	for spin in 0 1; do
		how=$([ $spin = 1 ] && echo 'at work' || echo asleep)
		case $(uname -r) in
		5.[0-9].* | 5.10.*)
			skip "a probe at a return, beside leftover words, $how" \
				"what return probes keep cannot be read in this kernel"
			continue
			;;
		esac
		promise_do spin $spin
		promise_do back
		promise_do quiesce
		echo r:jfpromise/below jf_promise:below_words >$T/kprobe_events
		echo 1 >$T/events/jfpromise/enable
		enters "a probe at a return, leftover words" words
		promise_do swap
		passed "a probe at a return, beside leftover words, $how"
		check "a probe at a return, beside leftover words, $how: the task is still there" at_least inside 1
		promise_do open
		jf_until 100 ended || true
		untrace
	done
	promise_do spin 0
else
	skip "beside readers with a probe at vfs_read()'s return" "no kprobe events"
fi
jf_stop_all
unload
jf_done
