#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: ftrace writes what is written
# JF_TIMEOUT=240
# The provider ftrace: functions of a module that knows nothing of jumpfunc are counted, and told to several
# subscribers, with their arguments; while they are called, and while modules are loaded and unloaded.
#
# Seen to fail (6.1) while an address inside a nop was taken for the nop's: functions were on and never counted. What
# else has to make it fail is in the list of mutants, "ftrace: ...".
. "$(dirname "$0")/../lib/lib.sh"

F=/sys/module/jf_foreign/parameters
U=/sys/module/jf_entry_user/parameters
probes() { jf_write probes "$1"; }
calls() { echo "$1" >$F/calls; }
hits() { awk -v p="ftrace:jf_foreign:$1:entry" '$1 == p {print $2, $3; found = 1} END {if (!found) print "none"}' $JF/probes; }
listed() { grep -c ^ftrace: $JF/probes; }
user() { for i; do cat "$U/$i"; done | paste -sd ' '; }
caller() { while :; do calls 1000; done; }
# left_to_ftrace WHAT PATTERN: ftrace has no function of that any more
left_to_ftrace()
{
	[ -r $JF_TRACEFS/enabled_functions ] || return 0
	jf_left=$(grep "$2" $JF_TRACEFS/enabled_functions || true)
	case $jf_left,$(uname -r) in
	,*) pass "$1" ;;
	*,5.*) skip "$1" "this kernel's ftrace has kept: $jf_left" ;;
	*) fail "$1" "$jf_left" ;;
	esac
}
refused()
{
	jf_log_mark
	check_fails "$1" probes "$2"
	check_match "... and the log says why" "$(jf_log_new)" "$3"
	check_eq "... and nothing has changed" "$(listed)" "$4"
}

jf_start "functions of modules that were not built for jumpfunc"
jf_has jf_foreign || jf_skip_all "no jf_foreign.ko: build selftests/modules"
[ -e $JF_TRACEFS/available_filter_functions ] || jf_skip_all "no function tracer in this kernel"
# What is there before jumpfunc is found as well.
check "the module is loaded first" jf_insmod jf_foreign
jf_load

check "one function" probes "+ftrace:jf_foreign:foreign_add:entry"
check "calls" calls 10
check_eq "... are counted" "$(hits foreign_add)" "on 10"
check_eq "... of no other function" "$(listed)" 1
check "all functions" probes "+ftrace:jf_foreign::"
check "calls" calls 5
check_eq "... are counted of each" "$(hits foreign_add), $(hits foreign_step), $(hits calls_set)" "on 15, on 5, on 1"
check_eq "one that is not to be traced is none of them" "$(hits foreign_secret)" none
check "one is disabled" probes "-ftrace:jf_foreign:foreign_step:entry"
check "calls" calls 5
check_eq "... are counted of the others" "$(hits foreign_add), $(hits foreign_step)" "on 20, none"
check "and enabled again" probes "+ftrace:jf_for*:*_step:*"
check "calls" calls 5
check_eq "... begin with none" "$(hits foreign_add), $(hits foreign_step)" "on 25, on 5"

check "a function that has two names, by one" probes "+ftrace:jf_foreign:foreign_exit:entry"
check "... and by the other" probes "+ftrace:jf_foreign:cleanup_module:entry"

n=$(listed)
refused "a function that is not there" "+ftrace:jf_foreign:foreign_add:entry +ftrace:jf_foreign:nothing*:entry" \
	"nothing is ftrace:jf_foreign:nothing\*:entry" "$n"
refused "a function that is not to be traced" "+ftrace:*:foreign_secret:entry" "nothing is" "$n"
refused "a module that is not there" "+ftrace:jf_nowhere:*:entry" "nothing is" "$n"
refused "a name that is not entry" "+ftrace:jf_foreign:*:return" "nothing is" "$n"
refused "jumpfunc itself" "+ftrace:jumpfunc:*:entry" "nothing is" "$n"
refused "one command that wants both" "-ftrace:jf_foreign:*:entry +ftrace:jf_foreign:foreign_add:entry" \
	"foreign_add of jf_foreign is to be enabled and disabled" "$n"
refused "a tracepoint that is not there takes functions with it" \
	"-ftrace:jf_foreign:foreign_add:entry +trace:*:*:nothing" "nothing is trace" "$n"
check "calls" calls 5
check_eq "... are still counted" "$(hits foreign_add), $(hits foreign_step)" "on 30, on 10"

if jf_has jf_entry_user; then
	check "two subscribers" jf_insmod jf_entry_user leave=1
	check "calls" calls 7
	check_eq "... are told to both, with arguments" "$(user adds steps bad)" "7 7 0"
	check_eq "... and counted" "$(hits foreign_add), $(hits foreign_step)" "on 37, on 17"
	check "a module disables by the same words" sh -c "printf %s '-ftrace:jf_foreign:foreign_step:entry' >$U/set"
	check "calls" calls 3
	check_eq "... are told of the rest" "$(user adds steps bad)" "10 7 0"
	check "a third subscriber, which counts" probes "+trace:jumpfunc:*:jf_entry"
	check "calls" calls 3
	check_eq "... counts all that is told" "$(awk '/^trace:jumpfunc:.*:jf_entry / {print $3; exit}' $JF/probes)" \
		$((3 + 1))
	check "a module unloads that has left its subscribers" jf_rmmod jf_entry_user
	check "calls" calls 3
	check_eq "... are counted" "$(hits foreign_add)" "on 46"
fi

jf_run caller
i=0
while [ $i -lt 8 ]; do
	probes "+ftrace:jf_foreign:*:entry" && probes "-ftrace:jf_foreign:foreign_*:entry" || break
	i=$((i + 1))
done
jf_stop_all
check_eq "changes while it is called" $i 8
check "all are disabled" probes "-ftrace:*:*:*"
check_eq "... and none is left" "$(listed)" 0
left_to_ftrace "... to ftrace, too" jf_foreign

check "functions are enabled" probes "+ftrace:jf_foreign:*:entry"
check "and their module unloads" jf_rmmod jf_foreign
check_eq "nothing of it is left" "$(listed)" 0
left_to_ftrace "... to ftrace, too" .
check "it loads again" jf_insmod jf_foreign
check "calls" calls 5
check_eq "... are not counted" "$(listed)" 0
check "functions of two modules" probes "+ftrace:jf_foreign:foreign_*:entry +trace:jumpfunc:*:jf_entry"
check "calls" calls 5
check_eq "... are counted" "$(hits foreign_add)" "on 5"

check "ftrace is not switched off meanwhile" sh -c '! echo 0 >/proc/sys/kernel/ftrace_enabled'
check "the core unloads with functions enabled" jf_unload
check "calls" calls 5
left_to_ftrace "nothing of it is left to ftrace" .
jf_load
check "ftrace is switched off" sh -c 'echo 0 >/proc/sys/kernel/ftrace_enabled'
refused "functions are refused then" "+ftrace:jf_foreign:*:entry" "kernel.ftrace_enabled" 0
check "ftrace is switched on" sh -c 'echo 1 >/proc/sys/kernel/ftrace_enabled'
check "the core unloads" jf_unload
jf_done
