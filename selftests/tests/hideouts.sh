#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=3: slow; modules.sh and unload.sh wait for a task inside on each kernel
# JF_ANY_BACKEND: which tasks are searched for, and how, is the same with each of them
# JF_TIMEOUT=300
# Where a stack scan for old targets might miss a task: in a function that a target jumped to, in a
# callback that a callback asked for, in an optimised kprobe's copy of an instruction, in a part that
# the compiler split off, in a function that does not return.  And what must not delay it: a thread
# that stays in a new target, a large module, many tasks that exit at once.
#
# Seen to fail with the code broken on purpose (6.1):
#   of a module that is unloaded, only the old targets are scanned for	tail: the task is left in freed text
#   callbacks that callbacks ask for are not waited for		callback: it runs in freed text
#   no unwind where no word leads into the text			copy: the task is left in freed text
#   an unwind that ends early counts as a whole one		copy: the task is left in freed text
#   a task that must not be unwound counts by words of the text alone	copy, outer_traced: it is left in freed text
#   a running task is unwound although its return is traced	the kernel warns, in rethook_find_ret_addr()
#   f.part.0 is no part of f					part: the quiesce does not wait for the task
#   a return address is where its call is			last: the quiesce waits for a task next to it instead
#   callbacks are called in reverse order			19470 were not yet called after the barrier
#   a changed call counts for ever				live: neither wait ends in time
#   a module's names are searched for each target		large: 8 times instead of once
#   no limit to the wait for Tasks RCU				exits: the wait does not end in time
. "$(dirname "$0")/../lib/lib.sh"

H=/sys/kernel/debug/jf_hide
T=$JF_TRACEFS

jf_start "no hide-outs"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_hide || jf_skip_all "no jf_hide.ko: build selftests/modules"

# ---- tools ----

# hide NAME: a number of jf_hide; hide_do COMMAND...
hide() { awk -v n="$1" '$1 == n {print $2}' $H/state; }
hide_do() { echo "$*" >$H/do; }
hide_is() { [ "$(hide "$1")" -ge "$2" ]; }
all_left() { [ "$(hide walkers)" = 0 ]; }

# beside NAME COMMAND...: in the background, timed; over NAME: is it?  took NAME: the seconds it took
now() { cut -d. -f1 /proc/uptime; }
beside()
{
	jf_b=$1; shift
	rm -f "$JF_TMP/$jf_b.over"
	(
		t0=$(now)
		"$@" >"$JF_TMP/$jf_b" 2>&1 || echo "status $?" >>"$JF_TMP/$jf_b"
		echo $(($(now) - t0)) >"$JF_TMP/$jf_b.took"
		mv "$JF_TMP/$jf_b.took" "$JF_TMP/$jf_b.over"
	) &
}
over() { [ -e "$JF_TMP/$1.over" ]; }
took() { cat "$JF_TMP/$1.over"; }
# ends NAME SECONDS WHAT: it is over by then. Counting pauses alone would give it twice as long, or more:
# asking whether it is over takes time, too.
ends()
{
	jf_limit=$(($2 * ${JF_SLOW:-1}))
	if ! jf_until $((jf_limit * 10)) over "$1"; then
		fail "$3" "not within $jf_limit s"
	elif [ "$(took "$1")" -gt $jf_limit ]; then
		fail "$3" "after $(took "$1") s, which is more than $jf_limit s"
	else
		check_eq "$3, after $(took "$1") s" "$(cat "$JF_TMP/$1")" ''
	fi
}
# Nothing else would mean anything while this one hangs.
ends_at_all() { jf_until 1200 over "$1" || jf_bail "$1 ends at all"; }

# not_early WHAT: no module was freed with a task inside
not_early()
{
	check_eq "$1: no task was left in freed text" "$(hide early)" "$early"
	early=$(hide early)
}

# goes_in WAY FORM [CPU]: a task enters that target of jf_hide_m
goes_in()
{
	jf_insmod jf_hide_m way="$1" || return
	hide_do shut
	shift
	hide_do "$@"
	jf_until 100 hide_is inside 1
}

