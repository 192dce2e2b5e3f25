#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: storms; each trouble is met alone by a test of its own
# JF_TIMEOUT=300
# JF_TIMEOUT_LONG=3600
# Patching goes on while everything around it changes: CPUs go offline and online, kprobes and function
# tracing are set on targets and removed, kprobes are tried on sites and trampolines, CPUs interrupt
# each other as often as they can, modules are loaded and unloaded while others name their functions,
# and a foreign byte is written to a site at the last moment.  JF_LONG=1: a minute of each.
. "$(dirname "$0")/../lib/lib.sh"

seconds=${JF_STORM_SECONDS:-2}
[ "${JF_LONG:-0}" = 0 ] || seconds=${JF_STORM_SECONDS:-60}
T=$JF_TRACEFS

jf_start "storms with trouble around, $seconds s each"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)
jf_has jf_each_op || jf_skip_all "no jf_each_op.ko: build selftests/modules"

# ---- updaters ----

# The storms: module, the file that makes changes and what is written to it, the file of results.
D=/sys/kernel/debug
upd_jf_storm="jf_storm/updates 20" upd_jf_keystorm="jf_keystorm/toggle 20" upd_jf_trace_storm="jf_trace_storm/run 20"
result() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' "$JF_TMP/results"; }

# storm_for SECONDS MODULE: makes changes until the time is over
storm_for()
{
	eval "set -- $1 $2 \$upd_$2"
	jf_end=$(($(date +%s) + $1)) jf_rounds=0
	while [ "$(date +%s)" -lt $jf_end ]; do
		echo "$4" >$D/"$3" || { echo "round $jf_rounds failed"; return 1; }
		jf_rounds=$((jf_rounds + 1))
	done
}

# with WHAT MODULE COMMAND...: a storm while COMMAND runs over and over; its numbers bad_* must stay 0
with()
{
	jf_what=$1 jf_mod=$2; shift 2
	jf_hits=$(jf_stat int3_hits) jf_batches=$(jf_stat batches)
	check "$jf_what: $jf_mod starts" jf_insmod "$jf_mod" || return 0
	rm -f "$JF_TMP/enough"; echo 0 >"$JF_TMP/rounds"
	(
		n=0
		while [ ! -e "$JF_TMP/enough" ]; do
			"$@" || { echo "$* failed" >>"$JF_TMP/trouble"; break; }
			n=$((n + 1))
			echo $n >"$JF_TMP/rounds"
		done
	) >>"$JF_TMP/noise" 2>&1 &
	jf_pid=$!
	JF_PIDS="$JF_PIDS $jf_pid"
	check "$jf_what: $jf_mod makes changes" storm_for $seconds "$jf_mod"
	# A round is always finished, so that all that it removed is back.
	touch "$JF_TMP/enough"
	wait $jf_pid
	JF_PIDS=$(echo "$JF_PIDS " | sed "s/ $jf_pid / /")
	cat $D/"$jf_mod"/results >"$JF_TMP/results"
	for r in $(awk '/^bad_/ {print $1}' "$JF_TMP/results"); do
		check_eq "$jf_what: $jf_mod: $r" "$(result "$r")" 0
	done
	note "$jf_what: $(cat "$JF_TMP/rounds") rounds of it; $(($(jf_stat batches) - jf_batches)) transactions, $(($(jf_stat int3_hits) - jf_hits)) INT3 hits, $(grep -vE '^(bad_|target_|to_|place)' "$JF_TMP/results" | tr '\n' ' ')"
	check_match "$jf_what happened" "$(cat "$JF_TMP/rounds")" '^[1-9]'
	check "$jf_what: $jf_mod stops" jf_rmmod "$jf_mod"
}

# ---- CPUs go offline and online ----

cpus=''
for c in /sys/devices/system/cpu/cpu[1-9]*; do
	[ -w "$c/online" ] && cpus="$cpus $c/online"
done
cpus_away()
{
	for c in $cpus; do echo 0 >"$c" || return 1; done
	for c in $cpus; do echo 1 >"$c" || return 1; done
}
all_cpus() { for c in $cpus; do echo 1 >"$c"; done; }

