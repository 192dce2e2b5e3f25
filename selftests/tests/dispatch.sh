#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# The event set: every dispatch mode fires, off does not, switching under load is safe.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "dispatch modes of the event set"
jf_load
events=$(awk '$1 != "#" {print $1}' $JF/events)
modes=$(tr -d '[]\n' <$JF/dispatch)

for e in sched_switch sched_waking sched_wakeup sys_enter sys_exit; do
	check_match "$e is in the set" "$events" "^$e\$"
done
for m in off indirect dynfunc; do
	check_match "there is a mode $m" "$(echo $modes | tr ' ' '\n')" "^$m\$"
done
check_match "it starts off" "$(cat $JF/dispatch)" '\[off\]'

# Something that makes the events of the set happen.
if command -v hackbench >/dev/null; then
	load() { while :; do hackbench -g 1 -f 4 -l 20; ls / | cat; sleep "$1"; done >/dev/null 2>&1; }
else
	load() { while :; do ls / | cat; sleep "$1"; done >/dev/null; }
fi
# With a pause: an emulated CPU would else have half as much time for all else.
jf_run load 0.1

# hits MODE: of all events together; fired MODE: events that did, one per line
hits() { column "$1" | awk '{s += $2} END {print s + 0}'; }
fired() { column "$1" | awk '$2 > 0 {print $1}'; }
# column MODE: each event there is, and its hits
column()
{
	awk -v m="$1" '$1 == "#" {for (i = 2; i <= NF; i++) if ($i == m) col = i - 1; next}
		$2 != "missing" {print $1, $col}' $JF/events
}
total() { for m in $modes; do [ "$m" = off ] || hits "$m"; done | awk '{s += $1} END {print s + 0}'; }

note "not in this kernel: $(awk '$2 == "missing" {printf " %s", $1}' $JF/events)"
# Some architectures have no tracepoints for system calls.
sure=$(awk '$2 != "missing" {print $1}' $JF/events | grep -xE 'sched_(switch|waking|wakeup)|sys_(enter|exit)')
if ! echo "$sure" | grep -q sys_enter; then
	skip "sys_enter and sys_exit fire" "not in this kernel (CONFIG_HAVE_SYSCALL_TRACEPOINTS)"
	[ "$(echo "$sure" | wc -l)" = 3 ] || fail "the tracepoints of the scheduler are there" "$sure"
fi
for m in $modes; do
	[ "$m" != off ] || continue
	check "mode $m is taken" jf_write dispatch "$m"
	check_match "mode $m is shown" "$(cat $JF/dispatch)" "\\[$m\\]"
	check_eq "all events are attached in mode $m" \
		"$(awk '!/^#/ && $2 != "attached" && $2 != "missing" {print $1}' $JF/events)" ''
	# The rest of the set needs luck, or more time than there is.
	n=0
	while [ "$(fired "$m" | grep -cxF "$sure")" != "$(echo "$sure" | wc -l)" ] ||
		[ "$(fired "$m" | wc -l)" -lt 12 ]; do
		n=$((n + 1))
		[ $n -lt 60 ] || break
		sleep 0.3
	done
	for e in $sure; do
		check_match "$e fires in mode $m" "$(jf_hits "$e" "$m")" '^[1-9]'
	done
	check "at least 12 events fire in mode $m" [ "$(fired "$m" | wc -l)" -ge 12 ]
	jf_write dispatch off
	before=$(total)
	sleep 0.5
	check_eq "nothing fires after $m is off" "$(total)" "$before"
done

jf_run load 0
# Switching under load.  Each mode must really have been in force in between.
b_i=$(hits indirect) b_d=$(hits dynfunc) n=0
while [ $n -lt 3 ]; do
	for m in $modes; do
		jf_write dispatch "$m" >/dev/null || break 2
		grep -qF "[$m]" $JF/dispatch || break 2
	done
	n=$((n + 1))
done
check_eq "3 rounds of switching under load" "$n" 3
check_match "indirect fired meanwhile" "$(($(hits indirect) - b_i))" '^[1-9]'
check_match "dynfunc fired meanwhile" "$(($(hits dynfunc) - b_d))" '^[1-9]'
jf_write dispatch dynfunc
jf_stop_all
pkill hackbench 2>/dev/null
check "it unloads with the probes attached" jf_unload
jf_done