section_at=$(now)
# Where the time goes.
section() { note "-- $1 (the one before took $(($(now) - section_at)) s)"; section_at=$(now); }

preempt=/sys/kernel/debug/sched/preempt
mode=$(sed -n 's/.*(\(.*\)).*/\1/p' $preempt 2>/dev/null) || true
rt=0
[ ! -e /sys/kernel/realtime ] || rt=$(cat /sys/kernel/realtime)
# Can a task be preempted wherever it is?
preempt_full()
{
	[ "$rt" = 0 ] || return 0
	{ echo full >$preempt; } 2>/dev/null && grep -q '(full)' $preempt
}

# ---- little room ----

check "a module with 4400 bytes of per-CPU data" jf_insmod jf_hide_room
check "jumpfunc loads beside it" jf_load
jf_insmod jf_hide || jf_bail "jf_hide loads"
jf_on_exit "echo open >$H/do"
early=0

# ---- tasks inside ----

section "a function that a target jumped to"
check "a task is in there" goes_in tail site
hide_do pass
# It is not in the target, and cannot be told from a task that never was.
check "a quiesce does not wait for it" hide_do quiesce 30000
beside rmmod rmmod jf_hide_m
sleep 1.5
check_fails "tail: rmmod waits" over rmmod
check "... while the task is inside" hide_is inside 1
hide_do open
ends rmmod 20 "tail: rmmod ends when the task has left"
ends_at_all rmmod
jf_unloaded jf_hide_m
jf_until 100 all_left
not_early tail

section "a callback that asks for another one"
check "a module that will ask for callbacks" jf_insmod jf_hide_cb
check "it unloads" jf_rmmod jf_hide_cb
check_eq "all were called by then" "$(hide inside)" 0
not_early callback

section "a copy of an instruction"
untrace()
{
	[ ! -e $T/events/jfhide ] || echo 0 >$T/events/jfhide/enable
	echo >$T/kprobe_events
	echo "$throttle" >/proc/sys/kernel/sched_rt_runtime_us
	[ -z "$mode" ] || echo "$mode" >$preempt
} 2>/dev/null
throttle=$(cat /proc/sys/kernel/sched_rt_runtime_us)
# The list of kprobes calls one optimised that is yet to be. The kernel's optimiser then waits for preempted
# tasks, with kprobe_mutex and text_mutex held: that would keep rmmod in the kernel's own notifier.
optimised() { grep -q e9 /sys/module/jf_hide_m/parameters/opcode; }
# The caller's return address has been taken by a probe, and another one by the graph of functions: some kernels
# must not be asked to unwind such a task.
outer_traced()
{
	grep -qw function_graph $T/available_tracers || return
	echo r:jfhide/outer jf_hide:pointer_thread >>$T/kprobe_events && echo 1 >$T/events/jfhide/outer/enable || return
	echo hide_by_pointer >$T/set_ftrace_filter && echo function_graph >$T/current_tracer
}
# in_copy WHAT [TRACE]: a task is preempted in there, and rmmod waits for it; why_not: why there is no such task
in_copy()
{
	why_not="no preemption everywhere"
	preempt_full || return
	why_not="one CPU"
	[ "$(nproc)" -gt 1 ] || return
	why_not="no kprobe events"
	[ -w $T/kprobe_events ] || return
	check "its module loads" jf_insmod jf_hide_m way=copied
	why_not="this kernel cannot trace it"
	[ -z "${2:-}" ] || $2 || return
	why_not="no probe there"
	jf_at=$(cat /sys/module/jf_hide_m/parameters/offset)
	echo "p:jfhide/copied jf_hide_m:hide_copied+$jf_at" >>$T/kprobe_events || return
	echo 1 >$T/events/jfhide/copied/enable || return
	why_not="the kprobe is not optimised: $(grep hide_copied /sys/kernel/debug/kprobes/list)"
	jf_until 100 optimised || return
	sleep 0.5
	echo -1 >/proc/sys/kernel/sched_rt_runtime_us
	why_not="the task was through before it was preempted"
	hide_do ptr 1
	jf_until 10 hide_is inside 1 || return
	hide_do hog 1 5000
	sleep 0.2
	hide_is inside 1 || return
	# Back end kernel needs text_mutex, with which the kernel's optimiser of kprobes may be waiting for the task.
	why_not="the task was through before its target was replaced"
	hide_do pass
	hide_is inside 1 || return
	why_not=''
	beside rmmod rmmod jf_hide_m
	sleep 2.5
	check_fails "$1: rmmod waits" over rmmod
	check "... while the task is inside" hide_is inside 1
	ends rmmod 60 "$1: rmmod ends when the task has left"
	ends_at_all rmmod
	jf_unloaded jf_hide_m
	not_early "$1"
}
# What the tests of traced functions below use, too.
untraced()
{
	echo nop >$T/current_tracer
	: >$T/set_ftrace_filter
	untrace
} 2>/dev/null
jf_on_exit untraced
for by in '' outer_traced; do
	what="copy${by:+, $by}"
	in_copy "$what" $by || true
	[ -z "$why_not" ] || skip "$what: rmmod waits" "$why_not"
	jf_until 600 all_left
	untraced
	if grep -q '^jf_hide_m ' /proc/modules; then
		hide_do pass
		check "its module unloads" jf_rmmod jf_hide_m
	fi
