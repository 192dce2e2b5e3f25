#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=180
# JF_TRACE_EVENT() with several users at once, and with modules that are loaded and unloaded meanwhile.
. "$(dirname "$0")/../lib/lib.sh"

T=$JF_TRACEFS
E=$T/events/jf_event
H=/sys/module/jf_event_host/parameters
G=/sys/module/jf_event_guest/parameters

jf_start "JF_TRACE_EVENT(): users and modules change meanwhile"
[ -d $T/events ] || jf_skip_all "no tracefs in this kernel (CONFIG_TRACING)"
jf_has jf_event_host || jf_skip_all "no jf_event_host.ko: build selftests/modules"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)

leads() { awk -v n="__jf_tp_$1" '$1 == n {print $4}' $JF/functions | sed 's/_[0-9]*$//; s/_small$//; s/_jf_event.*//'; }
if [ "$be" = indirect ] || ! jf_patching; then one=__jf_iter two=__jf_iter; else one=jf_single two=jf_chain; fi
count() { grep -c " $1: " "${2:-$T/trace}"; }
clear() { echo >$T/trace; }
jf_on_exit "echo 0 >$E/enable; clear"

# ---- all kinds of events ----

check "the host loads" jf_insmod jf_event_host
check_eq "its events" "$(cd $E && echo */ | tr -d /)" "jf_event_many jf_event_one jf_event_plain"
check_eq "those of its second header" "$(cd $T/events/jf_event_2 && echo */ | tr -d /)" "jf_event_odd jf_event_of jf_event_of_long jf_event_of_plain jf_event_of_plain_long"
echo 1 >$E/enable
echo 1 >$T/events/jf_event_2/enable
check "events are fired" sh -c "echo 5 >$H/fire"
for e in one many plain of of_plain; do check_eq "jf_event_$e" "$(count jf_event_$e)" 5; done
# After the CPU's number: interrupts off, reschedule, in an interrupt, the depth of preemption.
depths() { sed -n "s/.*\\] ...\\(.\\).* jf_event_$1: .*/\\1/p" $T/trace | sort -u; }
for e in one many of; do check_eq "jf_event_$e: preemption is as deep as in the caller" "$(depths $e)" "$(depths plain)"; done
check_eq "twelve arguments" "$(grep -c 'jf_event_many: sum=56 l=twelve' $T/trace)" 5
check_eq "an event of a class" "$(grep -c 'jf_event_of: s=host' $T/trace)" 5
check_eq "what meets a condition" "$(sed -n 's/.*jf_event_odd: //p' $T/trace | paste -sd,)" "a=1 odd,a=3 odd"
check_eq "and, of a class, with the kernel's own" "$(count jf_event_of_long) $(count jf_event_of_plain_long) $(grep -c 's=hosted' $T/trace)" "1 1 2"
# With lockdep the kernel evaluates it twice; until 6.12 a second time only for calls that meet it.
asked=$(cat $H/asked)
check_match "the condition was evaluated for each call" "$asked" '^(5|7|10)$'
echo 0 >$T/events/jf_event_2/enable
echo 0 >$E/enable
check_eq "off" "$(leads jf_event_one) $(leads jf_event_many) $(leads jf_event_of) $(leads jf_event_odd)" "none none none none"
echo 2 >$H/fire
check_eq "the condition is not evaluated while it is off" "$(cat $H/asked)" "$asked"
clear
for e in one plain; do
	echo 'common_preempt_count == 0' >$E/jf_event_$e/filter
	echo 1 >$E/jf_event_$e/enable
done
echo 3 >$H/fire
check_eq "a filter by preemption finds as many as of the kernel's own" "$(count jf_event_one)" "$(count jf_event_plain)"
for e in one plain; do
	echo 0 >$E/jf_event_$e/enable
	echo 0 >$E/jf_event_$e/filter
done
clear

echo stacktrace >$E/jf_event_one/trigger
echo 1 >$H/fire
echo '!stacktrace' >$E/jf_event_one/trigger
forwarder_and_caller()
{
	sed -n '/=> __jf_forward_jf_event_one/,/=> fire_set/p' $T/trace | awk '{print $2}' | sed -n '1p;$p' | xargs
}
seen=$(forwarder_and_caller)
if [ -z "$seen" ] && ! jf_x86 && grep -q '<stack trace>' $T/trace; then
	skip "in a stack trace the caller stands after the forwarder" "the stack is not read that far on this architecture"
else
	check_eq "in a stack trace the caller stands after the forwarder" "$seen" \
		"__jf_forward_jf_event_one fire_set"
fi
check_eq "which a trigger alone has had called" "$(leads jf_event_one)" none
clear

# ---- another module's sites, and a probe of its own ----

check "the guest loads" jf_insmod jf_event_guest
check_eq "a probe alone" "$(leads jf_event_one)" $one
echo 3 >$G/fire
check_eq "which no user of the event sees" "$(cat $G/seen) $(count jf_event_one)" "3 0"
echo 1 >$E/jf_event_one/enable
check_eq "the event beside the probe" "$(leads jf_event_one)" $two
echo 3 >$G/fire
echo 2 >$H/fire
check_eq "both see the sites of both modules" "$(cat $G/seen) $(count jf_event_one)" "8 5"
check_eq "of the guest" "$(grep -c 'jf_event_one: a=100' $T/trace)" 3
check_fails "the host is in use" rmmod jf_event_host
check "the guest unloads while the event is on" jf_rmmod jf_event_guest
check_eq "the event alone" "$(leads jf_event_one)" $one
echo 2 >$H/fire
check_eq "it goes on" "$(count jf_event_one)" 7

