#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ARM64: each form of a branch site
# JF_TIMEOUT=120
# Every kind of key, in every form of branch, in every state, in the module that defines it and in
# another one, checked by what runs and, where sites hold nops, by the bytes.
#
# Seen to fail with the code broken on purpose:
#   jf_site_encode(), meaning of "likely" and "unlikely" swapped	every key, initial state
#   jf_patch_new() not called				bytes after load
#   jf_module_live() not forgetting __init sites		the kernel oopses
#   jf_module_live() not sealing read-only keys		the kernel oopses
#   jf_check_change() without the check of users, jf_key_inc() without that of INT_MAX,
#   jf_key_dec() without that of zero			every key
#   jf_commit_locked() giving the back end its sites one by one	broadcasts
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/branch.sh"

jf_start "jump labels: the truth table"
jf_has jf_keys || jf_skip_all "no jf_keys.ko: build selftests/modules"
jf_load
check "the module with keys loads, and uses them in its init" jf_insmod jf_keys
check "no probe went wrong in __init text" good
check_bytes "bytes of all sites after load"
check "the second module loads" jf_insmod jf_keyuse
check "nor in the second module" good

check_lines "" "$(cat $K/table)"
check_bytes "bytes of all sites after the table"
check "the table left the keys as they were" good

b=$(jf_stat sync_broadcasts) n=$(jf_stat batches) c=$(jf_stat updates)
check_lines "" "$(cat $K/batch)"
# Four commits go through; the two that are refused send nothing.
if [ "$(jf_stat backend)" = xmc ]; then
	check_eq "$(jf_broadcasts) broadcast(s) for each of the four commits" "$(($(jf_stat sync_broadcasts) - b))" $(($(jf_broadcasts) * 4))
	check_eq "each one transaction" "$(($(jf_stat batches) - n))" 4
fi
check_match "that change many keys" "$(($(jf_stat updates) - c))" '^[5-9][0-9]$'

# What keys shows, while no key is in its initial state.
jf_on_exit "true"
check "keys are set by mask" sh -c "echo 0xffffffffffffffff >$K/set"
check_match "keys: on" "$(cat $JF/keys)" '^jft_array_false\[1\] jf_keys on 1 [0-9]+ [0-9]+$'
check_bytes "bytes of all sites with all keys on"
check "all off" sh -c "echo 0 >$K/set"
check_match "keys: off" "$(cat $JF/keys)" '^jft_array_true\[2\] jf_keys off 0 [0-9]+ [0-9]+$'
check_match "keys: read-only" "$(cat $JF/keys)" '^jft_true_ro_left jf_keys on,ro 1 0 [0-9]+$'
check_bytes "bytes of all sites with all keys off"
check "probes agree" good

check_eq "sites in __init text are forgotten" "$(grep -c ' init_\| use_init' $JF/keys)" 0
for k in jft_false jft_true_ro use_false; do
	check_eq "$k: as many sites as it says" "$(sites_listed $k)" "$(site_count $k)"
done
if [ "$(jf_stat backend)" != indirect ]; then
	check_match "loops are unrolled, so sites are copied" "$(grep -c ' main_false_loop+' $JF/keys)" '^([4-9]|[1-9][0-9]+)$'
	check_match "exit text has sites" "$(grep -c ' exit_false_' $JF/keys)" '^[1-9]'
fi

check "the second module unloads" jf_rmmod jf_keyuse
check "the first module unloads" jf_rmmod jf_keys
check_match "no probe went wrong in __exit text" "$(jf_log)" 'jf_keys: unloaded after [0-9]+ checks, 0 bad'
check_eq "all keys are unregistered" "$(grep -c 'jft_\|use_' $JF/keys)" 0
jf_done