done

section "a running task, in a function whose return is traced"
# The kernel's unwinder must not be asked about it.
if ! preempt_full; then
	skip "a quiesce meets it and ends" "no preemption everywhere"
elif [ -w $T/kprobe_events ]; then
	check "a probe at the return" sh -c "echo r:jfhide/back jf_hide:hog_thread >$T/kprobe_events"
	echo 1 >$T/events/jfhide/back/enable
	hide_do hog $(($(nproc) - 1)) 3000
	sleep 0.3
	hide_do live
	hide_do pass
	check "a quiesce meets it and ends" hide_do quiesce 30000
	jf_until 600 all_left
	untrace
else
	skip "a quiesce meets it and ends" "no kprobe events"
fi

section "a part that the compiler split off"
check "a task is in there" goes_in part site
hide_do pass
if grep -q 'hide_part\.part\..*jf_hide_m' /proc/kallsyms; then
	hide_do quiesce 3000 2>"$JF_TMP/quiesce" || true
	check_match "part: jf_quiesce_timeout() gives up" "$(cat "$JF_TMP/quiesce")" 'timed out'
	check "... while the task is inside" hide_is inside 1
else
	skip "part: jf_quiesce_timeout() gives up" "nothing was split off"
fi
hide_do open
check "jf_quiesce_timeout() does not, when the task has left" hide_do quiesce 20000
jf_until 100 all_left
check "its module unloads" jf_rmmod jf_hide_m
not_early part

section "a last call, of a function that does not return"
# With a probe or a tracer, the kernel keeps the task's return address elsewhere.
by_probe()
{
	[ -w $T/kprobe_events ] || return
	echo r:jfhide/good jf_hide_m:hide_for_good >$T/kprobe_events && echo 1 >$T/events/jfhide/good/enable
}
by_graph()
{
	grep -q function_graph $T/available_tracers || return
	echo hide_for_good >$T/set_ftrace_filter && echo function_graph >$T/current_tracer
}
# last WHAT FORM [TRACE]: jf_hide_m is loaded, and a thread is in its last call
last()
{
	check "$1: its module loads" jf_insmod jf_hide_m way=last
	[ -z "${3:-}" ] || $3 || { skip "$1" "this kernel cannot trace it"; return 1; }
	hide_do shut
	hide_do "$2"
	check "$1: a task is in there" jf_until 100 hide_is inside 1
	hide_do pass
	[ "$(cat /sys/module/jf_hide_m/parameters/touching)" = 1 ] ||
		{ skip "$1" "no function begins where the call ends"; return 1; }
}
# The task leaves by ending: it never returns from that call.
last_ends()
{
	hide_do open
	check "$1: a quiesce ends when the task has left" hide_do quiesce 20000
	jf_until 100 all_left
	untraced
	check "$1: its module unloads" jf_rmmod jf_hide_m
	not_early "$1"
}
for by in '' by_probe by_graph; do
	what="last${by:+, $by}"
	if ! last "$what" site $by; then
		:
	elif [ "$by" = by_probe ] && uname -r | grep -q '^5\.10\.'; then
		skip "$what: jf_quiesce_timeout() gives up" "this kernel keeps them where a stack scan cannot find them"
	else
		hide_do quiesce 3000 2>"$JF_TMP/quiesce" || true
		check_match "$what: jf_quiesce_timeout() gives up" "$(cat "$JF_TMP/quiesce")" 'timed out'
		check "... while the task is inside" hide_is inside 1
	fi
	last_ends "$what"
	what="next to the last${by:+, $by}"
	if last "$what" side $by; then
		check "$what: a quiesce does not wait for the task" hide_do quiesce 10000
		check "... which is still there" hide_is inside 1
	fi
	last_ends "$what"
