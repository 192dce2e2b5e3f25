#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# After a module's last notifier the kernel still waits for operations of its parameters and for asynchronous
# functions, so its functions may try to become targets, and its sites may be executed.  And what was
# known of its text is not true of the module that is loaded there next.
. "$(dirname "$0")/../lib/lib.sh"

T=$JF_TRACEFS
P=/sys/module/jf_past/parameters
leads_to() { awk '$1 == "past_op" {print $4}' $JF/functions; }
said() { dmesg | grep "$1: " | tail -n 1; }
in_parameter() { grep -qs msleep /proc/"$1"/stack || grep -qs "^State:.D" /proc/"$1"/status; }
lead_own() { echo 1 >/sys/module/jf_past_site/parameters/own; }
quiet() { echo 1 >$P/quiesce; }
change() { echo 1 >$P/change; }
# later MODULE PARAMETER MS: written in the background, by $writer; it takes effect so much later
later()
{
	(echo "$3" >/sys/module/"$1"/parameters/"$2") 2>/dev/null &
	writer=$!
	jf_until 50 in_parameter $writer || note "no task waits in $2 of $1"
}

jf_start "modules after their last notifier"
jf_has jf_past || jf_skip_all "no jf_past.ko: build selftests/modules"
slow=$((1000 * ${JF_SLOW_KERNEL:-1}))

# ---- one whose notifiers were over when jumpfunc was loaded ----

check "a module that is loaded before" jf_insmod jf_past_before
later jf_past_before late $((8 * slow))
rmmod jf_past_before &
remover=$!
jf_unloaded jf_past_before
unloading() { grep -q '^jf_past_before .* Unloading' /proc/modules; }
check "it is being unloaded" jf_until 50 unloading
jf_load
check "a dynamic function" jf_insmod jf_past
if wait $writer; then fail "its function is refused" "$(said jf_past_before)"; else pass "its function is refused"; fi
wait $remover
check_match "... because of its module's state, not of its address" "$(said jf_past_before)" 'late: state 2, update -1$'

# ---- a function that is offered late ----

check "a module without tables" jf_insmod jf_past_taker
later jf_past_taker late $((2 * slow))
check "it unloads" jf_rmmod jf_past_taker
if wait $writer; then
	fail "its function is refused" "$(said jf_past_taker)"
else
	pass "its function is refused"
fi
check_match "... while the module was being unloaded" "$(said jf_past_taker)" 'late: state 2, update -(1|16)$'
check_eq "nothing leads there" "$(leads_to)" past_default
echo 1 >$P/call
check_match "a call arrives" "$(said jf_past)" ' is 6$'

# ---- sites that are executed late ----

check "a module with sites" jf_insmod jf_past_site
check "a target" jf_insmod jf_past_taker now=1
check "its own function leads there, too" lead_own
echo 0 >/sys/module/jf_past_site/parameters/run
check_match "all sites lead there" "$(said jf_past_site)" 'give 1005 1005 1005, on, unhooked$'
echo $((8 * slow)) >$P/busy
rmmod jf_past_site &
remover=$!
on_its_way() { ! grep -q '^past_own ' $JF/functions; }
check "its last notifier is done" jf_until 100 on_its_way
later jf_past_site run $((3 * slow))
check "now another's key and hook are changed" change
check "... and the target's module unloads" jf_rmmod jf_past_taker
wait $remover
jf_unloaded jf_past_site
wait $writer
check_match "the sites lead to a target that is loaded" "$(said jf_past_site)" 'state 2, sites give 6 8 8, off, hooked$'

# ---- the same in __init text, when init is over ----

check "a module that works on after its init" jf_insmod jf_past_async
async_ran() { dmesg | grep -q 'jf_past_async: '; }
jf_until 100 async_ran
check_match "its sites follow" "$(said jf_past_async)" 'state 0, update 0, sites give 7, on, hooked$'
check "it unloads" jf_rmmod jf_past_async

# ---- a task that came through its trampoline ----

