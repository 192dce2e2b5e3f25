#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=3: slow; modules.sh and unload.sh wait for a task inside on each kernel
# JF_ANY_BACKEND: it tries all of them itself
# JF_TIMEOUT=300
# JF_TIMEOUT_LONG=1800
# The text of a target or a probe is kept until no task is inside, whatever such a task does: it runs, sleeps,
# is blocked, exits, or is traced. Other threads that always run do not delay this.
. "$(dirname "$0")/../lib/lib.sh"

seconds=${JF_STORM_SECONDS:-2}
[ "${JF_LONG:-0}" = 0 ] || seconds=${JF_STORM_SECONDS:-60}
H=/sys/kernel/debug/jf_hall
T=$JF_TRACEFS
rt=0
[ ! -e /sys/kernel/realtime ] || rt=$(cat /sys/kernel/realtime)
# Longer than a grace period of the kernel takes, in tenths of a second.
hold=10
[ "$rt" = 0 ] || hold=30

jf_start "no task is left in text that is freed"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_hall || jf_skip_all "no jf_hall.ko: build selftests/modules"

# ---- tools ----

# hall NAME: a number of jf_hall; hall_do COMMAND...
hall() { awk -v n="$1" '$1 == n {print $2}' $H/state; }
hall_do() { echo "$*" >$H/do; }

inside() { [ "$(hall inside_visit)" -ge "$1" ]; }
all_left() { hall_do reap 2>/dev/null && [ "$(hall exiting)" = 0 ]; }
leads_to() { [ "$(awk '$1 == "hall_op" {print $4}' $JF/functions)" = "$1" ]; }

# beside COMMAND...: in the background; beside_over: is it?  beside_rc: its status
beside()
{
	rm -f "$JF_TMP/over"
	( "$@" >"$JF_TMP/beside" 2>&1; echo $? >"$JF_TMP/rc"; mv "$JF_TMP/rc" "$JF_TMP/over" ) &
}
beside_over() { [ -e "$JF_TMP/over" ]; }
beside_rc() { cat "$JF_TMP/over"; }

began() { cut -d. -f1 /proc/uptime; }
section_at=$(began)
# Where the time goes.
section() { note "-- $1 (the one before took $(($(began) - section_at)) s)"; section_at=$(began); }

# freed_inside: a later notifier saw a task inside. Ours returns after ten seconds, and the kernel waits when it frees
# the module: of a wait that is longer, as on a slow machine, only the end of rmmod tells.
handed_on() { dmesg | grep -c 'still in use (-110)'; }
freed_inside() { [ "$(hall early)" != "$early" ] && [ "$(handed_on)" = "$handed" ]; }

# waited_for WHAT [TENTHS]: the command in the background waits for the task inside, and ends when that has left.
# $early: how many tasks were inside freed text before it began
waited_for()
{
	handed=$(handed_on)
	jf_w=$((${2:-$hold} / 2))
	while [ $jf_w -gt 0 ] && ! beside_over && ! freed_inside; do
		sleep 0.2
		jf_w=$((jf_w - 1))
	done
	if freed_inside; then
		fail "$1: the text stays" "it would have been freed with a task inside"
	elif beside_over && inside 1; then
		fail "$1: the text stays" "the wait was over while a task was inside"
	else
		pass "$1: the text stays"
	fi
	hall_do open
	if jf_until 300 beside_over; then
		pass "$1: the wait ends when the task has left"
	else
		fail "$1: the wait ends when the task has left" "not within 30 s; inside: $(hall inside_visit)"
		jf_until 600 beside_over || jf_bail "$1: the wait ends at all"
	fi
	jf_until 100 all_left || note "$1: a task does not return"
}

