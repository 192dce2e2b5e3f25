#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: tasks that exit are noted in the same way with each of them
# JF_TIMEOUT=60
# A task that has exited is freed, with its credentials, name spaces and cgroup, soon after its stack
# is freed: on CPUs where no other task exits, and without a quiesce.
#
# Seen to fail where only the eighth exit of a CPU, or a quiesce, dropped such tasks (6.1, 7.2).
. "$(dirname "$0")/../lib/lib.sh"

NS=/proc/sys/user/max_user_namespaces
C=$JF_TMP/cgroup

jf_start "tasks that have exited are freed"
[ -w $NS ] || jf_skip_all "this kernel has no user name spaces"
unshare -U true 2>/dev/null || jf_skip_all "no unshare that makes a user name space"

# Those of tasks before this one are freed first.
sleep 1
max=$(cat $NS)
jf_on_exit "echo $max >$NS"

# spaces PAUSE: twenty children, one after the other, each in a user name space of its own, of which there may
# be three at a time; how many children got none
spaces()
{
	jf_none=0
	echo 3 >$NS
	for jf_i in $(seq 20); do
		unshare -U true 2>>"$JF_TMP/unshare" || jf_none=$((jf_none + 1))
		sleep "$1"
	done
	echo "$max" >$NS
	echo $jf_none
}

mkdir -p "$C"
cgroups=0
if mount -t cgroup2 none "$C" 2>/dev/null; then
	jf_on_exit "umount $C"
	[ ! -e "$C/cgroup.stat" ] || cgroups=1
fi
# In the shell alone: reading must not make a process exit, since that might be when others are dropped.
dying()
{
	while read -r jf_key jf_value; do
		[ "$jf_key" != nr_dying_descendants ] || jf_dying=$jf_value
	done <"$C/cgroup.stat"
}
# some_cgroups WHEN: makes three, each with a child, and removes them when the child has exited
some_cgroups()
{
	[ $cgroups = 1 ] || { skip "$1: removed cgroups" "no cgroup2 here"; return; }
	dying
	jf_were=$jf_dying
	for jf_i in 1 2 3; do
		mkdir "$C/jf$jf_i"
		sh -c "echo \$\$ >'$C/jf$jf_i/cgroup.procs'; exit 0"
		rmdir "$C/jf$jf_i" || fail "$1: cgroup $jf_i is removed"
	done
	sleep $((3 * ${JF_SLOW_KERNEL:-1}))
	dying
	check_eq "$1: removed cgroups are freed" "$jf_dying" "$jf_were"
}

# How long the kernel alone takes: without that, the rest would mean nothing.
for pause in 0.05 0.1 0.2 0.4 none; do
	[ "$(spaces $pause)" != 0 ] || break
done
if [ $pause = none ]; then
	skip "user name spaces" "this kernel takes its time to free them"
else
	note "it takes a pause of $pause s between children"
fi
# some_spaces WHEN
some_spaces() { [ $pause = none ] || check_eq "$1: twenty children, each with a user name space" "$(spaces $pause)" 0; }

some_cgroups "without jumpfunc"
jf_load
some_spaces "loaded"
some_cgroups "loaded"
# A storm of exits, whose last ones are on each CPU.
for i in $(seq 100); do true & done
wait
some_cgroups "after many exits"
some_spaces "after many exits"
check "jumpfunc unloads" jf_unload
some_cgroups "unloaded"
jf_done
