#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it goes through them itself
# JF_TIMEOUT=240
# A module is unloaded while a task sleeps in its target. What that task comes upon afterwards, in the text
# of the module, still follows changes: calls, branches, tracepoints, its own and those of others.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "the rest of a module that goes"
jf_patching || jf_skip_all "stacks cannot be looked at on this architecture"
jf_has jf_leave || jf_skip_all "no jf_leave.ko: build selftests/modules"

# waits MODULE: until the notifier of jumpfunc waits for somebody in that module
waits()
{
	jf_i=0
	until [ "$(cat /sys/module/"$1"/initstate)" = going ] || [ $((jf_i += 1)) -gt 100 ]; do sleep 0.1; done
	sleep 1
	[ -d /sys/module/"$1" ]
}

for b in ${JF_BACKEND:-auto xmc kernel indirect}; do
	jf_load "backend=$b"
	check "$b: who calls it" jf_insmod jf_leave
	check "$b: a function for it" jf_insmod jf_leave_offer
	check "$b: the module" insmod "$(jf_ko jf_leave_m)"
	jf_cases jf_leave enter "$b: "
	rmmod jf_leave_m &
	gone=$!
	check "$b: unloading it waits" waits jf_leave_m
	# What others were told to forget has been freed by then, and is used again.
	sleep 4
	check "$b: what it led to goes meanwhile" jf_rmmod jf_leave_offer
	for c in change go_on; do jf_cases jf_leave $c "$b: "; done
	check "$b: the module goes" wait $gone
	jf_cases jf_leave gone "$b: "
	check "$b: who calls it goes" jf_rmmod jf_leave
	jf_images_back "$b: all images are given back"
	check "$b: the core goes" jf_unload
done
jf_done