# stays WHAT FORM WAY [PARAMETER...]: jf_visit, loaded with these parameters, is unloaded with a task inside
stays()
{
	what=$1 form=$2 way=$3; shift 3
	early=$(hall early)
	jf_insmod jf_visit "$@" >"$JF_TMP/insmod" 2>&1 || { fail "$what: jf_visit loads" "$(cat "$JF_TMP/insmod")"; return; }
	hall_do shut
	[ -z "$traced" ] || check "$what: it is traced" $traced
	if ! hall_do go "$form" "$way" || ! jf_until 100 inside 1; then
		fail "$what: a task enters" "$(cat $H/state)"
		hall_do open
		jf_rmmod jf_visit
		return
	fi
	jf_log_mark
	beside rmmod jf_visit
	waited_for "$what" ${long:+$long}
	[ "$(beside_rc)" = 0 ] || fail "$what: rmmod" "$(cat "$JF_TMP/beside")"
	jf_unloaded jf_visit
}
traced='' long=''

load()
{
	jf_load "$@"
	jf_insmod jf_hall spin_ms=2000 || jf_bail "jf_hall loads"
}
unload()
{
	check "${1:+$1: }no call went wrong" [ "$(hall bad_values)" = 0 ]
	if ! jf_rmmod jf_hall || ! jf_unload; then jf_bail "jf_hall and jumpfunc unload"; fi
}
jf_on_exit "echo open >$H/do; echo storm 0 0 >$H/do"

preempt=/sys/kernel/debug/sched/preempt
mode=$(sed -n 's/.*(\(.*\)).*/\1/p' $preempt 2>/dev/null) || true
modes=$(tr -d '()' <$preempt 2>/dev/null) || true
# preempt_as MODE: as asked for if this kernel has it
preempt_as()
{
	case " $modes " in
	*" $1 "*) echo "$1" >$preempt ;;
	*) return 1 ;;
	esac
}
[ -z "$mode" ] || jf_on_exit "echo $mode >$preempt"

# ---- at work ----

section "the iterator stays, and one of its probes is removed"
# Without preemption, rmmod may by chance have to wait for the CPU on which the task runs.
preempt_as full || true
for b in ${JF_BACKEND:-auto indirect}; do
	load "backend=$b"
	for l in 0 1; do
		for n in 17 1; do
			# Not all four of them each time.
			case "$b $n $l" in
			indirect\ 17\ 1|[!i]*\ 1\ ?) continue ;;
			esac
			check "$b: a module with $n probes" jf_insmod jf_visit2 op=0 probes=$n stay=0 prio=5
			# A grace period that is still due for the last round would wait for the task by chance.
			echo 1 >$H/quiesce
			how="cleans up"
			[ $l = 0 ] || how="does not"
			stays "$b: the iterator, $n + 1 probes, a module that $how" trace spin op=0 probes=1 prio=7 leave=$l
			check "$b: the other module unloads" jf_rmmod jf_visit2
		done
	done
	unload "$b"
done

load ${JF_BACKEND:+"backend=$JF_BACKEND"}
[ -z "$mode" ] || echo "$mode" >$preempt
section "a contended lock on the way"
echo $((rt ? 10000 : 3000)) >/sys/module/jf_hall/parameters/spin_ms
long=90
stays "a lock that another one holds" site lock
[ "$rt" = 0 ] || stays "a lock that another one holds, in a probe" trace lock op=0 probes=1
long=''
# Without unloading a module: the call alone.
n=$(hall quiesce_early)
echo 1 >$H/quiesce
hall_do go site lock
sleep 1
echo 1 >$H/quiesce
check_eq "jf_quiesce() does not return while a task is inside" "$(hall quiesce_early)" "$n"
jf_until 200 all_left
echo 2000 >/sys/module/jf_hall/parameters/spin_ms

# ---- asleep ----

section "asleep"
# Long enough for the log to name the task.
jf_log_mark
long=120
stays "asleep in a target" site sleep
long=''
said=$(jf_log_new | grep -E 'jumpfunc: .*waiting for .*:[0-9]+')
check_match "the log names the module and the task" "$said" 'jf_visit: waiting for hall/site:[0-9]+'
check_match "... where it is, and since when" "$said" 'inside .*visit_op\+0x[0-9a-f]+.* since [0-9]+ s'
# However long it took here.
check_eq "... each ten seconds" "$(echo "$said" | sed -n 's/.* since \([0-9]*\) s.*/\1/p' |
	awk 'NR > 1 && $1 < last + 9 {soon = 1} {last = $1} END {print NR ? soon ? "sooner" : "yes" : "never"}')" yes
