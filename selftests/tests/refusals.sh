#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ARM64: what is checked, and refused
# Updates, batches and tables that must be refused: with the right error, with a reason in the log,
# and with every site of every module as it was.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "what cannot be done is refused and changes nothing"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)
patches=1
[ "$be" != indirect ] || patches=0

# All sites of all modules with their bytes, and what all functions lead to, but not how often they changed.
state() { awk '/^ / {print; next} {$(NF - 1) = ""; print}' $JF/functions; cat $JF/keys 2>/dev/null; }

# ---- updates ----

check "jf_refusals loads" jf_insmod jf_refusals patches=$patches
before=$(state)
for c in range null twice circular unknown foreign int3 atomic batch alias; do
	jf_cases jf_refusals $c
	after=$(state)
	if [ "$after" = "$before" ]; then
		pass "$c: all sites are as they were"
	else
		fail "$c: all sites are as they were" "$(printf '%s\n' "$before" >"$JF_TMP/a"; printf '%s\n' "$after" | diff "$JF_TMP/a" - | head -n 10)"
	fi
done
fails=$(cat /sys/module/jf_refusals/parameters/fails)
case $be in
kernel | indirect) check_eq "alias: $be has no mapping that can fail" "$fails" 0 ;;
*)
	if grep -qw register_kretprobe /proc/kallsyms; then
		check_eq "alias: the mapping failed once" "$fails" 1
	else
		skip "alias: the mapping failed once" "no return probes"
	fi
	;;
esac
check_eq "an update from atomic context is told once" "$(jf_log | grep -c 'update from atomic context')" 1
n=$(jf_stat sync_broadcasts)
jf_cases jf_refusals nothing
check_eq "what changes nothing broadcasts nothing" "$(jf_stat sync_broadcasts)" "$n"

# ---- modules that are being loaded and unloaded ----

jf_log_mark
check "jf_refusals_target loads" jf_insmod jf_refusals_target
check "jf_refusals_target unloads" jf_rmmod jf_refusals_target
jf_log_new | grep 'jf_refusals_target: ' >"$JF_TMP/log"
# EINVAL is 22, EBUSY is 16.
said() { check_eq "$1" "$(sed -n "s/.*jf_refusals_target: $1: //p" "$JF_TMP/log")" "$2"; }
said "own function to init text" "-22, then 501"
said "other function to init text" "-22, then 2"
said "own function from init" "0, then 601"
said "other function from init" "0, then 501"
said "own function from exit" "-16, then 601"
said "other function to an unloading module" "-16, then 501"
said "both from exit" "-16, then 501"
check_eq "what led into the module fell back" "$(state)" "$before"
check_eq "one function fell back" "$(jf_stat fallbacks)" 1
check "jf_refusals unloads" jf_rmmod jf_refusals

# ---- bad tables ----

before=$(state)
check "jf_spoil loads" jf_insmod jf_spoil
# refused NAME REASON
refused()
{
	printf %s "$1" >/sys/module/jf_spoil/parameters/what
	jf_log_mark
	if insmod "$(jf_ko jf_spoil_victim)" 2>"$JF_TMP/out"; then
		fail "a table with bad $1 is refused" "it was accepted: $(jf_log_new)"
		rmmod jf_spoil_victim
		return
	fi
	check_match "a table with bad $1 is refused with a reason" "$(jf_log_new | grep 'jumpfunc: jf_spoil_victim:')" "$2"
}

for w in magic size; do refused $w "another version"; done
for w in owner outside order; do refused $w "outside of the module"; done
for w in foreign none count; do refused $w "outside of the module"; done
for w in tramp name enttype; do refused $w "not the module's"; done
refused twice "define victim_a twice"
refused init "init text"
if jf_patching; then
	refused type "wrong type"
	refused key "no loaded module defines"
fi
refused targets "targets names no dynamic function"
for w in list many noname; do refused $w "list of targets is not in the module"; done
if [ $patches = 1 ]; then
	refused site "is not in the module"
	for w in bytes flags wrongtramp; do refused $w "unexpected instruction"; done
	refused overlap "overlap"
	# Elsewhere a pointer leads there.
	! jf_x86 || refused far "out of reach"
fi
check_eq "none of them changes anything" "$(state)" "$before"
printf nothing >/sys/module/jf_spoil/parameters/what
check "the same module with good tables loads" jf_insmod jf_spoil_victim
check "... and unloads" jf_rmmod jf_spoil_victim
check "jumpfunc goes on working" jf_write func1 1
check_eq "... and its functions do, too" "$(jf_call 1 | cut -d" " -f1)" 1
jf_done
