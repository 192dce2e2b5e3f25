#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=600
# JF_TIMEOUT_LONG=7200
# Each memory allocation of each operation fails in turn: the first, the second, and so on, until the
# operation goes through.  What failed must say ENOMEM and must have changed nothing: no byte, no
# target, no count; and nothing must be lost.  JF_LONG=1 lets each single allocation fail while modules
# are loaded and unloaded; else it is every fifth there, most of which are the kernel's own.
. "$(dirname "$0")/lib.sh"

O=/sys/kernel/debug/jf_ops
LEAK=/sys/kernel/debug/kmemleak

jf_start "allocations fail, one after the other"
[ -e /proc/self/fail-nth ] && [ -d /sys/kernel/debug/failslab ] ||
	jf_skip_all "this kernel cannot let allocations fail (CONFIG_FAULT_INJECTION, CONFIG_FAILSLAB): make check runs this on a test kernel"
jf_has jf_ops || jf_skip_all "no jf_ops.ko: build selftests/modules"
jf_tool failnth || jf_skip_all "no failnth, and no compiler to make it with"
[ -d /sys/kernel/debug/fail_page_alloc ] || note "no CONFIG_FAIL_PAGE_ALLOC: pages are always there, slab objects are not"

jf_traces_expected
jf_on_exit jf_traces_over

total=0
# nth DESCRIPTION OPTION...: one operation through all of its failures
nth()
{
	jf_desc=$1; shift
	failnth "$@" >"$JF_TMP/nth" 2>&1
	jf_rc=$?
	jf_sum=$(tail -n 1 "$JF_TMP/nth")
	case $jf_rc in
	0) pass "$jf_desc: $jf_sum"
	   n=${jf_sum#attempts=}; total=$((total + ${n%% *})) ;;
	*) fail "$jf_desc" "status $jf_rc: $(tail -n 12 "$JF_TMP/nth")" ;;
	esac
}

# hit DESCRIPTION OPTION...: the same, and it must have failed at least once: it does allocate
hit()
{
	nth "$@"
	case $jf_sum in
	*" failed=0 "*) fail "$1: at least one failure made it fail" "$jf_sum" ;;
	esac
}

counters='^(updates|batches|sites_patched|sync_broadcasts|by_xmc|by_kernel|fallbacks|trace_transitions|quiesces) '
# What a failed operation must leave as it was: all bytes, targets, states, counts, mappings.
same="-S $JF/functions -S $JF/keys -S $JF/dispatch -S $JF/subscribers -S /proc/vmallocinfo=jumpfunc\\]"
# op DESCRIPTION COMMAND UNDO [OPTION...]: an operation of jf_ops
op()
{
	jf_desc=$1 jf_cmd=$2 jf_undo=$3; shift 3
	# shellcheck disable=SC2086
	nth "$jf_desc" $same -S "$JF/stats=$counters" -s $O/state -u "write $O/do $jf_undo" "$@" write $O/do "$jf_cmd"
}

mappings() { grep -vc unpurged /proc/vmallocinfo; }

leaks=0
if [ -w $LEAK ] && echo scan=off >$LEAK 2>/dev/null; then leaks=1; else
	skip "a look for lost memory" "no kmemleak in this kernel (CONFIG_DEBUG_KMEMLEAK)"
fi
# leak_check WHEN: what was allocated since the last one and is reachable from nowhere
leak_check()
{
	[ $leaks = 1 ] || return 0
	# It looks at nothing that is younger than five seconds; what stands in registers and on stacks
	# may hide something from one look.
	sleep 6
	echo scan >$LEAK; echo scan >$LEAK
	jf_lost=$(cat $LEAK)
	if [ -z "$jf_lost" ]; then
		pass "$1: nothing is lost, says kmemleak"
	else
		fail "$1: nothing is lost, says kmemleak" "$(printf '%s\n' "$jf_lost" | grep -c '^unreferenced') objects, of which
$(printf '%s\n' "$jf_lost" | head -n 60)"
	fi
	echo clear >$LEAK
}

# ---- jumpfunc itself ----

every='-i 5'
[ "${JF_LONG:-0}" = 0 ] || every=''
core=$(jf_ko jumpfunc) ops=$(jf_ko jf_ops) many=$(jf_ko jf_many) bench=$(jf_ko jumpfunc_bench)
backend=${JF_BACKEND:+backend=$JF_BACKEND}
[ -d /sys/kernel/tracing/events ] && events=/sys/kernel/tracing/events || events=/sys/kernel/debug/tracing/events