stays "blocked by a mutex, by the trampoline" tramp mutex
stays "in an interruptible sleep, by a pointer" pointer intr
stays "at work with cond_resched()" site busy
stays "asleep in the only probe" trace sleep op=0 probes=1
check "others' probes" jf_insmod jf_visit2 op=0 probes=2 stay=0
stays "asleep in a chain of probes, of a module that does not clean up" trace mutex op=0 probes=1 leave=1
check "they unload" jf_rmmod jf_visit2
check "more of them" jf_insmod jf_visit2 op=0 probes=17 stay=0
stays "asleep in the iterator" trace intr op=0 probes=1
check "they unload, too" jf_rmmod jf_visit2

# jf_quiesce() itself.
n=$(hall quiesce_early)
echo 1 >$H/quiesce
hall_do shut
hall_do go site sleep
sleep 0.5
early=$(hall early)
beside sh -c "echo 1 >$H/quiesce"
w=$((hold / 2))
while [ $w -gt 0 ] && ! beside_over; do sleep 0.2; w=$((w - 1)); done
check_fails "jf_quiesce() waits for a sleeping task" beside_over
hall_do open
check "... until it has left" jf_until 300 beside_over
check_eq "... and no task is inside" "$(hall quiesce_early)" "$n"
jf_until 100 all_left

section "a probe is taken off, and its module stays"
inside_of() { [ "$(hall "inside_$1")" -ge 1 ]; }
# taken_off WHAT MODULE [N]: a task sleeps in a probe of jf_MODULE when the probe of jf_visit is taken off.
# N: so many probes of jf_visit2 are in front of it
taken_off()
{
	what=$1 module=$2 n=${3:-0}
	if [ "$n" != 0 ]; then
		stay=0
		[ "$module" = visit ] || stay=1
		check "$what: $n others" jf_insmod jf_visit2 op=0 probes="$n" prio=9 stay=$stay
	fi
	check "$what: the one" jf_insmod jf_visit op=0 probes=1 prio=7
	# What came before is not to hold anything up.
	echo 1 >$H/quiesce
	hall_do shut
	hall_do go trace sleep
	check "$what: a task is inside" jf_until 100 inside_of "$module"
	echo 1 >/sys/module/jf_visit/parameters/off
	beside sh -c "echo 1 >$H/quiesce"
	w=$((hold / 2))
	while [ $w -gt 0 ] && ! beside_over; do sleep 0.2; w=$((w - 1)); done
	check_fails "$what: jf_quiesce() waits for it" beside_over
	hall_do open
	check "$what: ... until it has left" jf_until 300 beside_over
	jf_until 100 all_left
	check "$what: its module unloads" jf_rmmod jf_visit
	[ "$n" = 0 ] || check "$what: and that of the others" jf_rmmod jf_visit2
}
taken_off "the only probe" visit
taken_off "one in front of it in a chain" visit2 1
taken_off "one in front of it in the iterator's array" visit2 17

# Where the task returns to.
check "jf_linger loads" jf_insmod jf_linger
section "where the task returns to"
jf_cases jf_linger
check "jf_linger unloads" jf_rmmod jf_linger

section "a module that fails to initialise"
early=$(hall early)
hall_do shut
beside insmod "$(jf_ko jf_visit)" fail=1
jf_until 100 leads_to visit_op
hall_do go site func
jf_until 100 inside 1
waited_for "a module that fails to initialise"
check_fails "... it does fail" [ "$(beside_rc)" = 0 ]

section "at the end of a thread"
if hall_do go exit pass 2>/dev/null; then
	# Longer than jumpfunc waits for a grace period of Tasks RCU, which waits for such a task, too.
	long=30
	stays "asleep, on no list any more" exit sleep
	long=''
	check_eq "the task was on no list" "$(hall exit_listed)" 0
