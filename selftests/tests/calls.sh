#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ARM64: what a call is there
# What a call of a dynamic function means in C: arguments, results, registers, NULL and RET0, all
# forms of calls, __init and __exit text.  The same with text that is patched and with pointers.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "calls mean in every form what C says"

for be in ${JF_BACKEND:-auto} indirect; do
	jf_load backend=$be
	be=$(cat /sys/module/jumpfunc/parameters/backend)
	check "$be: jf_calls loads" jf_insmod jf_calls
	before=$(awk '$1 == "calls_init" {print $NF}' $JF/functions)
	jf_cases jf_calls all "$be: "
	if [ "$be" != indirect ]; then
		check_eq "$be: a site in __init text is forgotten with it" "$before" 1
		check_eq "$be: functions lists inline sites" "$(grep -cE '^  call .* leaf[.a-z0-9]*\+0x' $JF/functions)" 1
	fi
	jf_log_mark
	check "$be: jf_calls unloads" jf_rmmod jf_calls
	check_match "$be: a site in __exit text calls the present target" "$(jf_log_new)" 'exit text: 12$'
	check "$be: jumpfunc unloads" jf_unload
done

# A back end that is not there must not pass for one that is.
check_fails "an unknown back end is refused" insmod "$(jf_ko jumpfunc)" backend=nonsense
jf_done
