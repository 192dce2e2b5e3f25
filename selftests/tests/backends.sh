#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# Each back end can be asked for, says that it is in force, and does the job.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "back ends"
for b in auto xmc indirect kernel; do
	if [ $b = kernel ] || { [ $b = xmc ] && ! jf_patching; }; then
		# Not every kernel, nor every build, has it: then it must say so, not pretend.
		if ! jf_insmod jumpfunc backend=$b 2>"$JF_TMP/err"; then
			if jf_log | grep -qE 'jumpfunc: .*(back ?end|kernel)'; then
				skip "back end $b" "refused, with a message: $(jf_log | grep jumpfunc: | tail -n 1 | sed 's/.*jumpfunc: //')"
			else
				fail "back end $b is refused with a message" "$(cat "$JF_TMP/err")"
			fi
			continue
		fi
	else
		jf_load backend=$b
	fi
	check_eq "the parameter says $b" "$(cat /sys/module/jumpfunc/parameters/backend)" $b
	check_eq "the parameter is read-only" "$(stat -c %a /sys/module/jumpfunc/parameters/backend)" 444
	now=$(jf_stat backend)
	[ $b != auto ] || jf_patching || check_eq "auto means indirect" "$now" indirect
	[ $b = auto ] || check_eq "stats says $b" "$now" $b
	check_match "the log names it" "$(jf_log | grep 'jumpfunc: ')" "back end .*$now"
	for t in 1 2 0; do
		check "$b: func2 takes $t" jf_write func2 $t
		check_match "$b: func2 runs $t" "$(jf_call 2)" "^$t "
	done
	bytes=$(grep -A 1 '^func2 ' $JF/functions | awk '/tramp/ {print $4}')
	jf_write func2 1
	after=$(grep -A 1 '^func2 ' $JF/functions | sed -n 's/.*\]  \([0-9a-f ]*\)  .*/\1/p')
	jf_write func2 2
	again=$(grep -A 1 '^func2 ' $JF/functions | sed -n 's/.*\]  \([0-9a-f ]*\)  .*/\1/p')
	if [ "$now" = indirect ]; then
		check_eq "indirect writes no text" "$again" "$after"
		check_eq "indirect patches no site" "$(jf_stat sites_patched)" 0
	else
		if [ "$again" != "$after" ]; then
			pass "$now writes text: $after, then $again"
		else
			fail "$now writes text" "the bytes of func2 stayed '$after'"
		fi
	fi
	jf_unload
done
jf_done