# ---- unloading ----

check "the host unloads while its event is on" jf_rmmod jf_event_host
check_fails "its events are removed" test -e $E
# The kernel empties the buffer then, as it could no longer format its records.
check "the trace can be read" cat $T/trace
check "the host loads again" jf_insmod jf_event_host
check_eq "with its event off" "$(leads jf_event_one) $(cat $E/jf_event_one/enable)" "none 0"
if command -v perf >/dev/null && [ -e /proc/sys/kernel/perf_event_paranoid ]; then
	perf stat -o "$JF_TMP/stat" -x, -e jf_event:jf_event_one sh -c "echo 4 >$H/fire; touch $JF_TMP/there; until [ -e $JF_TMP/end ]; do sleep 0.1; done" &
	perf=$!
	i=0
	until [ -e "$JF_TMP/there" ] || [ $((i += 1)) -gt 600 ]; do sleep 0.1; done
	check_fails "perf keeps the module" rmmod jf_event_host
	check_eq "and the event on" "$(leads jf_event_one)" $one
	touch "$JF_TMP/end"
	wait $perf
	check_eq "perf has counted" "$(awk -F, '$3 ~ /jf_event_one/ {print $1}' "$JF_TMP/stat")" 4
	check_eq "perf has ended: off" "$(leads jf_event_one)" none
else
	skip "perf keeps the module" "no perf"
fi
check "the host unloads" jf_rmmod jf_event_host

# ---- enabled while it is loaded ----

check "trace_event=NAME" jf_insmod jf_event_host trace_event=jf_event_one
check_eq "enables that event" "$(leads jf_event_one) $(leads jf_event_many) $(cat $E/jf_event_one/enable)" "$one none 1"
jf_rmmod jf_event_host
check "trace_event=NAME,NAME" jf_insmod jf_event_host trace_event=jf_event_one,jf_event_plain
check_eq "enables both" "$(cat $E/*/enable | xargs)" "0 1 1"
jf_rmmod jf_event_host
check "trace_event=all" jf_insmod jf_event_host trace_event=all
check_eq "enables all of its system" "$(cat $E/*/enable | xargs)" "1 1 1"
jf_rmmod jf_event_host
for bad in jf_event_none jf_event_one,jf_event_none '' 'jf_event_one,' jf_event_2; do
	jf_log_mark
	check_fails "trace_event='$bad' is refused" jf_insmod jf_event_host "trace_event=$bad"
	check_match "and the log says why" "$(jf_log_new)" "cannot enable event '.*' of jf_event"
	check_fails "nothing of it stays" test -e $E
done

# ---- everything at once ----

mkdir $T/instances/jf_life
jf_on_exit "rmdir $T/instances/jf_life"
I=$T/instances/jf_life/events/jf_event
check "the host loads for the storm" jf_insmod jf_event_host
end=$(($(date +%s) + 12))
during() { while [ "$(date +%s)" -lt $end ]; do "$@"; done 2>/dev/null; }
toggle() { echo 1 >"$1/enable"; echo 0 >"$1/enable"; }
# A trigger does not keep its module, and if there is one when that is unloaded, the kernel warns: also of an
# event that is none of ours.
reload()
{
	until mkdir "$JF_TMP/trigger"; do usleep 1000; done
	rmmod jf_event_host && insmod "$(jf_ko jf_event_host)" trace_event=all
	rmdir "$JF_TMP/trigger"
	usleep 100000
}
trigger()
{
	mkdir "$JF_TMP/trigger" || return 0
	echo 'hist:keys=a' >$E/jf_event_one/trigger
	echo '!hist:keys=a' >$E/jf_event_one/trigger
	rmdir "$JF_TMP/trigger"
	usleep 1000
}
jf_run during toggle $E
jf_run during toggle $I
jf_run during trigger
jf_run during sh -c "echo 20 >$H/fire"
if command -v perf >/dev/null; then jf_run during perf stat -x, -o /dev/null -e 'jf_event:*' usleep 20000; fi
before=$(jf_stat updates)
during reload
for p in $JF_PIDS; do wait "$p"; done
JF_PIDS=
grep -q '^jf_event_host ' /proc/modules || insmod "$(jf_ko jf_event_host)"
note "$(($(jf_stat updates) - before)) updates"
check_match "events were enabled and disabled" "$(($(jf_stat updates) - before))" '^[1-9]'
echo 0 >$E/enable
echo '!hist:keys=a' >$E/jf_event_one/trigger 2>/dev/null
echo 0 >$I/enable
check_eq "in the end all is off" "$(leads jf_event_one) $(leads jf_event_many)" "none none"
echo 1 >$E/enable
clear
echo 5 >$H/fire
check_eq "and can be turned on again" "$(count jf_event_one) $(count jf_event_many) $(count jf_event_plain)" "5 5 5"
echo 0 >$E/enable
check "the host unloads" jf_rmmod jf_event_host
check "the core unloads" jf_unload
jf_done
