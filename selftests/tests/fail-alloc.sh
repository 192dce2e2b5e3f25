#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=300
# JF_TIMEOUT_LONG=1800
# Each memory allocation of each operation fails in turn: the first, the second, and so on, until the
# operation goes through; and then all of them from some point on.  What failed must say ENOMEM and must
# have changed nothing: no byte, no target, no count; the next attempt must work; nothing must be lost.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fail.sh"

jf_start "allocations fail, one after the other"
fail_start
bench=$(jf_ko jumpfunc_bench) D=/sys/kernel/debug

# op DESCRIPTION COMMAND UNDO [OPTION...]: an operation of jf_each_op
op()
{
	jf_desc=$1 jf_cmd=$2 jf_undo=$3; shift 3
	# shellcheck disable=SC2086
	nth "$jf_desc" $same -S "$JF/stats=$counters" -s $O/state -u "write $O/do $jf_undo" "$@" write $O/do "$jf_cmd"
}

jf_load
jf_insmod jf_each_op
leak_clear

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
jf_insmod jf_many_sites
# shellcheck disable=SC2086
[ "${JF_BACKEND:-}" = kernel ] || nth "a batch of 5,005 sites" -S $JF/keys -S "$JF/stats=$counters" -s $D/jf_many_sites/text \
	-u "write $D/jf_many_sites/run set_0" write $D/jf_many_sites/run set_1
jf_rmmod jf_many_sites

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
file "func2" func2 1 0 -s "$JF/functions=^  "
file "functions, one" functions "func0=jf_func0_1" "func0=default" -s "$JF/functions=^  "
file "functions, six" functions "func0=jf_func0_1 func1=jf_func1_1 func2=jf_func2_2 ops_0=target_1 ops_1=target_2 ops_ret0=target_0" \
	"func0=default func1=default func2=default ops_0=default ops_1=default ops_ret0=default" -s "$JF/functions=^  "
file "functions, six, all allocations failing" functions "func0=jf_func0_1 func1=jf_func1_1 func2=jf_func2_2 ops_0=target_1 ops_1=target_2 ops_ret0=target_0" \
	"func0=default func1=default func2=default ops_0=default ops_1=default ops_ret0=default" -s "$JF/functions=^  " -p 32

# KUnit has the suite jumpfunc-entry, in which all of them fail that ftrace makes.
if jf_has jf_foreign && [ -e $JF_TRACEFS/available_filter_functions ]; then
	jf_insmod jf_foreign
	file "entries of functions" probes "+ftrace:jf_foreign:foreign_*:entry" "-ftrace:*:*:*" -s $JF/probes
	echo "+ftrace:jf_foreign:foreign_*:entry" >$JF/probes
	file "one entry less" probes "-ftrace:jf_foreign:foreign_add:entry" "+ftrace:jf_foreign:foreign_add:entry"
	echo "-ftrace:*:*:*" >$JF/probes
	leak_check "entries of functions"
	jf_rmmod jf_foreign
fi

# modes FROM TO [-p STEP]: if the change fails, the mode may be "off" afterwards, as docs/debugfs.md says; but
# from there, it must be possible to set every mode
modes()
{
	jf_from=$1 jf_to=$2; shift 2
	nth "dispatch from $jf_from to $jf_to, $(cat $JF/subscribers) subscribers ($*)" \
		-b "write $JF/dispatch $jf_from" -S "$JF/subscribers" "$@" write $JF/dispatch "$jf_to"
}
# A change of modes attaches to some twenty tracepoints and waits for each: fewer attempts in short.
one='-i 5' all='-p 2000' ways="kernel chain dynfunc off"
[ "${JF_LONG:-0}" = 0 ] || one='' all='-p 64' ways="kernel indirect dynfunc chain kernel chain dynfunc indirect off"
for n in 1 3; do
	jf_write subscribers $n
	for p in "$one" "$all"; do
		last=off
		for mode in $ways; do
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
	for p in "$one" "$all"; do
		# shellcheck disable=SC2086
		nth "subscribers from 1 to 4 in mode $mode ($p)" -S $JF/dispatch -S $JF/subscribers \
			-b "write $JF/subscribers 1" $p write $JF/subscribers 4
		# shellcheck disable=SC2086
		nth "subscribers from 4 to 1 in mode $mode ($p)" -S $JF/dispatch -S $JF/subscribers \
			-b "write $JF/subscribers 4" $p write $JF/subscribers 1
	done
	jf_write subscribers 1
	jf_write dispatch off
done
# Nothing of all that is left attached: only the subscribers of the mode that is set run.
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

jf_rmmod jf_each_op
jf_images_back "all images are given back"
leak_check "operations"
jf_unload
check_eq "no mapping is left" "$(grep -v unpurged /proc/vmallocinfo | grep -c '\[jumpfunc\]')" 0
fail_done
