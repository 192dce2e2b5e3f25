#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# JF_TIMEOUT=120
# Beside KGDB, which sees each INT3 before the die notifiers do (CONFIG_KGDB_LOW_LEVEL_TRAP) once kgdboc has
# given it a serial port: no INT3 of ours is set then.  The kernel's own protocol does the patching; what
# cannot be done with it is refused.
#
# Seen to fail without (6.1-kgdb): at the first update KGDB stops all CPUs and waits for a debugger.
. "$(dirname "$0")/../lib/lib.sh"

G=/sys/module/kgdboc/parameters/kgdboc
S=/sys/kernel/debug/jf_storm
result() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' $S/results; }
storm()
{
	for jf_i in 1 2 3; do
		echo 20 >$S/updates || return 1
	done
}
verbose() { echo "$1" >/sys/module/jf_sample_key/parameters/verbose; }
toggle() { echo 1 >/sys/kernel/debug/jf_keystorm/toggle; }
# attached: KGDB has a serial port; detached: it has none
attached() { echo ttyS0 >$G; }
detached() { echo >$G; }

jf_start "beside KGDB"
if ! [ -w $G ] || ! zcat /proc/config.gz 2>/dev/null | grep -q '^CONFIG_KGDB_LOW_LEVEL_TRAP=y'; then
	jf_skip_all "this kernel has no KGDB that sees an INT3 first; kernel 6.1-kgdb of harness/kernels.tab has"
fi
jf_on_exit "echo >$G"

# good WHAT: the storm's calls were right
good()
{
	for jf_r in bad_value bad_target bad_updates bad_queries; do
		check_eq "$1: $jf_r" "$(result $jf_r)" 0
	done
	check_match "$1: targets were called" "$(result target_2)" '^[1-9]'
}

# ---- kgdboc is attached before jumpfunc is loaded ----

check "kgdboc takes a serial port" attached
jf_log_mark
if jf_insmod jumpfunc backend=xmc 2>"$JF_TMP/err"; then
	fail "xmc: refused"
	check "storm" jf_insmod jf_storm
	storm
	jf_bail "nothing else can be told"
fi
pass "xmc: refused"
check_match "xmc: the log says why" "$(jf_log_new | grep jumpfunc)" 'KGDB'
jf_load backend=auto
check_eq "auto: it is the kernel's protocol" "$(jf_stat backend)" kernel
check "auto: a storm loads" jf_insmod jf_storm
check "auto: updates go through" storm
good "auto"
check_eq "auto: no INT3 of ours was hit" "$(jf_stat int3_hits)" 0
jf_rmmod jf_storm
jf_unload
check "kgdboc gives the port back" detached

# ---- it is attached later, and detached ----

jf_load backend=auto
check "later: a storm loads" jf_insmod jf_storm
check "later: a key loads" jf_insmod jf_sample_key
check "later: it is on" verbose 1
check "later: another one, which is off" jf_insmod jf_keystorm
check "later: updates go through" storm
xmc=$(jf_stat by_xmc)
check_match "later: by our protocol, too" "$xmc" '^[1-9]'
check "later: kgdboc takes a serial port" attached
jf_log_mark
check "later: updates go through beside it" storm
good "later"
check_eq "later: not by our protocol" "$(jf_stat by_xmc)" "$xmc"
check_match "later: the log says why" "$(jf_log_new | grep jumpfunc)" 'KGDB'
# A nop at a branch cannot be changed by the kernel, but a jump of length zero.
check_fails "later: a key that is off is refused" toggle
check "later: one that is on is put off" verbose 0
check "later: ... and on" verbose 1
check "later: a module with a target loads" jf_insmod jf_sample_provider
check "later: ... and unloads" jf_rmmod jf_sample_provider
check "kgdboc gives the port back" detached
# It is asked again every ten seconds.
sleep 11
check "without: a key that is off is put on" toggle
check "without: one that is on is put off" verbose 0
check "without: updates go through" storm
check_match "without: by our protocol again" "$(($(jf_stat by_xmc) - xmc))" '^[1-9]'
jf_rmmod jf_keystorm
jf_rmmod jf_sample_key
jf_rmmod jf_storm
jf_unload

jf_load backend=xmc
check "xmc: a storm loads" jf_insmod jf_storm
check "xmc: kgdboc takes a serial port" attached
check_fails "xmc: updates are refused" jf_write functions "func2=jf_func2_1"
check_eq "xmc: nothing has changed" "$(jf_target func2)" 0
check "kgdboc gives the port back" detached
sleep 11
check "xmc: updates go through" jf_write functions "func2=jf_func2_1"
check_eq "xmc: it has changed" "$(jf_target func2)" 1
jf_rmmod jf_storm
jf_unload
jf_done
