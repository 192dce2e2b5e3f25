#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=120
# Stack traces that begin in a branch, or in the out-of-line test of a site that is not patched,
# name the right functions, and the unwinder needs no guess.
#
# Seen to fail with the code broken on purpose:
#   branch_x86.h with the test in .altinstr_aux, back end indirect	bad_unwinds
. "$(dirname "$0")/../lib/lib.sh"

T=/sys/kernel/debug/jf_keytrace
result() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' $T; }

jf_start "jump labels: stack traces from inside of branches"
jf_x86 || jf_has jf_keytrace || jf_skip_all "the unwinder of x86 is what this asks"
jf_has jf_keytrace || jf_skip_all "no jf_keytrace.ko: build selftests/modules"
jf_load
if ! jf_insmod jf_keytrace 2>"$JF_TMP/err"; then
	grep -q 'not supported' "$JF_TMP/err" && jf_skip_all "no ORC unwinder in this kernel"
	jf_bail "jf_keytrace loads" "$(cat "$JF_TMP/err")"
fi
n=100
[ -z "${JF_LONG:-}" ] || n=10000
check "$n samples with the key off, on, and changing" sh -c "echo $n >$T"
note "$(cat $T)"
check_eq "samples" "$(result samples)" $((3 * n))
for r in bad_frames bad_unwinds bad_own; do
	check_eq "$r" "$(result $r)" 0
done
check_match "traces by the thread itself" "$(result own_traces)" '^[1-9]'
check_match "samples in the function" "$(result in_inner)" '^[1-9]'
# Where nothing is patched, every branch executes its test.
[ "$(jf_stat backend)" != indirect ] ||
	check_match "samples in the out-of-line test" "$(result in_test)" '^[1-9]'
check "the thread's module unloads" jf_rmmod jf_keytrace
jf_done