# All that is allocated once, by whoever comes first, is there now.
jf_load; jf_insmod jf_ops; jf_rmmod jf_ops; jf_unload
[ $leaks = 0 ] || echo clear >$LEAK
maps=$(mappings)
# shellcheck disable=SC2086
hit "jumpfunc.ko is loaded" $every -o -g /sys/module/jumpfunc -g $JF -g $events/jumpfunc -s /proc/modules \
	-u "unload jumpfunc" load "$core" "$backend"
jf_load
jf_unload
# shellcheck disable=SC2086
nth "jumpfunc.ko is unloaded" $every -u "load $core $backend" unload jumpfunc
leak_check "jumpfunc.ko loaded and unloaded"
now=$(mappings)
if [ "$now" -le $((maps + 4)) ]; then pass "no mapping is left behind ($maps before, $now now)"; else
	fail "no mapping is left behind" "$maps before, $now now: $(grep -v unpurged /proc/vmallocinfo | tail -n 20)"; fi

# ---- modules that use it ----

jf_load
# shellcheck disable=SC2086
hit "a module with functions, keys and tracepoints is loaded" $every $same -o -g /sys/module/jf_ops -u "unload jf_ops" load "$ops"
# shellcheck disable=SC2086
[ -z "$bench" ] || hit "a module with 11,000 sites is loaded" $every $same -o -g /sys/module/jumpfunc_bench \
	-u "unload jumpfunc_bench" load "$bench"
jf_insmod jf_ops
# shellcheck disable=SC2086
nth "such a module is unloaded" $every -u "load $ops" unload jf_ops
jf_insmod jf_sample_provider
jf_insmod jf_sample_consumer
jf_log_mark
# Its end lets functions of the provider fall back, and that must not fail.
# shellcheck disable=SC2086
nth "a module that is a target is unloaded" $every -u "load $(jf_ko jf_sample_consumer)" unload jf_sample_consumer
jf_rmmod jf_sample_consumer
check_eq "... and its functions fell back" "$(awk '$1 == "sample_filter" {print $4}' $JF/functions)" accept_short
jf_rmmod jf_sample_provider
leak_check "modules loaded and unloaded"

# ---- updates, batches, keys ----

for p in '' '-p 32'; do
	how=${p:+, all of them}
	# shellcheck disable=SC2086
	{
	op "an update$how" "one 1" "one 0" $p
	op "a batch of 12 functions and 4 keys$how" "many 1" "many 0" $p
	op "a key is enabled$how" "key 1" "key 0" $p
	op "a key gets its first user$how" "count 1" "count 0" $p
	}
done
for p in '' '-p 32'; do
	how=${p:+, all of them}
	echo "many 1" >$O/do; echo "key 1" >$O/do; echo "count 1" >$O/do
	# shellcheck disable=SC2086
	{
	op "a batch back$how" "many 0" "many 1" $p
	op "a key is disabled$how" "key 0" "key 1" $p
	op "a key loses its last user$how" "count 0" "count 1" $p
	}
	echo "many 0" >$O/do; echo "key 0" >$O/do; echo "count 0" >$O/do
done
jf_insmod jf_many
# shellcheck disable=SC2086
[ "${JF_BACKEND:-}" = kernel ] || nth "a batch of 5,005 sites" $same -S "$JF/stats=$counters" -s "$JF/functions=^  " \
	-u "write /sys/kernel/debug/jf_many/run set_0" write /sys/kernel/debug/jf_many/run set_1
jf_rmmod jf_many

# ---- probes: each number, each size of image ----