done

# ---- from atomic context ----

section "callbacks, asked for with preemption off"
hide_do atomic 3000
check_eq "all were called before the barrier returned" "$(hide missed)" 0
check_match "they were many" "$(hide asked)" '^[1-9][0-9][0-9][0-9]'

# ---- what must not delay it ----

section "a task stays in the new target"
hide_do shut
hide_do live
hide_do site
check "it is in there" jf_until 100 hide_is living 1
check "a module is a target of another function" jf_insmod jf_hide_m way=plain
hide_do other
beside quiesce hide_do quiesce
beside rmmod rmmod jf_hide_m
ends quiesce 20 "live: jf_quiesce() ends"
ends rmmod 20 "live: rmmod of the other function's old target ends"
check "... while the task is there" hide_is living 1
hide_do open
ends_at_all quiesce
ends_at_all rmmod
jf_unloaded jf_hide_m
jf_until 100 all_left
hide_do pass
not_early live

section "a large module"
hide_do quiesce
# large PARAMETER: how often names are searched by a quiesce when this many of its targets were replaced, in names
large()
{
	names=$(jf_stat texts_read)
	check "$1: it loads" jf_insmod jf_hide_large "$1"
	check "$1: the kernel has its names" [ "$(grep -c jf_hide_large /proc/kallsyms)" -gt 4000 ]
	beside quiesce hide_do quiesce
	ends quiesce 10 "large, $1: jf_quiesce() ends"
	ends_at_all quiesce
	names=$(($(jf_stat texts_read) - names))
	note "large, $1: $(hide quiesce_ms) ms"
	check "$1: it unloads" jf_rmmod jf_hide_large
}
large one=1
check "one target: names are searched: $names" [ "$names" -ge 1 ]
large one=0
# Not once for each target. Another module's may be searched as well.
check "eight targets: names are searched: $names" [ "$names" -lt 8 ]

section "more tasks exit at once on a CPU than there is room for"
hide_do shut
(
	taskset -p 1 "$(exec sh -c 'echo $PPID')" >"$JF_TMP/taskset" 2>&1 || echo "no taskset" >"$JF_TMP/no_taskset"
	i=0
	while [ $i -lt 600 ]; do
		( exec 3<$H/stick ) &
		i=$((i + 1))
	done
	until hide_is stuck 600 || [ -e "$JF_TMP/enough" ]; do sleep 0.2; done
	wait
) &
exits=$!
jf_until 300 hide_is stuck 600 || note "only $(hide stuck) of them"
check "busy threads" jf_insmod jf_busy threads=4
beside quiesce hide_do quiesce
ends quiesce 30 "exits: jf_quiesce() ends"
check "busy threads end" jf_rmmod jf_busy
touch "$JF_TMP/enough"
if [ -e "$JF_TMP/no_taskset" ]; then
	note "they were on all CPUs: $(cat "$JF_TMP/taskset")"
elif hide_is stuck 600; then
	pass "exits: they were there all the time"
else
	fail "exits: they were there all the time" "$(hide stuck)"
fi
hide_do open
ends_at_all quiesce
wait $exits

section "the end"
check "jf_hide unloads" jf_rmmod jf_hide
jf_done
