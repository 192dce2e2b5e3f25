#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it shows the same with each of them
# A driver means the same with jumpfunc and with fallback.h, which stands for it; the latter loads where
# jumpfunc is not.
. "$(dirname "$0")/../lib/lib.sh"

T=$JF_TRACEFS

# events WHICH: its events, on, then fired with 3, 4 and 9
events()
{
	jf_e=$T/events/jf_fb_$1 jf_m=jf_fallback_$1
	jf_fire=/sys/module/$jf_m/parameters/fire
	check_eq "$1: its events are there" "$(cd $jf_e && echo jf_*)" "jf_fb_less jf_fb_odd jf_fb_one jf_fb_two"
	echo >$T/trace
	echo 3 >$jf_fire
	check_eq "$1: off, they record nothing" "$(grep -c jf_fb_ $T/trace) $(cat $jf_fire)" "0 0"
	echo 1 >$jf_e/enable
	for jf_v in 3 4 9; do echo $jf_v >$jf_fire; done
	check_eq "$1: on, and each records what meets its condition" \
		"$(sed -n 's/.* \(jf_fb_[a-z]*\): /\1 /p' $T/trace | xargs)" \
		"jf_fb_one a=3 jf_fb_odd a=3 jf_fb_two a=3 b=4 jf_fb_less a=3 b=5 jf_fb_one a=4 jf_fb_two a=4 b=5 jf_fb_less a=4 b=5 jf_fb_one a=9 jf_fb_odd a=9 jf_fb_two a=9 b=10"
	check_eq "$1: ... and the driver knows" "$(cat $jf_fire)" 1
	echo 0 >$jf_e/enable
}

jf_start "a driver with jumpfunc and without"
jf_has jf_fallback_without || jf_skip_all "no jf_fallback_without.ko: build selftests/modules"
jf_on_exit "echo >$T/trace"
check_eq "jumpfunc is not loaded" "$(grep -c '^jumpfunc ' /proc/modules)" 0
check "without: the driver loads, and all that it tests is so" jf_insmod jf_fallback_without
events without
check "without: it unloads" jf_rmmod jf_fallback_without
jf_load
check "with: the driver loads, and all that it tests is so" jf_insmod jf_fallback_with
events with
check "with: it unloads" jf_rmmod jf_fallback_with
check "the core unloads" jf_unload
jf_done
