#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it goes through them itself
# Who may do what: modules that may call a dynamic function and not change it, dynamic functions of
# one file, targets whose module is kept, and targets that are nobody's text.
. "$(dirname "$0")/../lib/lib.sh"

line() { grep "^$1 " $JF/functions; }

jf_start "who may call, who may change"
jf_has jf_access_user || jf_skip_all "no jf_access_user.ko: build selftests/modules"
for b in ${JF_BACKEND:-auto xmc kernel indirect}; do
	jf_load "backend=$b"
	check "$b: the module that defines them" jf_insmod jf_access
	for c in local foreign; do jf_cases jf_access $c "$b: "; done

	check "$b: one that may only call" jf_insmod jf_access_user
	[ "$b" = indirect ] ||
		check_match "$b: its inline sites are known" "$(sed -n '/^access_call /,/^[^ ]/p' $JF/functions)" \
			'^  call .*\[jf_access_user\]'
	for c in one two one; do
		jf_cases jf_access $c "$b: "
		jf_cases jf_access_user $c "$b: "
	done
	jf_cases jf_access guest "$b: "
	check "$b: not pinned, it goes" jf_rmmod jf_access_user
	check_match "$b: what led there fell back" "$(line access_open)" '^access_open jf_access [^ ]* one '
	[ "$b" = indirect ] || jf_cases jf_access freed "$b: "

	check "$b: the same, pinned" jf_insmod jf_access_user pin=1
	check_match "$b: that is shown" "$(line access_open)" ' pinned$'
	check_fails "$b: it does not go" rmmod jf_access_user
	jf_cases jf_access guest "$b: "
	jf_cases jf_access back "$b: "
	check_eq "$b: nothing is pinned any more" "$(grep -c ' pinned$' $JF/functions)" 0
	check "$b: now it goes" jf_rmmod jf_access_user
	check "$b: the defining module goes" jf_rmmod jf_access
	check "$b: the core goes" jf_unload
done
jf_done