for args in 1 5 8; do
	i=0 tried=0 failed=0 survived=0 bad=''
	while [ $i -lt 18 ]; do
		# One more, and one less.
		for step in "$i $((i + 1))" "$((i + 1)) $i"; do
			from=${step% *} to=${step#* }
			echo "probes $args $from" >$O/do
			# shellcheck disable=SC2086
			failnth $same -S "$JF/stats=^(updates|batches|sites_patched|trace_transitions) " -s $O/state \
				-u "write $O/do probes $args $from" write $O/do "probes $args $to" >"$JF_TMP/nth" ||
				bad="$bad
from $from to $to: $(cat "$JF_TMP/nth")"
			eval "$(tail -n 1 "$JF_TMP/nth" | sed -n 's/attempts=\([0-9]*\) failed=\([0-9]*\) survived=\([0-9]*\)/tried=$((tried+\1)) failed=$((failed+\2)) survived=$((survived+\3))/p')"
		done
		i=$((i + 1))
	done
	if [ -z "$bad" ] && [ $failed -gt 36 ]; then
		pass "0 to 18 probes and back, $args arguments: attempts=$tried failed=$failed survived=$survived"
	else
		fail "0 to 18 probes and back, $args arguments" "failed $failed times; $bad"
	fi
	total=$((total + tried))
	echo "probes $args 0" >$O/do
done
for n in 0 1 3 15 16; do
	op "one more than $n probes, with all allocations failing" "probes 5 $((n + 1))" "probes 5 $n" -p 32
	echo "probes 5 $((n + 1))" >$O/do
	op "one probe less than $((n + 1)), with all allocations failing" "probes 5 $n" "probes 5 $((n + 1))" -p 32
	echo "probes 5 $((n + 1))" >$O/do
done
echo "probes 5 0" >$O/do

# ---- files ----

# file DESCRIPTION FILE TEXT UNDO [OPTION...]
file()
{
	jf_desc=$1 jf_f=$2 jf_text=$3 jf_undo=$4; shift 4
	# shellcheck disable=SC2086
	nth "$jf_desc" $same "$@" -u "write $JF/$jf_f $jf_undo" write "$JF/$jf_f" "$jf_text"
}
jf_insmod jf_storm timer_us=0
file "func2" func2 1 0 -s "$JF/functions=^  "
file "functions, one" functions "func0=jf_func0_1" "func0=default" -s "$JF/functions=^  "
file "functions, six" functions "func0=jf_func0_1 func1=jf_func1_1 func2=jf_func2_2 storm_a=storm_1 storm_b=storm_2 storm_c=none" \
	"func0=default func1=default func2=default storm_a=default storm_b=default storm_c=default" -s "$JF/functions=^  "
file "functions, six, all allocations failing" functions "func0=jf_func0_1 func1=jf_func1_1 func2=jf_func2_2 storm_a=storm_1 storm_b=storm_2 storm_c=none" \
	"func0=default func1=default func2=default storm_a=default storm_b=default storm_c=default" -s "$JF/functions=^  " -p 32
jf_rmmod jf_storm

# modes FROM TO [-p STEP]: where the way there cannot be gone, the mode may be "off" afterwards, as
# docs/debugfs.md says; but from there, every way must be open
modes()
{
	jf_from=$1 jf_to=$2; shift 2
	nth "dispatch from $jf_from to $jf_to, $(cat $JF/subscribers) subscribers${1:+, all allocations failing}" \
		-b "write $JF/dispatch $jf_from" -S "$JF/subscribers" "$@" write $JF/dispatch "$jf_to"
}
for n in 1 3; do
	jf_write subscribers $n
	for p in '' '-p 64'; do
		last=off
		for mode in kernel indirect dynfunc chain kernel chain dynfunc indirect off; do
			# shellcheck disable=SC2086
			modes $last $mode $p
			last=$mode
		done
		jf_write dispatch off
	done
done
jf_write subscribers 1
for mode in kernel chain; do
	jf_write dispatch $mode
	for p in '' '-p 64'; do
		nth "subscribers from 1 to 4 in mode $mode${p:+, all allocations failing}" $same -S "$JF/stats=^trace_transitions" \
			-b "write $JF/subscribers 1" $p write $JF/subscribers 4
		nth "subscribers from 4 to 1 in mode $mode${p:+, all allocations failing}" $same \
			-b "write $JF/subscribers 4" $p write $JF/subscribers 1
	done
	jf_write subscribers 1
	jf_write dispatch off
done
# Nothing of all that is left attached: who is asked for runs, and nobody else does.
jf_write subscribers 2
for mode in kernel indirect dynfunc chain; do
	jf_write dispatch $mode
	n=$(jf_hits sys_enter $mode)
	cat /proc/uptime >/dev/null
	jf_write dispatch off
	check_match "mode $mode works after all that" $(($(jf_hits sys_enter $mode) - n)) '^[1-9]'
done
before=$(cat $JF/events); sleep 1
check_eq "and off is off" "$(cat $JF/events)" "$before"
check_eq "no subscriber got another one's data" "$(jf_stat sample_mixed_up)" 0

for f in functions keys stats ring events dispatch help func2; do
	nth "$f is read" read $JF/$f
done
if [ -n "$bench" ]; then
	jf_insmod jumpfunc_bench
	nth "bench is written" -S $JF/functions -S $JF/keys -m 400 write $JF/bench "calls rounds=1 repeats=1 calls=64"
	jf_rmmod jumpfunc_bench
fi

# ---- at the end ----

jf_rmmod jf_ops
i=0
while [ $i -lt 100 ] && [ "$(jf_stat images_used)" != 0 ]; do sleep 0.2; i=$((i + 1)); done
check_eq "all images are given back" "$(jf_stat images_used)" 0
leak_check "operations"
jf_unload
check_eq "no mapping is left behind" "$(grep -v unpurged /proc/vmallocinfo | grep -c '\[jumpfunc\]')" 0
note "$total attempts"
jf_traces_over
[ $leaks = 0 ] || echo scan=on >$LEAK 2>/dev/null
jf_done
