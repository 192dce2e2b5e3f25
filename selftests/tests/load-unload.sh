#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: many rounds of what each test does once
# JF_ANY_BACKEND: it shows the same with each of them
# JF_TIMEOUT=300
# The module is loaded and unloaded many times, in use and out of use, and leaves nothing.  JF_LONG=1: a
# thousand times.
. "$(dirname "$0")/../lib/lib.sh"

rounds=30
[ "${JF_LONG:-0}" = 0 ] || rounds=1000

jf_start "load and unload"

# All of them: those that an unloaded module left no longer bear its name.
mappings() { grep -c . /proc/vmallocinfo; }

jf_load; jf_unload
maps=$(mappings)

# A cycle with everything in use: all functions away from their initial target, probes attached.
cycle()
{
	jf_insmod jumpfunc ${JF_BACKEND:+backend=$JF_BACKEND} || return 1
	jf_write func0 1 && jf_write func1 2 && jf_write func2 1 && jf_write func3 2 || return 1
	[ "$(jf_call 2)" = "1 35" ] || return 1
	case $(($1 % 3)) in
	1) jf_write dispatch indirect || return 1 ;;
	2) jf_write dispatch dynfunc || return 1 ;;
	esac
	jf_rmmod jumpfunc
}

n=0
while [ $n -lt $rounds ]; do
	cycle $n >"$JF_TMP/cycle" 2>&1 || break
	n=$((n + 1))
done
check_eq "$rounds times: load, retarget, call, attach probes, unload" "$n" $rounds
[ $n = $rounds ] || note "$(cat "$JF_TMP/cycle")"
now=$(mappings)
if [ "$now" -le $((maps + 20)) ]; then
	pass "no mappings are left"
else
	fail "no mappings are left" "there were $maps, now there are $now"
fi
check_fails "no file is left" test -e $JF
check_eq "no line in kallsyms is left" "$(grep -c '\[jumpfunc\]' /proc/kallsyms)" 0

# Loading it twice is the kernel's business, but must not harm the first one.
jf_load
jf_write func2 1
check_fails "a second load is refused" insmod "$(jf_ko jumpfunc)"
check_eq "and the first one goes on" "$(jf_call 2)" "1 35"

# While it is in use it stays.
if jf_has jf_storm; then
	check "a user of its functions loads" jf_insmod jf_storm timer_us=0
	check_fails "it cannot be unloaded under its user" rmmod jumpfunc
	check "the user unloads" jf_rmmod jf_storm
fi

# A file that is held open.
exec 5<$JF/stats
if rmmod jumpfunc 2>/dev/null; then
	JF_LOADED=
	cat <&5 >/dev/null 2>&1
	pass "unloading under an open file is survived"
else
	pass "an open file keeps it loaded"
fi
exec 5<&-
[ -z "$JF_LOADED" ] || check "then it unloads" jf_unload

# jumpfunc watches every module that is loaded later, since its functions might become targets.
if jf_has jf_busy; then
	jf_load
	check "a module that does not use it loads" jf_insmod jf_busy threads=1
	check "and may stay loaded after it" jf_unload
	jf_load
	check "it may be unloaded while jumpfunc is loaded again" jf_rmmod jf_busy
	jf_unload
fi

# The user is loaded and unloaded while jumpfunc stays; each time its functions are registered, then not.
if jf_has jf_storm; then
	jf_load
	n=0
	while [ $n -lt 10 ]; do
		jf_insmod jf_storm timer_us=0 2>"$JF_TMP/cycle" || break
		grep -q '^storm_a jf_storm ' $JF/functions || break
		jf_write functions "storm_a=storm_2 storm_b=storm_1" || break
		jf_rmmod jf_storm || break
		! grep -q storm $JF/functions || break
		n=$((n + 1))
	done
	check_eq "10 times: a user loads, is retargeted, unloads" "$n" 10
	jf_unload
fi
jf_done