# The fair server of the scheduler is new in 6.12, and there it loses count when a CPU goes offline at a bad
# moment, with or without jumpfunc: "dl_rq->running_bw > old", a warning.
why="no CPU of this kernel or machine can go offline (CONFIG_HOTPLUG_CPU)"
case $(uname -r) in
6.12.*)
	[ -z "$cpus" ] || why="6.12 warns of its own fair server when one does"
	cpus='' ;;
esac
if [ -n "$cpus" ]; then
	jf_on_exit all_cpus
	for m in jf_storm jf_keystorm jf_trace_storm; do
		with "CPUs going offline and online" $m cpus_away
	done
	all_cpus
	check_eq "all CPUs are back" "$(nproc)" "$(($(echo "$cpus" | wc -w) + 1))"
	# And once more with one CPU, which has no other one to wait for.
	for c in $cpus; do echo 0 >"$c"; done
	check "an update with one CPU" jf_write func2 1
	check_eq "... is seen" "$(jf_call 2)" "1 35"
	all_cpus
	jf_write func2 0
else
	skip "CPUs going offline and online" "$why"
fi

# ---- kprobes, function tracing ----

# Sites of a module, as the kernel names places: symbol+offset.
places() { sed -n 's/^  [a-z]* *[^ ]* \([^ ]*+0x[0-9a-f]*\)\/0x[0-9a-f]* \[\('"$1"'\)\].*/\2:\1/p' $JF/functions $JF/keys; }

# Sets probes on targets, tries to set them on sites and trampolines, and removes all of them.
kprobes_around()
{
	echo "p:jf_p/t1 storm_1" >$T/kprobe_events && echo "r:jf_p/t2 storm_2" >>$T/kprobe_events || return 1
	echo 1 >$T/events/jf_p/enable || return 1
	sed -n '1,6p' "$JF_TMP/places" >"$JF_TMP/some"
	while read -r p; do
		# Making the event may go through; arming it must not.
		if echo "p:jf_p/bad $p" >>$T/kprobe_events; then
			if echo 1 >$T/events/jf_p/bad/enable; then
				echo "a kprobe on the site $p was armed" >>"$JF_TMP/trouble"
				echo 0 >$T/events/jf_p/bad/enable
			fi
			echo "-:jf_p/bad" >>$T/kprobe_events
		fi
	done <"$JF_TMP/some"
	# Others next time.
	sed -n '7,$p' "$JF_TMP/places" >"$JF_TMP/more"; cat "$JF_TMP/some" >>"$JF_TMP/more"; mv "$JF_TMP/more" "$JF_TMP/places"
	echo 0 >$T/events/jf_p/enable; echo >$T/kprobe_events
}

function_tracing()
{
	echo 'storm_0 storm_1 storm_2' >$T/set_ftrace_filter && echo function >$T/current_tracer || return 1
	echo nop >$T/current_tracer; echo >$T/set_ftrace_filter
}

if [ -w $T/kprobe_events ]; then
	jf_on_exit "echo 0 >$T/events/jf_p/enable; echo >$T/kprobe_events; echo nop >$T/current_tracer; echo >$T/set_ftrace_filter; echo >$T/trace"
	jf_insmod jf_storm timer_us=0
	places jf_storm >"$JF_TMP/places"
	jf_rmmod jf_storm
	if [ "$be" = indirect ]; then echo dynfunc_storm_a >"$JF_TMP/places"; fi
	check "there are sites to try" [ -s "$JF_TMP/places" ]
	: >"$JF_TMP/trouble"
	with "kprobes being set and removed" jf_storm kprobes_around
	check_eq "no kprobe was armed on a site, and all went well" "$(cat "$JF_TMP/trouble")" ''
	note "places tried: $(wc -l <"$JF_TMP/places")"
	if grep -q function $T/available_tracers; then
		with "function tracing being enabled and disabled" jf_storm function_tracing
	fi
else
	skip "kprobes and tracing" "no kprobe events in this kernel (CONFIG_KPROBE_EVENTS)"
fi

# ---- interrupts ----

if jf_tool ipi_storm; then
	for m in jf_storm jf_keystorm; do
		ipi_storm $((seconds + 2)) >"$JF_TMP/ipis" &
		ipis=$!
		JF_PIDS="$JF_PIDS $ipis"
		with "CPUs interrupting each other" $m sleep 0.2
		wait $ipis
		note "$(cat "$JF_TMP/ipis")"
	done
	jf_stop_all
