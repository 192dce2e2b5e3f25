#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# Keys that are changed where the usual calls are not allowed: from CPU hotplug callbacks while CPUs
# go offline and online and others change text; and later, by work that is still queued when its module is unloaded.
. "$(dirname "$0")/../lib/lib.sh"

H=/sys/kernel/debug/jf_keyhot/check
C=/sys/devices/system/cpu
rounds=3 loads=6
[ -z "${JF_LONG:-}" ] || rounds=100 loads=100

# others: text changes by the usual way, all the time
others()
{
	while [ -e $JF/func2 ]; do
		for jf_t in 0 1 2; do echo $jf_t >$JF/func2 2>/dev/null || true; done
	done
}

# consistent: the key has as many users as there are CPUs, and nothing went wrong
consistent()
{
	# shellcheck disable=SC2046 # three numbers
	set -- $(cat $H)
	echo "$1 CPUs, count $2, $3 bad"
	[ "$1" = "$2" ] && [ "$3" = 0 ]
}

cpu_round()
{
	for jf_c in $cpus; do
		echo 0 >$C/cpu"$jf_c"/online && consistent || return
	done
	for jf_c in $cpus; do
		echo 1 >$C/cpu"$jf_c"/online && consistent || return
	done
}

jf_start "keys, from hotplug callbacks and later"
jf_has jf_keyhot || jf_skip_all "no jf_keyhot.ko: build selftests/modules"
jf_load
cpus=$(for c in "$C"/cpu[1-9]*; do [ ! -e "$c/online" ] || echo "${c#"$C"/cpu}"; done)
if [ -n "$cpus" ]; then
	check "callbacks for all CPUs" jf_insmod jf_keyhot
	check "one user for each" consistent
	jf_on_exit "for c in $(printf "%s " $cpus); do echo 1 >$C/cpu\$c/online; done"
	jf_run others
	i=0
	while [ $i -lt $rounds ]; do
		i=$((i + 1))
		check "CPUs go offline and online, round $i" cpu_round
	done
	jf_stop_all
	check "the module with the callbacks unloads" jf_rmmod jf_keyhot
else
	skip "keys from hotplug callbacks" "no CPU can go offline"
fi

i=0
while [ $i -lt $loads ]; do
	jf_insmod jf_keylate || break
	# Sooner and later: before the work runs, while it does, after some of it.
	[ $((i % 3)) = 0 ] || sleep 0.0$((i % 3 * 3))
	jf_rmmod jf_keylate || break
	i=$((i + 1))
done >"$JF_TMP/loads" 2>&1
check_eq "$loads modules unload with work pending" "$i" "$loads"
sleep 1
check_eq "nothing went wrong then" "$(jf_log | grep 'BAD')" ""
check "the core unloads" jf_unload
jf_done
