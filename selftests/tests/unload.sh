#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# Unloading ends: an update that would keep a module for ever is refused, or ends in another way. A cause that
# can be removed is waited for, and the log names it.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "whatever was done with a module, it can be unloaded"
jf_patching || jf_skip_all "here nothing leads to a dynamic function itself"
jf_has jf_circle || jf_skip_all "no jf_circle.ko: build selftests/modules"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)
M=/sys/module/jf_circle_m
query() { awk -v n="$1" '$1 == n {print $4}' $JF/functions; }
# The last ones first, so that none closes a circle.
all_default()
{
	jf_d=0
	for k in b a 3 2 1; do jf_write functions "circle_$k=default" || jf_d=1; done
	return $jf_d
}

# beside COMMAND...: in the background; ended SECONDS: within that time?
beside()
{
	rm -f "$JF_TMP/over"
	( "$@" >"$JF_TMP/beside" 2>&1; echo $? >"$JF_TMP/rc"; mv "$JF_TMP/rc" "$JF_TMP/over" ) &
}
ended()
{
	jf_t=$(($1 * 5))
	while [ $jf_t -gt 0 ] && [ ! -e "$JF_TMP/over" ]; do sleep 0.2; jf_t=$((jf_t - 1)); done
	[ -e "$JF_TMP/over" ]
}
do_case() { echo "$1" >/sys/kernel/debug/jf_circle/run; }

# unloads WHAT: the command in the background ends; if not, the test helps it, and goes on
unloads()
{
	if ended 10; then
		pass "$1: the module unloads"
	else
		fail "$1: the module unloads" "not in 10 s: $(jf_log_new | tail -n 2)"
		# insmod tries it twice.
		for jf_i in 1 2 3; do
			all_default
			all_default
			! ended 10 || return 0
		done
		jf_bail "$1: the module unloads, with help"
	fi
}

check "jf_circle loads" jf_insmod jf_circle
jf_cases jf_circle calls "at first: "

# ---- circles that a fall-back would close ----

# circle HOW STEPS: what jf_circle_m does as it loads, and what each step has to give (EINVAL is 22)
circle()
{
	jf_log_mark
	check "$1: jf_circle_m loads" insmod "$(jf_ko jf_circle_m)" how="$1"
	check_eq "$1: each step is done or refused" "$(cat $M/parameters/steps)" "$2"
	case $2 in
	*-22*) check_match "$1: the log says why" "$(jf_log_new)" 'circle_[a-z0-9]*: .*would call itself' ;;
	esac
	beside rmmod jf_circle_m
	unloads "$1"
	[ "$1" != fine ] || check "$1: what did not lead there stays" [ "$(query circle_b)" = dynfunc_circle_1 ]
	[ "$1" != fine ] || all_default
	jf_cases jf_circle calls "$1: then "
}
circle a "0"
circle ab "0 -22"
circle ba "-22 0 -22"
circle batch "-22"
circle own "0 -22"
circle three "0 -22"
circle two "0 -22"
circle middle "0 -22"
circle fine "0 0 0"

# By name.
check "jf_circle_m loads" insmod "$(jf_ko jf_circle_m)"
check "by name: one" jf_write functions "circle_a=circle_m"
check_fails "by name: the other one" jf_write functions "circle_b=dynfunc_circle_a"
beside rmmod jf_circle_m
unloads "by name"
check "jf_circle_m loads" insmod "$(jf_ko jf_circle_m)"
check_fails "by name: both" jf_write functions "circle_a=circle_m circle_b=dynfunc_circle_a"
beside rmmod jf_circle_m
unloads "both by name"
jf_cases jf_circle calls "by name: then "

# A module that fails to initialise is unloaded in the same way.
for how in ab two; do
	jf_log_mark
	beside insmod "$(jf_ko jf_circle_m)" how=$how fail=1
	unloads "$how, and it fails to initialise"
	check_fails "$how: it does fail" [ "$(cat "$JF_TMP/over")" = 0 ]
	jf_cases jf_circle calls "$how, failed: then "
done

# Circles in their initial targets.
for m in jf_circle_bad jf_circle_self; do
	jf_log_mark
	if insmod "$(jf_ko $m)" 2>/dev/null; then
		fail "$m is refused" "it was loaded"
		rmmod $m
	else
		pass "$m is refused"
	fi
	check_match "$m: the log says why" "$(jf_log_new)" 'circle_[a-z_]*: .*would call itself'
done

# ---- a cause that can be removed ----

if [ "$be" != indirect ]; then
	check "jf_circle_m loads" insmod "$(jf_ko jf_circle_m)" how=a
	do_case plant
	jf_log_mark
	beside rmmod jf_circle_m
	check_fails "a breakpoint on a site: the module waits" ended 3
	check_match "... the log names the site" "$(jf_log_new)" 'jumpfunc: .*(waiting for|breakpoint).*call_a\+0x[0-9a-f]*/0x[0-9a-f]* \[jf_circle\]'
	do_case unplant
	unloads "a breakpoint that is removed"
	jf_cases jf_circle calls "a breakpoint that is removed: then "
fi

check "jf_circle unloads" jf_rmmod jf_circle
jf_done