check "a module between a call and a sleeper" jf_insmod jf_past_mid
echo $((8 * slow)) >$P/enter
is_inside() { grep -q Y $P/inside; }
check "a task is asleep after it" jf_until 50 is_inside
check "it unloads" jf_rmmod jf_past_mid
has_left() { grep -q N $P/inside; }
if jf_scanning; then
	check_fails "and the task is waited for" quiet
	check "... until it has left" jf_until 200 has_left
	check "... and no longer" quiet
else
	jf_until 200 has_left
	skip "and the task is waited for" "no stack is scanned here"
fi

# ---- a task in what was replaced, while the module that is unloaded used it, too ----

leaf() { echo "$1" >$P/leaf; }
check "a function leads to a sleeper" leaf 1
check "... and so does that of another module" jf_insmod jf_past_site
lead_own
echo $((15 * slow)) >$P/enter
check "a task is asleep there" jf_until 50 is_inside
check "the first one leads elsewhere" leaf 0
if jf_scanning; then check "the task is not waited for: it is in use" quiet; fi
check "the module that uses it unloads" jf_rmmod jf_past_site
if jf_scanning; then
	check_fails "now the task is waited for" quiet
	check "... until it has left" jf_until 300 has_left
	check "... and no longer" quiet
else
	jf_until 300 has_left
	skip "now the task is waited for" "no stack is scanned here"
fi

# ---- what might keep it from unloading ----

check "a module whose function leads to where a task always sleeps" jf_insmod jf_past_site elsewhere=1
check "it unloads" jf_rmmod jf_past_site
check "no task is waited for" quiet
if jf_patching && [ "${JF_BACKEND:-auto}" != indirect ]; then
	check "a module with a foreign breakpoint on a site" jf_insmod jf_past_site spoil=1
	jf_complaints_expected
	check "it unloads" jf_rmmod jf_past_site
	check_match "the log names the site" "$(dmesg | grep 'foreign bytes stay')" 'jf_past_site: foreign bytes stay at the site spoilt'
	jf_complaints_over
else
	skip "a module with a foreign breakpoint on a site" "no site is patched"
fi

# ---- __init text that was freed, whose names ftrace keeps ----

early() { (echo 1 >/sys/module/jf_past_taker/parameters/early) 2>/dev/null; }
check "a module" jf_insmod jf_past_taker
check_fails "its __init text is refused" early
jf_rmmod jf_past_taker
if echo schedule_timeout >$T/set_ftrace_filter && echo function >$T/current_tracer; then
	jf_on_exit "echo nop >$T/current_tracer; echo >$T/set_ftrace_filter"
	check "the same beside the function tracer" jf_insmod jf_past_taker
	sleep 1
	check_fails "its __init text is refused" early
	jf_rmmod jf_past_taker
	echo nop >$T/current_tracer
	echo >$T/set_ftrace_filter
else
	skip "the same beside the function tracer" "no function tracer in this kernel"
fi 2>/dev/null
# Without trampolines, the function of the module in between was its target.
left=past_default
jf_patching || left=past_leaf
check_eq "nothing leads there" "$(leads_to)" $left

# ---- what is known of text is not true of what stands there next ----

cold_is_seen()
{
	if ! jf_scanning; then
		skip "$1: it is waited for" "no stack is scanned here"
		return
	fi
	check "$1: a target asleep in its cold part" jf_insmod jf_past_cold ${2:+"$2"}
	check_match "$1: it is waited for" "$(said jf_past_cold)" 'update 0, quiesce -110, inside$'
	jf_rmmod jf_past_cold
}
two_unload()
{
	check "a library" jf_insmod jf_past_lib
	check "... and its user" jf_insmod jf_past_user "$@"
	jf_rmmod jf_past_user
	jf_rmmod jf_past_lib
}
two_unload quiet=1
for i in 1 2; do cold_is_seen "after them, $i"; done
two_unload quiet=0
for i in 1 2; do
	check "a thread that is in no old target, $i" jf_insmod jf_past_thread
	check "... is not waited for" quiet
	jf_rmmod jf_past_thread
done
check "a module that waits for quiet in its init" jf_insmod jf_past_init
sleep 1
for i in 1 2; do cold_is_seen "where its __init text was, $i"; done
cold_is_seen "a module that asked early" early=1
jf_done
