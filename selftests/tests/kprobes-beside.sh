#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=400
# JF_TIMEOUT_LONG=600
# kprobes beside sites: whatever is registered, at whatever distance, before or after a change, a site does
# what its key says and can be changed, while the kernel optimises kprobes as it always does.
# JF_LONG=1: a minute of the storm.
. "$(dirname "$0")/../lib/lib.sh"

seconds=${JF_STORM_SECONDS:-5}
[ "${JF_LONG:-0}" = 0 ] || seconds=${JF_STORM_SECONDS:-60}
T=$JF_TRACEFS
LIST=/sys/kernel/debug/kprobes/list
SYSCTL=/proc/sys/debug/kprobes-optimization

jf_start "kprobes beside sites"
jf_has jf_beside || jf_skip_all "no jf_beside.ko: build selftests/modules"
[ -e $LIST ] || jf_skip_all "no kprobes in this kernel (CONFIG_KPROBES)"
optimises=1
if [ -e $SYSCTL ]; then
	if [ "$(cat $SYSCTL)" = 0 ]; then
		jf_on_exit "echo 0 >$SYSCTL"
		echo 1 >$SYSCTL
	fi
else
	optimises=0
	note "this kernel does not optimise kprobes (CONFIG_OPTPROBES)"
fi
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)

# ---- as a user would, through tracefs ----

P=/sys/module/jf_sample_key/parameters
said() { jf_log_new | grep -c 'jf_sample_key: sending'; }
on_events() { for e in x ${control:+control}; do echo 1 >$T/events/jfx/$e/enable || return 1; done; }
off_events() { for e in jfx/x jfx/control; do [ ! -e $T/events/$e ] || echo 0 >$T/events/$e/enable; done; }
# optimised PLACE: does the kernel say so?
optimised() { grep -F "  $1  " $LIST | grep -q OPTIMIZED; }
# control_optimised PLACE [TENTHS]: when the control is optimised, the optimiser has also decided about all that was
# enabled before it.
control_optimised()
{
	[ $optimises = 1 ] && [ -n "$1" ] || return 0
	i=0
	until optimised "$1"; do
		[ $i -lt "${2:-200}" ] || return 1
		sleep 0.1; i=$((i + 1))
	done
}

# find_control: a place in a function without sites that the kernel optimises, after endbr and the call that the
# function begins with.  Which instruction suits depends on the compiler.
find_control()
{
	for o in $(seq 5 64); do
		control=send_set+0x$(printf %x "$o")
		echo "p:jfx/control jf_sample_key:$control" 2>/dev/null >$T/kprobe_events || continue
		[ $optimises = 1 ] || return 0
		echo 1 >$T/events/jfx/control/enable
		jf_found=0
		control_optimised $control 30 && jf_found=1
		off_events
		echo >$T/kprobe_events
		[ $jf_found = 0 ] || return 0
	done
	return 1
}

if [ "$be" = indirect ]; then
	skip "kprobes through tracefs" "back end indirect lists no sites"
elif [ -w $T/kprobe_events ]; then
	jf_on_exit "off_events; echo >$T/kprobe_events"
	check "the sample loads" jf_insmod jf_sample_key
	site=$(sed -n 's/^[^+]* sample_send+\(0x[0-9a-f]*\)\/.*/\1/p' $JF/keys | head -n 1)
	check_match "its first site" "$site" '^0x'
	tried=0
	if grep -q 'clang version' /proc/version && ! find_control; then
		skip "a place elsewhere that is optimised" "the kernel optimises none in what clang makes of this function"
		control=''
	else
		check "a place elsewhere that is optimised" find_control
		note "it is $control"
	fi
	for d in 1 2 3 4; do
		at=sample_send+0x$(printf %x $((site - d)))
		for first in 0 1; do
			echo $first >$P/verbose
			# Registered at once; until it is enabled, it does nothing.  Not where no instruction begins.
			echo "p:jfx/x jf_sample_key:$at" 2>/dev/null >$T/kprobe_events || continue
			tried=$((tried + 1))
			[ -z "$control" ] || echo "p:jfx/control jf_sample_key:$control" >>$T/kprobe_events
			check "a probe at $at, verbose becomes $((1 - first))" sh -c "echo $((1 - first)) >$P/verbose"
			check "... the probe is enabled" on_events
			check "... and a probe elsewhere is optimised" control_optimised "$control"
			check_fails "... but not this one" optimised "$at"
			jf_log_mark
			echo 1 >$P/send
			check_eq "... and the site does what its key says" "$(said)" $((1 - first))
			check "... and becomes $first again" sh -c "echo $first >$P/verbose"
			jf_log_mark
			echo 1 >$P/send
			check_eq "... and does that" "$(said)" $first
			off_events
			echo >$T/kprobe_events
		done
	done
	check_match "there were places to try" $tried '^[1-9]'
	echo 0 >$P/verbose
	check "the sample unloads" jf_rmmod jf_sample_key
else
	skip "kprobes through tracefs" "no kprobe events in this kernel (CONFIG_KPROBE_EVENTS)"
fi

# ---- each kind of site, each distance ----

check "jf_beside loads" jf_insmod jf_beside seconds=$seconds optimises=$optimises
for c in before after cold tramps; do
	jf_cases jf_beside $c
done

# ---- trampolines with nothing in front of them, and while they are being loaded ----

jf_cases jf_beside coming
check "jf_onlytramp loads" jf_insmod jf_onlytramp
jf_cases jf_beside came
check "jf_onlytramp unloads" jf_rmmod jf_onlytramp

# ---- all at once ----

jf_log_mark
jf_cases jf_beside storm
log=$(jf_log_new | sed -n 's/.*jf_beside: storm: //p')
note "$log"
jf_count calls "$(echo "$log" | sed -n 's/^calls \([0-9]*\) .*/\1/p')"
jf_done
