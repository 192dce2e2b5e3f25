#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it shows the same with each of them
# JF_VM=-a trace_event=:mod:jf_sample_event
# JF_SINCE=6.14
# An event that the kernel's command line or set_event asks for before its module is loaded is on when it is.
. "$(dirname "$0")/../lib/lib.sh"

T=$JF_TRACEFS
E=$T/events/jf_sample

jf_start "trace_event=:mod:NAME on the kernel's command line"
grep -q 'trace_event=:mod:jf_sample_event' /proc/cmdline ||
	jf_skip_all "not on the kernel's command line, or this kernel does not know :mod: (before 6.14)"
jf_load
check_eq "the kernel remembers it" "$(grep -c 'mod:jf_sample_event' $T/set_event)" 1
check "the sample loads" jf_insmod jf_sample_event
jf_on_exit "echo 0 >$E/enable; echo >$T/trace"
check_eq "all of its events are on" "$(cat $E/jf_*/enable | xargs)" "1 1 1"
check_eq "and were when its init function was called" "$(grep -c ' jf_sample_rx: ' $T/trace)" 3
check "it unloads with its events on" jf_rmmod jf_sample_event
echo 'jf_sample:jf_sample_drop:mod:jf_sample_event' >$T/set_event
check "the sample loads again" jf_insmod jf_sample_event
check_eq "the event that set_event asked for is on" "$(cat $E/jf_*/enable | xargs)" "1 0 0"
check "it unloads" jf_rmmod jf_sample_event
echo >$T/set_event
check "the core unloads" jf_unload
jf_done
