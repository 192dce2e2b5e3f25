#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# JF_TIMEOUT=240
# A module is unloaded while a task sleeps in its target. What that task then executes in the module's text still
# follows changes: calls, branches, tracepoints, those of the module and those of others.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "the text of a module while it is being unloaded"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_leave || jf_skip_all "no jf_leave.ko: build selftests/modules"

# waits MODULE: until the notifier of jumpfunc waits for a task in that module
waits()
{
	jf_i=0
	until [ "$(cat /sys/module/"$1"/initstate)" = going ] || [ $((jf_i += 1)) -gt 100 ]; do sleep 0.1; done
	sleep 1
	[ -d /sys/module/"$1" ]
}

for b in ${JF_BACKEND:-$(jf_backends)}; do
	jf_load "backend=$b"
	check "$b: its caller" jf_insmod jf_leave
	check "$b: a function for it" jf_insmod jf_leave_offer
	check "$b: the module" insmod "$(jf_ko jf_leave_m)"
	jf_cases jf_leave enter "$b: "
	rmmod jf_leave_m &
	remover=$!
	check "$b: unloading it waits" waits jf_leave_m
	# What the module's notifiers told others to forget has been freed by then, and is used again.
	sleep 4
	check "$b: the target's module unloads meanwhile" jf_rmmod jf_leave_offer
	for c in change go_on; do jf_cases jf_leave $c "$b: "; done
	check "$b: the module unloads" wait $remover
	jf_cases jf_leave unloaded "$b: "
	check "$b: its caller unloads" jf_rmmod jf_leave
	jf_images_back "$b: all images are given back"
	check "$b: the core unloads" jf_unload
done
jf_done
