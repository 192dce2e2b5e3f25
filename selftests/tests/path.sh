#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: it is about the sources, not about the kernel
# The path of `echo 1 > func2` in docs/design.md: the kernel's function tracer sees the functions that it names, in
# that order.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "the path of a command, as docs/design.md has it"
[ -e "$JF_TOP/docs/design.md" ] || jf_bail "the document is there" "none in $JF_TOP"
grep -qw function "$JF_TRACEFS/available_tracers" 2>/dev/null || jf_skip_all "no function tracer in this kernel"
jf_load

# From "For example, `echo 1 > func2`" to the end of the paragraph.
named=$(awk '/^For example, `echo 1 > func2`/ {on = 1} !NF {on = 0} on' "$JF_TOP/docs/design.md" |
	grep -o '`[a-z_0-9]*()`' | tr -d '`()')
check_match "the document names functions" "$(echo "$named" | wc -l)" '^([6-9]|1[0-9])$'

echo ':mod:jumpfunc' >"$JF_TRACEFS/set_ftrace_filter"
echo function >"$JF_TRACEFS/current_tracer"
echo 1 >$JF/func2
echo 0 >"$JF_TRACEFS/tracing_on"
sed -n 's/^[^#].*: \([a-z_0-9]*\) <-.*/\1/p' "$JF_TRACEFS/trace" >"$JF_TMP/seen"
echo nop >"$JF_TRACEFS/current_tracer"
echo >"$JF_TRACEFS/set_ftrace_filter"
echo 1 >"$JF_TRACEFS/tracing_on"
sed 's/^/# saw: /' "$JF_TMP/seen"

line=0
for f in $named; do
	at=$(awk -v f="$f" -v after=$line '$0 == f && NR > after {print NR; exit}' "$JF_TMP/seen")
	check_match "$f() is called, after the function before" "$at" '^[0-9]+$'
	line=${at:-$line}
done
jf_done