fi
if jf_has jf_many_sites; then
	funcs=5
	[ "$be" != kernel ] || funcs=2
	check "jf_many_sites loads" jf_insmod jf_many_sites seconds=$seconds storm_funcs=$funcs timer_us=400
	jf_log_mark
	jf_cases jf_many_sites storm "timers and NMIs at a high rate: "
	note "$(jf_log_new | sed -n 's/.*jf_many_sites: //p')"

	# ---- a foreign byte, at the last moment ----

	case $be in
	xmc|auto)
		jf_difference sync_broadcasts jf_cases jf_many_sites late "a byte that changes after the check: "
		# Three bytes at five sites, and a broadcast when the breakpoints are taken back.
		check_eq "a byte that changes after the check: a broadcast each time" $jf_diff 15 ;;
	*) skip "a byte that changes after the check" "back end $be maps nothing at that moment" ;;
	esac

	# ---- modules are loaded and unloaded during updates ----

	# The kernel's protocol takes half a minute for five thousand sites.
	if [ "$be" = kernel ]; then
		check "jf_many_sites unloads" jf_rmmod jf_many_sites
	else
		(
			trap 'exit 0' TERM
			while :; do echo set_1 >$D/jf_many_sites/run; echo set_0 >$D/jf_many_sites/run; done
		) &
		JF_PIDS="$JF_PIDS $!"
	fi
fi
(
	won=0 lost=0 odd=0
	trap 'exit 0' TERM
	while :; do
		for t in 1 2 0; do
			if echo "ops_0=target_$t func1=jf_func1_$t ops_1=target_$t" >$JF/functions; then won=$((won + 1))
			else lost=$((lost + 1)); fi
			cat $JF/functions $JF/keys >/dev/null || odd=$((odd + 1))
			echo "$won $lost $odd" >"$JF_TMP/race"
		done
	done
) 2>/dev/null &
JF_PIDS="$JF_PIDS $!"
(
	trap 'exit 0' TERM
	while :; do
		for c in "many 1" "probes 5 3" "many 0" "probes 5 17" "probes 1 2" "probes 5 2"; do
			# While one of its files is open, a module cannot be unloaded.
			while [ -e "$JF_TMP/hold" ]; do sleep 0.02; done
			echo "$c" >$D/jf_each_op/do
		done
	done 2>/dev/null
) &
JF_PIDS="$JF_PIDS $!"
jf_end=$(($(date +%s) + 2 * seconds)) n=0 ok=1
echo 0 0 0 >"$JF_TMP/race"
# Until some updates were made and some came too late; on a busy machine few are made while a module is loaded.
until [ "$(date +%s)" -ge $jf_end ] && [ $n -ge 3 ] && grep -q '^[1-9][0-9]* [1-9]' "$JF_TMP/race" || [ $n -ge 100 ]; do
	insmod "$(jf_ko jf_each_op)" || ok=0
	# At another moment each time.
	sleep 0.$((n * 7919 % 300 + 100))
	i=0
	# After some attempts that meet a writer in one of its files, the writer is stopped.
	until rmmod jf_each_op 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 4 ] || touch "$JF_TMP/hold"
		[ $i -lt 4 ] || sleep 0.05
		[ $i -lt 1000 ] || { ok=0; break 2; }
	done
	rm -f "$JF_TMP/hold"
	n=$((n + 1))
done
jf_stop_all
check_eq "a module was loaded and unloaded $n times during its updates" $ok 1
note "updates by name: won, lost, reads that failed: $(cat "$JF_TMP/race")"
check_match "... some were made, some came too late, every read worked" "$(cat "$JF_TMP/race")" '^[1-9][0-9]* [1-9][0-9]* 0$'
check_eq "nothing of it is left" "$(grep -c ' jf_each_op\|ops_\|\[jf_each_op\]' $JF/functions)" 0
check "jumpfunc's own function goes on" jf_write functions "func1=jf_func1_1"
check_eq "... to its target" "$(jf_call 1)" "1 49"
grep -q '^jf_many_sites ' /proc/modules && {
	jf_cases jf_many_sites all_0 "after all that: "
	check "jf_many_sites unloads" jf_rmmod jf_many_sites
}
jf_images_back "all images are given back"
jf_done
