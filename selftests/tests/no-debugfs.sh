#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: a machine of its own; what is said without debugfs is decided by our sources
# JF_VM=-a debugfs=off
# JF_ANY_BACKEND: nothing is patched
# Without debugfs jumpfunc says so once, and the files in sysfs work.
#
# Seen to fail (6.1) while it had a line of the log for each file, none of which named debugfs=off.
JF_NO_DEBUGFS=1
. "$(dirname "$0")/../lib/lib.sh"

K=/sys/kernel/jumpfunc
jf_start "a kernel without debugfs"
grep -qw debugfs=off /proc/cmdline || jf_skip_all "this machine was not booted with debugfs=off"

jf_log_mark
check "jumpfunc loads" jf_insmod jumpfunc
jf_log_new >"$JF_TMP/log"
check_match "the log says why there are no files" "$(cat "$JF_TMP/log")" "jumpfunc: no folder in debugfs .*debugfs=off"
check_eq "... in one line" "$(grep -c 'debugfs\|no file' "$JF_TMP/log")" 1
check "functions are changed by sysfs" sh -c "echo func2=jf_func2_1 >$K/functions"
check_match "... and then call another target" "$(cat $K/func2)" '^target 1: '
jf_log_mark
check "jumpfunc unloads" jf_unload
check_eq "... and says nothing of files" "$(jf_log_new | grep -c 'debugfs\|no file')" 0
jf_done