else
	skip "asleep, on no list any more" "no kprobe on proc_exit_connector() in this kernel"
fi

# ---- traced ----

# Probes on all of these, and the tracer of functions on them.
names="jf_hall:hall_wait jf_visit:visit_op jf_visit:visit_slim jf_visit:visit_probe jf_hall:hall_by_site jf_hall:hall_by_trace"
kretprobes()
{
	for f in $names; do echo "r:jfq/r_${f#*:} $f" >>$T/kprobe_events || return 1; done
	echo 1 >$T/events/jfq/enable
}
graph()
{
	: >$T/set_ftrace_filter
	for f in $names :schedule_timeout; do echo "${f#*:}" >>$T/set_ftrace_filter || return 1; done
	echo function_graph >$T/current_tracer
}
# At each instruction that the kernel accepts; in text that is straight on, it makes jumps of them.
kprobes()
{
	for f in jf_visit:visit_op jf_visit:visit_probe jf_hall:hall_by_site; do
		i=0
		while [ $i -lt 40 ]; do
			echo "p:jfq/p_${f#*:}_$i $f+$i" >>$T/kprobe_events
			i=$((i + 1))
		done
	done 2>/dev/null
	for e in "$T"/events/jfq/*/enable; do echo 1 >"$e"; done 2>/dev/null
	sleep 0.5
	grep -c ' visit_.*\[OPTIMIZED\]' /sys/kernel/debug/kprobes/list >"$JF_TMP/optimised"
	grep -c ' visit_' /sys/kernel/debug/kprobes/list >"$JF_TMP/kprobes"
	[ -s "$JF_TMP/kprobes" ]
}
untrace()
{
	traced=''
	echo 0 >$T/events/jfq/enable
	echo nop >$T/current_tracer
	echo >$T/set_ftrace_filter
	echo >$T/kprobe_events
	echo >$T/trace
} 2>/dev/null

if [ -w $T/kprobe_events ]; then
	jf_on_exit untrace
	for t in kretprobes graph kprobes; do
		[ $t != graph ] || grep -q function_graph $T/available_tracers || continue
		case $t:$(uname -r):$(uname -m) in
		kretprobes:5.10.*:aarch64)
			# On x86 the functions' frames have other addresses of theirs.
			skip "traced: $t" "this kernel keeps return addresses where a stack scan cannot find them"
			continue
			;;
		esac
		section "traced: $t"
		traced=$t
		stays "$t: asleep in a target" site func
		untrace
		case $t:$(uname -r) in
		kprobes:*) ;;
		kretprobes:5.10.*) skip "$t: nothing else on the stack leads there" "this kernel keeps them where a stack scan cannot find them" ;;
		*)
			traced=$t
			stays "$t: nothing else on the stack leads there" site func slim=1
			untrace
			;;
		esac
		if [ $t = kretprobes ]; then
			traced=$t
			stays "$t: asleep in the only probe" trace func op=0 probes=1
			untrace
		fi
		check "others' probes" jf_insmod jf_visit2 op=0 probes=2 stay=0
		traced=$t
		stays "$t: asleep in a chain" trace func op=0 probes=1
		untrace
		check "they unload" jf_rmmod jf_visit2
	done
	note "kprobes in the module that is unloaded: $(cat "$JF_TMP/kprobes"), optimised or soon to be: $(cat "$JF_TMP/optimised")"
	check_match "there were kprobes inside" "$(cat "$JF_TMP/kprobes")" '^[1-9]'
else
	skip "traced" "no kprobe events in this kernel"
fi

# ---- on an idle machine, and beside busy threads ----

section "how long it takes on an idle machine"
sleep 2
echo 20 >$H/quiesce
note "jf_quiesce(), $(nproc) CPUs, preemption $(cat $preempt 2>/dev/null || echo 'as built'): $(hall quiesces) times, $(hall quiesce_us_avg) us each, $(hall quiesce_us_max) us at most"
note "$(grep -E '^look' $JF/stats | tr '\n' ' ')"

section "beside threads that are always at work"
preempt_as voluntary || true
note "preemption: $(cat $preempt 2>/dev/null || echo 'as built')"
check "jf_visit loads" jf_insmod jf_visit
hall_do storm 2 0
check "busy threads" jf_insmod jf_busy threads=4
(
	echo 1 >$H/quiesce
	cut -d. -f1 /proc/uptime >"$JF_TMP/quiesced"
) &
t0=$(began)
early=$(hall early)
beside rmmod jf_visit
if jf_until 600 beside_over; then
	pass "rmmod ends beside them, after $(($(began) - t0)) s"
else
	fail "rmmod ends beside them" "not in 60 s"
fi
# When no thread runs any more, everything ends.
if jf_until 20 [ -e "$JF_TMP/quiesced" ]; then
	pass "jf_quiesce() ends beside them, after $(($(cat "$JF_TMP/quiesced") - t0)) s"
else
	fail "jf_quiesce() ends beside them" "not in $(($(began) - t0)) s"
fi
check_match "they were at work" "$(cat /sys/module/jf_busy/parameters/rounds)" '^[1-9][0-9][0-9]'
rmmod jf_busy &
jf_until 300 beside_over || jf_bail "all ends without them"
wait
jf_unloaded jf_busy
jf_unloaded jf_visit
check_eq "no task was left in freed text" "$(hall early)" "$early"
hall_do storm 0 0
[ -z "$mode" ] || echo "$mode" >$preempt

unload

# ---- storms ----

# Threads that are preempted anywhere, threads that end, and processes that begin and end enter a target again
# and again, while the target's module is loaded and unloaded.
preempt_as full || true
for b in ${JF_BACKEND:-xmc indirect auto}; do
	section "$b: a storm, $seconds s"
	load "backend=$b"
	hall_do storm 16 4
	if jf_tool fork_storm; then
		fork_storm "$seconds" $H/enter >"$JF_TMP/forks" &
		JF_PIDS="$JF_PIDS $!"
	else
		echo "no fork_storm" >"$JF_TMP/forks"
	fi
	end=$(($(began) + seconds)) n=0 ok=1
	# On a slow machine the time is over before the first.
	while { [ "$(began)" -lt $end ] || [ $n -lt 3 ]; } && [ $ok = 1 ]; do
		p="op=1 probes=1"
		[ $((n % 3)) != 1 ] || p="op=1 probes=3 leave=1"
		[ $((n % 3)) != 2 ] || p="op=1 probes=18"
		# shellcheck disable=SC2086
		insmod "$(jf_ko jf_visit)" $p || ok=0
		rmmod jf_visit || ok=0
		n=$((n + 1))
	done
	check_eq "$b: the target's module was loaded and unloaded $n times" $ok 1
	# Two targets take turns, and the one whose turn it is not is not entered.
	echo $(((seconds + 1) / 2)) >/sys/module/jf_hall/parameters/limit
	echo 1000 >$H/quiesce
	check_eq "$b: no task was in a target after jf_quiesce()" "$(hall quiesce_early) $(hall late)" "0 0"
	check_match "$b: it was called often" "$(hall quiesces)" '^[1-9]'
	note "$b: jf_quiesce() $(hall quiesces) times, $(hall quiesce_us_avg) us each, $(hall quiesce_us_max) us at most"
	hall_do storm 0 0
	check_match "$b: it was entered" "$(hall entered_visit)" '^[1-9][0-9]'
	check_match "$b: threads ended in it" "$(hall ended)" '^[1-9]'
	check_eq "$b: no task was left in freed text" "$(hall early)" 0
	jf_stop_all
	note "$b: $(hall calls) calls, $(hall entered_visit) of the unloaded module, $(hall ended) threads ended; $(cat "$JF_TMP/forks")"
	jf_count calls "$(hall calls)"
	unload "$b"
done
[ -z "$mode" ] || echo "$mode" >$preempt
section "the end"
jf_done
