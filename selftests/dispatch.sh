#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# The sample tracepoint set: every mode fires, off does not, switching under load is safe.
. "$(dirname "$0")/lib.sh"

jf_start "dispatch modes of the sample tracepoints"
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

# Something that makes every event of the set happen.
load() { while :; do ls / | cat >/dev/null; done; }
jf_run load

# hits MODE: of all events together
hits() { for e in $events; do jf_hits "$e" "$1"; done | awk '{s += $1} END {print s + 0}'; }
total() { for m in $modes; do [ "$m" = off ] || hits "$m"; done | awk '{s += $1} END {print s + 0}'; }

for m in $modes; do
	[ "$m" != off ] || continue
	check "mode $m is taken" jf_write dispatch "$m"
	check_match "mode $m is shown" "$(cat $JF/dispatch)" "\\[$m\\]"
	sleep 1
	for e in $events; do
		state=$(awk -v e="$e" '$1 == e {print $2}' $JF/events)
		if [ "$state" = missing ]; then
			skip "$e fires in mode $m" "this kernel has no such tracepoint"
			continue
		fi
		check_eq "$e is attached in mode $m" "$state" attached
		[ "$e" != sched_migrate_task ] || continue	# needs luck
		check_match "$e fires in mode $m" "$(jf_hits "$e" "$m")" '^[1-9]'
	done
	jf_write dispatch off
	before=$(total)
	sleep 1
	check_eq "nothing fires after $m is off" "$(total)" "$before"
done

# Switching under load.  Each mode must really have been in force in between.
if command -v hackbench >/dev/null; then
	hack() { while :; do hackbench -g 1 -l 50; done >/dev/null 2>&1; }
	jf_run hack
fi
b_i=$(hits indirect) b_d=$(hits dynfunc) n=0
while [ $n -lt 8 ]; do
	for m in $modes; do
		jf_write dispatch "$m" >/dev/null || break 2
		grep -qF "[$m]" $JF/dispatch || break 2
	done
	n=$((n + 1))
done
check_eq "8 rounds of switching under load" "$n" 8
check_match "indirect fired meanwhile" "$(($(hits indirect) - b_i))" '^[1-9]'
check_match "dynfunc fired meanwhile" "$(($(hits dynfunc) - b_d))" '^[1-9]'
jf_write dispatch dynfunc
jf_stop_all
pkill hackbench 2>/dev/null
check "it unloads with the probes attached" jf_unload
jf_done
