#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a storm; retarget.sh has the short one
# JF_TIMEOUT=420
# JF_TIMEOUT_LONG=3600
# Batches of up to 5,000 sites, all or nothing, three broadcasts each; and a storm: batches of any
# size while threads, timer interrupts and NMIs call on all CPUs.  JF_LONG=1: a minute for each back
# end, else some seconds for one.
. "$(dirname "$0")/../lib/lib.sh"

backends=${JF_BACKEND:-xmc} seconds=${JF_STORM_SECONDS:-8}
if [ "${JF_LONG:-0}" = 1 ]; then
	backends=${JF_BACKEND:-xmc auto kernel} seconds=${JF_STORM_SECONDS:-60}
fi
jf_start "batches, and a storm of them for $seconds s"

jf_x86 || jf_has jf_many_sites || jf_skip_all "its sites are x86 instructions: retarget.sh has the storm for it"

preempt=/sys/kernel/debug/sched/preempt
mode=$(sed -n 's/.*(\(.*\)).*/\1/p' $preempt 2>/dev/null) || true
[ -z "$mode" ] || jf_on_exit "echo $mode >$preempt"
# preempt_as MODE: if this kernel has it
preempt_as()
{
	case " $(tr -d '()' <$preempt 2>/dev/null) " in
	*" $1 "*) echo "$1" >$preempt ;;
	esac
}

# load_and_unload: a target's module; says how often in the file "loads"
load_and_unload()
{
	jf_n=0
	jf_say='times'
	until [ -e "$JF_TMP/enough" ]; do
		insmod "$(jf_ko jf_plain)" && rmmod jf_plain || { jf_say='times, then it failed'; break; }
		jf_n=$((jf_n + 1))
	done
	echo "$jf_n $jf_say" >"$JF_TMP/loading"
	mv "$JF_TMP/loading" "$JF_TMP/loads"
}

for be in $backends; do
	jf_load backend=$be
	# One site after the other, the kernel's protocol takes minutes for 5,000 in an emulator.
	funcs=5
	[ $be != kernel ] || funcs=3
	jf_difference sync_broadcasts check "$be: a module with 5,000 sites loads" \
		jf_insmod jf_many_sites seconds=$seconds storm_funcs=$funcs
	case $be in
	xmc|auto) check_eq "$be: one broadcast before its text is run" $jf_diff 1 ;;
	kernel) check_eq "$be: three broadcasts for each of its sites" $jf_diff 15015 ;;
	indirect) check_eq "$be: nothing is broadcast as it loads" $jf_diff 0 ;;
	esac
	[ $be = indirect ] || jf_cases jf_many_sites layout "$be: "
	all="all_1 all_0"
	if [ $be = kernel ] && [ "${JF_LONG:-0}" = 0 ]; then
		skip "$be: 5,005 sites in one batch" "takes minutes; make stress does it"
		all=''
	fi
	for c in $all; do
		jf_difference sync_broadcasts jf_cases jf_many_sites $c "$be: "
		case $be in
		xmc|auto) check_eq "$be: 5,005 sites in one batch take three broadcasts" $jf_diff 3 ;;
		kernel) check_eq "$be: 5,005 sites take three broadcasts each" $jf_diff 15015 ;;
		indirect) check_eq "$be: nothing is broadcast" $jf_diff 0 ;;
		esac
	done
	jf_difference sync_broadcasts jf_cases jf_many_sites all_0 "$be: again, "
	check_eq "$be: a batch that changes nothing takes none" $jf_diff 0
	if [ $be != indirect ]; then
		jf_difference sync_broadcasts jf_cases jf_many_sites one_bad "$be: "
		check_eq "$be: a batch that is refused takes none" $jf_diff 0
	fi

	jf_log_mark
	hits=$(jf_stat int3_hits)
	jf_cases jf_many_sites storm "$be: "
	hits=$(($(jf_stat int3_hits) - hits))
	log=$(jf_log_new | sed -n 's/.*jf_many_sites: //p')
	note "$be: $log"
	# shellcheck disable=SC2046
	jf_count calls $(jf_many_calls "$log")
	note "$be: INT3 hits $hits, longest window $(($(jf_stat window_ns_max) / 1000)) us, $(($(jf_stat by_xmc))) transactions by xmc, $(jf_stat by_kernel) by the kernel"
	# The kernel's protocol answers its own.
	case $be in
	xmc|auto) check_match "$be: CPUs ran into INT3s" "$hits" '^[1-9]' ;;
	esac

	# The same beside threads that let others run by cond_resched() alone, while a target's module
	# is loaded and unloaded.
	preempt_as voluntary
	check "$be: busy threads" jf_insmod jf_busy
	check "$be: jf_host loads" jf_insmod jf_host
	echo start >/sys/kernel/debug/jf_host/run
	load_and_unload &
	pid=$!
	jf_log_mark
	jf_cases jf_many_sites storm "$be: beside busy threads, "
	log=$(jf_log_new | sed -n 's/.*jf_many_sites: //p')
	note "$be: $log"
	# shellcheck disable=SC2046
	jf_count calls $(jf_many_calls "$log")
	# The last round is finished, unless a thread delays it.
	touch "$JF_TMP/enough"
	i=0
	while [ $i -lt 300 ] && [ ! -e "$JF_TMP/loads" ]; do sleep 0.2; i=$((i + 1)); done
	check "$be: beside them, a target was loaded and unloaded" [ -e "$JF_TMP/loads" ]
	check_match "$be: they were at work" "$(cat /sys/module/jf_busy/parameters/rounds)" '^[1-9][0-9][0-9]'
	check "$be: they end" jf_rmmod jf_busy
	wait $pid
	check_match "$be: ... without trouble" "$(cat "$JF_TMP/loads")" '^[1-9][0-9]* times$'
	note "$be: a target was loaded and unloaded $(cat "$JF_TMP/loads"); $(grep -E '^look' $JF/stats | tr '\n' ' ')"
	rm -f "$JF_TMP/enough" "$JF_TMP/loads"
	jf_cases jf_host callers "$be: beside busy threads, "
	check "$be: jf_host unloads" jf_rmmod jf_host
	[ -z "$mode" ] || echo "$mode" >$preempt

	check "$be: jf_many_sites unloads" jf_rmmod jf_many_sites
	check "$be: jumpfunc unloads" jf_unload
done
jf_done
