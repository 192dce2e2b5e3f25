#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_VM=--with objcopy --with nm
# JF_ANY_BACKEND: which tasks are searched for, and how, is the same with each of them
# JF_TIMEOUT=90
# What belongs to a function is found although names do not tell: in a module that was stripped, or whose own
# name has a plus sign, or where the function has two names.
#
# Seen to fail with the code broken on purpose (6.1):
#   a plus sign in a module's name ends a symbol's	plus: the quiesce does not wait for the task inside
# Not seen: that unnamed pieces of a stripped module belong to no function. This one keeps so few names that the
# look-up counts the part as the target's; KUnit has names in between.
. "$(dirname "$0")/../lib/lib.sh"

H=/sys/kernel/debug/jf_hide
hide() { awk -v n="$1" '$1 == n {print $2}' $H/state; }
hide_do() { echo "$*" >$H/do; }
inside() { [ "$(hide inside)" -ge 1 ]; }
all_left() { [ "$(hide walkers)" = 0 ]; }

jf_start "parts without names"
jf_scanning || jf_skip_all "$JF_NO_SCAN"
jf_has jf_hide || jf_skip_all "no jf_hide.ko: build selftests/modules"
jf_load
jf_insmod jf_hide || jf_bail "jf_hide loads"
jf_on_exit "echo open >$H/do"

# stays_in_part WHAT MODULE: a task is in a part of that module's target, and is waited for
stays_in_part()
{
	check "$1: a task is in there" jf_until 100 inside
	hide_do pass
	hide_do quiesce 2000 2>"$JF_TMP/quiesce" || true
	check_match "$1: jf_quiesce_timeout() gives up" "$(cat "$JF_TMP/quiesce")" 'timed out'
	check "$1: ... while the task is inside" inside
	hide_do open
	check "$1: it does not, when the task has left" hide_do quiesce 20000
	jf_until 100 all_left
	check "$1: the module unloads" rmmod "$2"
}

# ---- names are taken away ----

cp "$(jf_ko jf_hide_m)" "$JF_TMP/jf_hide_m.ko"
if command -v objcopy >/dev/null && objcopy --strip-unneeded "$JF_TMP/jf_hide_m.ko" 2>"$JF_TMP/objcopy"; then
	if insmod "$JF_TMP/jf_hide_m.ko" way=part 2>"$JF_TMP/insmod"; then
		check_eq "stripped: no part has a name" "$(grep -c 'hide_part.*\[jf_hide_m\]' /proc/kallsyms)" 0
		hide_do shut
		hide_do site
		stays_in_part stripped jf_hide_m
	else
		fail "stripped: it loads" "$(cat "$JF_TMP/insmod")"
	fi
else
	skip "stripped" "no objcopy: $(cat "$JF_TMP/objcopy" 2>/dev/null)"
fi

# ---- a second name ----

# The look-up finds one of them, and the parts have the other one.
at=$(nm "$(jf_ko jf_hide_m)" 2>/dev/null | awk '$3 == "hide_part" {print $1}')
if [ "$at" ] && objcopy --redefine-sym hide_part=hide_also \
	--add-symbol "hide_part=.text:0x$at,local,function" "$(jf_ko jf_hide_m)" "$JF_TMP/alias.ko" 2>"$JF_TMP/objcopy" &&
	insmod "$JF_TMP/alias.ko" way=part 2>"$JF_TMP/insmod"; then
	check_eq "alias: the target has two names" \
		"$(grep -c ' hide_\(also\|part\)[[:space:]]*\[jf_hide_m\]' /proc/kallsyms)" 2
	hide_do shut
	hide_do site
	stays_in_part alias jf_hide_m
else
	skip "alias" "no such module can be had: $(cat "$JF_TMP/objcopy" "$JF_TMP/insmod" 2>/dev/null)"
fi

# ---- a plus sign ----

# The name is in the module itself, and what is as long as it can stand for it.
sed 's/jf_hide_m/jf+hide_m/g' "$(jf_ko jf_hide_m)" >"$JF_TMP/plus.ko"
if [ "$(wc -c <"$JF_TMP/plus.ko")" = "$(wc -c <"$(jf_ko jf_hide_m)")" ] &&
	insmod "$JF_TMP/plus.ko" way=part 2>"$JF_TMP/insmod" && grep -q '^jf+hide_m ' /proc/modules; then
	hide_do shut
	hide_do site
	stays_in_part plus jf+hide_m
else
	skip "plus" "no such module can be had: $(cat "$JF_TMP/insmod")"
fi
check "jf_hide unloads" jf_rmmod jf_hide
jf_done
