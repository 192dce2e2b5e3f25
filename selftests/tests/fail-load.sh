#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=600
# JF_TIMEOUT_LONG=5400
# Modules are loaded and unloaded, each time with another memory allocation failing: the first, the
# second, and so on, until it goes through.  A load that fails must say ENOMEM and leave no trace; an
# unload must not fail; and nothing must be lost.  JF_LONG=1 lets each single allocation fail.  Most are
# the loader's: for a module of 12,000 sites it and its notifiers make 20,000, one for each function that no
# kprobe may be in.  So without JF_LONG=1 some of them fail, the fewer the slower the kernel is; and then each
# that jumpfunc makes to take over the module, alone and with all that follow.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fail.sh"

jf_start "allocations fail while modules are loaded and unloaded"
fail_start

# ---- jumpfunc itself ----

slow=${JF_SLOW_KERNEL:-1}
every="-i $((5 * slow))" big="-i $((400 * slow))"
ours="-c /sys/module/jf_nth/parameters/nth"
[ "${JF_LONG:-0}" = 0 ] || every='' big="-i 50"
core=$(jf_ko jumpfunc) ops=$(jf_ko jf_each_op) bench=$(jf_ko jumpfunc_bench)
backend=${JF_BACKEND:+backend=$JF_BACKEND}
events=$JF_TRACEFS/events

# Allocates now what is allocated only once, by its first user.
jf_load; jf_insmod jf_each_op; jf_rmmod jf_each_op; jf_unload
leak_clear
maps=$(mappings)
# shellcheck disable=SC2086
hit "jumpfunc.ko is loaded" $every -o -g /sys/module/jumpfunc -g $JF -g $events/jumpfunc -s /proc/modules \
	-u "unload jumpfunc" load "$core" "$backend"
jf_load
# shellcheck disable=SC2086
nth "jumpfunc.ko is unloaded" $every -u "load $core $backend" unload jumpfunc
jf_unload
leak_check "jumpfunc.ko loaded and unloaded"
now=$(mappings)
if [ "$now" -le $((maps + 4)) ]; then pass "no mapping is left ($maps before, $now now)"; else
	fail "no mapping is left" "$maps before, $now now: $(list_mappings | tail -n 20)"; fi

# ---- modules that use it ----

# takes_over NAME FILE: each of jumpfunc's allocations alone, then with all that follow
takes_over()
{
	# shellcheck disable=SC2086
	hit "... and jumpfunc takes it over" $ours $same -o -g "/sys/module/$1" -u "unload $1" load "$2"
	echo 1 >/sys/module/jf_nth/parameters/all
	# shellcheck disable=SC2086
	hit "... with all allocations failing from there on" $ours $same -o -g "/sys/module/$1" -u "unload $1" load "$2"
	echo 0 >/sys/module/jf_nth/parameters/all
}

jf_load
jf_insmod jf_nth
# shellcheck disable=SC2086
hit "a module with functions, keys and tracepoints is loaded" $every $same -o -g /sys/module/jf_each_op -u "unload jf_each_op" load "$ops"
takes_over jf_each_op "$ops"
if [ -n "$bench" ]; then
	# shellcheck disable=SC2086
	nth "a module with 12,000 sites is loaded" $big $same -o -g /sys/module/jumpfunc_bench \
		-u "unload jumpfunc_bench" load "$bench"
	takes_over jumpfunc_bench "$bench"
fi
jf_insmod jf_each_op
# shellcheck disable=SC2086
nth "such a module is unloaded" $every -u "load $ops" unload jf_each_op
# shellcheck disable=SC2086
hits "... and jumpfunc releases it" $ours -u "load $ops" unload jf_each_op
jf_rmmod jf_each_op
jf_insmod jf_sample_provider
jf_insmod jf_sample_consumer
# When it is unloaded, functions of the provider fall back, and that must not fail.
# shellcheck disable=SC2086
nth "a module that is a target is unloaded" $every -u "load $(jf_ko jf_sample_consumer)" unload jf_sample_consumer
# shellcheck disable=SC2086
hits "... and jumpfunc lets functions fall back" $ours -u "load $(jf_ko jf_sample_consumer)" unload jf_sample_consumer
jf_rmmod jf_sample_consumer
check_eq "... and its functions fell back" "$(awk '$1 == "sample_filter" {print $4}' $JF/functions)" accept_short
jf_rmmod jf_sample_provider
leak_check "modules loaded and unloaded"
jf_rmmod jf_nth
check "... and nothing holds jumpfunc.ko" jf_unload
fail_done
