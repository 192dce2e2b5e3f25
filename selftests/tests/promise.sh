#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it goes through them itself
# JF_TIMEOUT=400
# What a quiesce promises. It is never early: it waits for each task that went through a branch, a dynamic
# function or a tracepoint before that changed. And it ends, whatever other tasks do: processes that flood the
# kernel with system calls under seccomp, return probes on busy functions, tasks that execute a former target
# for another reason.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/promise.sh"

T=$JF_TRACEFS

jf_start "a quiesce is never early, and ends"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_promise || jf_skip_all "no jf_promise.ko: build selftests/modules"

# ---- branches ----

# branch WHAT PLACE CHANGE UNDO [SPIN...]: a task is in code that only the branch leads to, when that changes
branch()
{
	for spin in ${5:-0}; do
		what="$b, $1, $([ $spin = 1 ] && echo 'at work' || echo asleep)"
		promise_do spin $spin
		enters "$what" "$2"
		check "$what: the key changes" promise_do "$3"
		held "$what"
		jf_until 200 all_called || fail "$what: the callbacks before this one" "$(cat $P/state)"
		n=$(promise called)
		promise_do ask
		sleep 0.5
		check_eq "$what: a callback is not called before" "$(promise called)" "$n"
		leaves "$what"
		check "$what: it changes back" promise_do "$4"
	done
	promise_do spin 0
}

for b in ${JF_BACKEND:-auto indirect}; do
	load "backend=$b"
	promise_do on off
	branch "unlikely" off "off off" "on off" "0 1"
	promise_do off on
	branch "likely, the other side" else "on on" "off on"
	promise_do on part
	branch "a part that the compiler split off" part "off part" "on part"
	promise_do on tail
	branch "a last call" tail "off tail" "on tail" "0 1"
	branch "a last call that the other way makes, too" same_tail "off tail" "on tail"
	promise_do on twice
	branch "two sites" twice "off twice" "on twice"
	promise_do on or
	branch "code that another key leads to, too" or "off or" "on or"
	promise_do on end
	branch "after calls that do not return" end "off end" "on end"
	promise_do on cold
	branch "a site in a part that was split off" cold "off cold" "on cold"
	# A task that entered the code when the key was on before may still be there.
	promise_do on off
	enters "$b, on again" off
	promise_do off off
	promise_do on off
	held "$b, on again"
	leaves "$b, on again"
	# The same where another key has a site in the function, and has changed once.
	for two in "first second" "second first"; do
		promise_do on ${two% *}
		enters "$b, beside another key" both
		promise_do on ${two#* }
		promise_do off ${two% *}
		promise_do on ${two% *}
		held "$b, beside another key, the $two"
		leaves "$b, beside another key, the $two"
		promise_do off first
		promise_do off second
		promise_do quiesce
	done
	promise_do probe 1
	branch "a tracepoint's branch" enabled "probe 0" "probe 1"

	# A task that is in such a function, but not in that code, does not count.
	promise_do go loop
	jf_until 100 at_least rounds 1 || fail "$b: the thread is at work" "$(cat $P/state)"
	promise_do on loop
	passed "$b: beside a main loop with sites, on"
	promise_do off loop
	promise_do probe 0
	passed "$b: beside a main loop with sites, off"
	promise_do go cold_loop
	promise_do on loop
	passed "$b: beside a main loop in a part that was split off"
	promise_do off loop
	i=0
	while [ $i -lt 10 ]; do
		promise_do on loop
		promise_do off loop
		i=$((i + 1))
	done
	passed "$b: beside a main loop with sites, after twenty changes"
	unload
done

# ---- functions that unrelated callers execute as well ----

for b in ${JF_BACKEND:-auto indirect}; do
	load "backend=$b"
	for way in a a_tramp a_ptr a_jump a_either; do
		enters "$b, $way" $way
		promise_do swap
		held "$b, a former target, by $way"
		leaves "$b, a former target, by $way"
		promise_do back
		promise_do quiesce
	done
	for way in b b_tramp direct jump; do
		enters "$b, $way" $way
		promise_do swap
		passed "$b: beside a task in the same function, by $way"
		check "$b, $way: it is still there" at_least inside 1
		promise_do open
		jf_until 100 ended || true
		promise_do back
		promise_do quiesce
	done
	enters "$b, set again" a
	promise_do swap
	promise_do back
	held "$b, a target that was replaced, and set again"
	leaves "$b, a target that was replaced, and set again"
	enters "$b, again" again
	promise_do once 1
	passed "$b: beside a recursion by another dynamic function"
	promise_do open
	jf_until 100 ended || true
	promise_do once 0
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

# ---- probes in functions that are read ----

# A function's name may have got a suffix.
unprobe()
{
	echo 0 >$T/events/jfpromise/enable
	echo >$T/kprobe_events
} 2>/dev/null
# probe_all FUNCTION [1]: a kprobe on each of its instructions that takes one; or on the first after the beginning
probe_all()
{
	sym=$(awk -v f="$1" '$4 == "[jf_promise]" && ($3 == f || index($3, f ".") == 1) && $3 !~ /cold/ {print $3}' \
		/proc/kallsyms)
	n=$([ "${2:-}" ] && echo 5 || echo 0) probes=0
	while [ $n -lt 100 ] && [ $probes -lt "${2:-100}" ]; do
		echo "p:jfpromise/$1_$n jf_promise:$sym+$n" >>$T/kprobe_events && probes=$((probes + 1))
		n=$((n + 1))
	done 2>/dev/null
	for e in "$T"/events/jfpromise/*/enable; do
		echo 1 >"$e"
	done 2>/dev/null
	check "$1() has probes: $probes" [ $probes -ge "${2:-3}" ]
	[ "${2:-}" ] || return 0
	if jf_until 20 grep -q 'OPTIMIZED' /sys/kernel/debug/kprobes/list; then
		note "the probe in $1() is optimised"
	else
		note "the probe in $1() is not optimised"
	fi
}

if [ -w $T/kprobe_events ]; then
	jf_on_exit unprobe
	load ${JF_BACKEND:+"backend=$JF_BACKEND"}
	promise_do go mid_loop
	jf_until 100 at_least rounds 1 || fail "the thread is at work" "$(cat $P/state)"
	probe_all place_mid_loop
	promise_do on loop
	passed "beside a main loop with probes in it, on"
	promise_do off loop
	passed "beside a main loop with probes in it, off"
	unprobe
	promise_do stop
	promise_do quiesce
	probe_all behind_probed
	promise_do on probed
	branch "probes before the last call" probed "off probed" "on probed"
	unprobe
	promise_do on chain
	for one in '' 1; do
		many=${one:+an optimised probe}
		many=${many:-probes}
		probe_all chain_first $one
		branch "$many in what is called last" chain "off chain" "on chain"
		unprobe
		probe_all jumps_to_shared $one
		enters "by a function with $many" jump
		promise_do swap
		passed "beside a task in the same function, by one with $many"
		check "by a function with $many: it is still there" at_least inside 1
		promise_do open
		jf_until 100 ended || true
		promise_do back
		promise_do quiesce
		unprobe
	done
	unload
else
	skip "probes in functions that are read" "no kprobe events"
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
		for way in a a_jump b direct jump; do
			# Nothing tells there what the function returns to.
			case $way,$(uname -r) in
			a*) ;;
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
			a*)
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
