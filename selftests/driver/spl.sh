#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# OpenZFS' module spl, whose probes are those of its sources, built with selftests/driver/zfs/sys/trace.h.
# harness/check-driver -z builds it and starts this in a virtual machine.
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/module/spl/parameters
tasks() { echo "$1" >$P/jf_tasks; }
counts() { sed 's/ strange .*//' $P/jf_counts; }
probes() { jf_write probes "$1"; }
states() { awk '/^zfs:spl:/ {print $2}' $JF/probes | sort | uniq -c | awk '{printf "%s%s %s", sep, $1, $2; sep = ", "}'; }

jf_start "OpenZFS' spl with its own probes"
jf_patching || jf_skip_all "$JF_NO_PATCHING"
jf_load
check "spl loads" jf_insmod spl
grep '^zfs:' $JF/probes | sed 's/^/# /'
check_eq "its probes are there, and off" "$(states)" "5 off"
check "tasks" tasks 100
check_eq "... are not told" "$(counts)" "done 100 birth 0 start 0 finish 0"
n=$(jf_stat sync_broadcasts)
check "all are enabled" probes "+zfs:spl:*:*"
check_eq "... with three broadcasts" "$(($(jf_stat sync_broadcasts) - n))" 3
check_eq "... and are on" "$(states)" "5 on"
check "tasks" tasks 1000
check_eq "... are told, each three times" "$(counts)" "done 1100 birth 1000 start 1000 finish 1000"
check "one is disabled" probes "-zfs:spl:*:taskq_ent__start"
check "tasks" tasks 10
check_eq "... are told by the others" "$(counts)" "done 1110 birth 1010 start 1000 finish 1010"
check "all are disabled" probes "-zfs:*:*:*"
check "tasks" tasks 10
check_eq "... are not told" "$(counts)" "done 1120 birth 1010 start 1000 finish 1010"
check "all are enabled once more" probes "+zfs:*:*:*"
check "it unloads with its probes enabled" jf_rmmod spl
jf_done
