#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# Permissions: modules that may call a dynamic function and not change it, dynamic functions of
# one file, targets whose module is kept, and targets that belong to no module.
. "$(dirname "$0")/../lib/lib.sh"

line() { grep "^$1 " $JF/functions; }

# generated KIND NAME: text of that name that the kernel generated, as a target
generated()
{
	jf_a=$(awk -v n="^$2" '$3 ~ n && $4 ~ /^\[(bpf|__builtin__.*)\]$/ {print $1; exit}' /proc/kallsyms)
	if [ -z "$jf_a" ]; then
		skip "$b: $1" "/proc/kallsyms has no $2"
		return
	fi
	echo "0x$jf_a" >/sys/module/jf_access/parameters/generated
	jf_cases jf_access generated "$b: $1: "
}

# The kernel keeps a copy of the instruction below a kprobe, in pages that have a symbol in /proc/kallsyms alone.
T=$JF_TRACEFS
kprobe()
{
	for o in 5 9; do
		echo "p:jfaccess/back jf_access:case_back+$o" >>$T/kprobe_events && return
	done 2>/dev/null
}
kprobe_off() { echo '-:jfaccess/back' >>$T/kprobe_events; }

jf_start "modules that may call, modules that may change"
jf_has jf_access_user || jf_skip_all "no jf_access_user.ko: build selftests/modules"

# A program of BPF, compiled, of which the kernel knows the name; it stays until the test has ended.
jit=/proc/sys/net/core/bpf_jit_kallsyms
has_bpf() { grep -q "bpf_prog_.*\[bpf\]$" /proc/kallsyms; }
if jf_tool bpf_rawtp && [ -w $jit ]; then
	was=$(cat $jit)
	jf_on_exit "echo $was >$jit"
	echo 1 >$jit
	mkfifo "$JF_TMP/hold"
	exec 9<>"$JF_TMP/hold"
	bpf_rawtp sched_switch cat "$JF_TMP/hold" 9>&- >"$JF_TMP/bpf" 2>&1 &
	jf_until 100 has_bpf || note "no program of BPF: $(cat "$JF_TMP/bpf")"
fi
for b in ${JF_BACKEND:-$(jf_backends)}; do
	jf_load "backend=$b"
	check "$b: the module that defines them" jf_insmod jf_access
	for c in local foreign; do jf_cases jf_access $c "$b: "; done
	shown=$(grep ':access_local' $JF/targets)
	check_eq "$b: two of one name in one module are told apart" "$(echo "$shown" | sed 's/=.*//' | tr '\n' ' ')" \
		"jf_access:access_local#1 jf_access:access_local#2 "
	check "$b: ... and what is shown can be written" jf_write functions "$shown"
	check "$b: ... each by itself" jf_write functions "jf_access:access_local#2=two access_local#1=one"
	check_eq "$b: ... and has what was written" "$(awk '/^access_local#/ {print $1, $4}' $JF/functions | tr '\n' ' ')" \
		"access_local#1 one access_local#2 two "
	jf_log_mark
	check_fails "$b: ... but not by the name alone" jf_write functions "jf_access:access_local=two"
	check_match "$b: ... and the log says how" "$(jf_log_new)" "module:name#1"
	check_fails "$b: ... nor by a rank that there is not" jf_write functions "jf_access:access_local#3=two"
	check "$b: ... back" jf_write functions "access_local#1=default access_local#2=default"

	generated "a program of BPF" bpf_prog_
	if kprobe; then
		generated "a copy for a kprobe" kprobe_insn_page
		kprobe_off
	else
		skip "$b: a copy for a kprobe" "no kprobe after the entry of a function"
	fi

	check "$b: one that may only call" jf_insmod jf_access_user
	[ "$b" = indirect ] ||
		check_match "$b: its inline sites are known" "$(sed -n '/^access_call /,/^[^ ]/p' $JF/functions)" \
			'^  call .*\[jf_access_user\]'
	for c in one two one; do
		jf_cases jf_access $c "$b: "
		jf_cases jf_access_user $c "$b: "
	done
	jf_cases jf_access guest "$b: "
	check "$b: not pinned, it unloads" jf_rmmod jf_access_user
	check_match "$b: what led there fell back" "$(line access_open)" '^access_open jf_access [^ ]* one '
	[ "$b" = indirect ] || jf_cases jf_access freed "$b: "

	check "$b: the same, pinned" jf_insmod jf_access_user pin=1
	check_match "$b: that is shown" "$(line access_open)" ' pinned$'
	check_fails "$b: it does not unload" rmmod jf_access_user
	jf_cases jf_access guest "$b: "
	jf_cases jf_access back "$b: "
	check_eq "$b: nothing is pinned any more" "$(grep -c ' pinned$' $JF/functions)" 0
	check "$b: now it unloads" jf_rmmod jf_access_user
	check "$b: the defining module unloads" jf_rmmod jf_access
	check "$b: the core unloads" jf_unload
done
jf_done
