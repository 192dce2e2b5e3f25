#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a machine of its own, for all knobs; these are jumpfunc's, and lockdown is the same since 5.4
# JF_TIMEOUT=180
# JF_VM=-a jf.lockdown=test -c 2
# JF_ANY_BACKEND: it shows the same with each of them
# The knobs in /sys/kernel/jumpfunc take what the files of debugfs take, refuse what these refuse, and go
# on working when the kernel is locked down, which cannot be undone: hence a machine of its own.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "the knobs in sysfs, and kernel lockdown"
S=/sys/kernel/jumpfunc
jf_load

names=$(find $S -type f 2>/dev/null | sed 's,.*/,,' | sort | tr '\n' ' ')
check_eq "the knobs are there" "$names" "dispatch func0 func1 func2 func3 functions subscribers "
check_eq "each is root's alone" "$(stat -c '%a %u' $S/* | sort -u | tr '\n' ' ')" "200 0 600 0 "
for f in func0 func1 func2 func3 dispatch subscribers; do
	check_eq "$f has one value" "$(wc -l <$S/$f)" 1
done
check_eq "functions, a table, can be written only" "$(stat -c %a $S/functions)" 200

# ---- the same as in debugfs ----

for f in func0 func1 func2 func3 dispatch subscribers; do
	check_eq "$f shows what debugfs shows" "$(cat $S/$f)" "$(cat $JF/$f)"
done

# both FILE TEXT: what debugfs and sysfs say to it; each time to a fresh write of the same bytes
both()
{
	# shellcheck disable=SC2059
	printf "$2" >"$JF_TMP/cmd"
	in_debugfs=$(dd if="$JF_TMP/cmd" of=$JF/$1 bs=65536 conv=notrunc 2>&1 | sed -n '1s/.*: //p' | grep -v records)
	before=$(cat $JF/functions $JF/dispatch $JF/subscribers)
	in_sysfs=$(dd if="$JF_TMP/cmd" of=$S/$1 bs=65536 conv=notrunc 2>&1 | sed -n '1s/.*: //p' | grep -v records)
	check_eq "$1: '$2' gets the same answer" "$in_sysfs" "$in_debugfs"
	check_eq "... and leaves the same state" "$(cat $JF/functions $JF/dispatch $JF/subscribers)" "$before"
}
for t in 1 '2\n' 3 -1 '' '1 ' '1\0002' x; do both func2 "$t"; done
for t in chain off nonsense 'off off' '[off]'; do both dispatch "$t"; done
for t in 16 17 0 -1 1; do both subscribers "$t"; done
for t in 'func0=jf_func0_1' 'func0=jf_func0_2 func1=none' 'jumpfunc:func3=default' 'unknown=x' 'func0=jf_func1_1' '='; do
	both functions "$t"
done

# A page and more: no part of it may count as a command.
jf_write func2 0
{ printf 'func2=jf_func2_1'; head -c 5000 /dev/zero | tr '\0' ' '; printf 'func0=nonsense'; } >"$JF_TMP/long"
check_fails "a command longer than a page is refused" dd if="$JF_TMP/long" of=$S/functions bs=8192 conv=notrunc
check_eq "... and changes nothing" "$(jf_target func2)" 0

# What it shows can be written back.
jf_write func1 2; jf_write func3 1
cat $JF/targets >"$JF_TMP/saved"
check_match "targets shows targets" "$(cat $JF/targets)" '^jumpfunc:func1=jf_func1_2$'
jf_write functions "func1=default func3=default"
check "what targets shows can be written to functions" dd if="$JF_TMP/saved" of=$S/functions bs=4096 conv=notrunc
check_eq "... and brings that back" "$(jf_target func1)$(jf_target func3)" 21

# ---- files are added, and the module is unloaded while they are used ----

if jf_has jumpfunc_bench; then
	check "a module adds files to debugfs" jf_insmod jumpfunc_bench
	check_eq "... of which none is here" "$(find $S -type f | wc -l)" 7
	cat $JF/targets >"$JF_TMP/all"
	check_eq "targets has whole lines" "$(grep -cvE '^[a-z_0-9]+:[A-Za-z_0-9]+(#[0-9]+)?=[^ ]+$' "$JF_TMP/all")$(tail -c 1 "$JF_TMP/all" | tr '\n' .)" 0.
	check "... all of them, more than a page" [ "$(wc -c <"$JF_TMP/all")" -gt 4096 ]
	note "targets: $(wc -l <"$JF_TMP/all") lines, $(wc -c <"$JF_TMP/all") bytes"
	jf_rmmod jumpfunc_bench
fi
# Readers and writers while the module is unloaded: it waits for them, and they get an error.
beat() { while [ -e "$JF_TMP/beat" ]; do cat $S/func1; echo func1=jf_func1_2 >$S/functions; echo 1 >$S/func1; done >/dev/null 2>&1; }
touch "$JF_TMP/beat"
jf_run beat; jf_run beat
i=0
while [ $i -lt 10 ]; do
	jf_unload && jf_load || break
	i=$((i + 1))
done
rm "$JF_TMP/beat"
jf_stop_all
check_eq "the module can be unloaded and loaded while they are in use" $i 10

# ---- lockdown ----

lock=/sys/kernel/security/lockdown
[ -e $lock ] || mount -t securityfs securityfs /sys/kernel/security 2>/dev/null || true
if ! grep -q jf.lockdown=test /proc/cmdline || [ ! -e $lock ]; then
	skip "under lockdown" "needs a virtual machine of its own, with a stock kernel"
	jf_done
fi
jf_write dispatch off; jf_write subscribers 1; jf_write func2 0
echo integrity >$lock
check_match "the kernel is locked down" "$(cat $lock)" '\[integrity\]'
check_match "debugfs cannot be written" "$(jf_write func2 1)" 'not permitted'
check_fails "nor can what may be written be read" cat $JF/func2
check_match "what is read-only can" "$(jf_stat backend)" '^[a-z]+$'

check "a function is changed by sysfs" sh -c "echo 1 >$S/func2"
check_match "... and then calls another target" "$(cat $S/func2)" '^target 1: jf_func2_1\(7, 5\) = 35$'
check "functions are changed by their names" sh -c "echo 'func0=jf_func0_2 func3=jf_func3_1' >$S/functions"
check_match "... which shows" "$(cat $JF/targets | tr '\n' ' ')" 'jumpfunc:func0=jf_func0_2 .*jumpfunc:func3=jf_func3_1 '
check "the mode and the number of subscribers are changed" sh -c "echo 4 >$S/subscribers && echo chain >$S/dispatch"
before=$(jf_hits sched_switch chain)
sleep 1
check_match "... and its events are counted" $(($(jf_hits sched_switch chain) - before)) '^[1-9]'
echo off >$S/dispatch

if command -v hackbench >/dev/null; then
	check "hackbench-run.sh measures by them" sh "$JF_TOP/scripts/hackbench-run.sh" -g 1 -l 10 -r 1 -w 0 -m off,chain -s 2 \
		--no-perf -o "$JF_TMP/hackbench"
	check_match "... and finds that events are dispatched" "$(cat "$JF_TMP/hackbench/runs.csv")" '^1,chain,2,'
fi

jf_log_mark
check_match "an unsigned module is refused" "$(insmod "$(jf_ko jf_sample_key)" 2>&1)" 'not permitted'
check_match "... and the log says why" "$(jf_log_new)" 'unsigned module loading is restricted'
check "the module can be unloaded" jf_unload
check_fails "... which removes the knobs" test -e $S
jf_done
