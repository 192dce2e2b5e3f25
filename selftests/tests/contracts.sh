#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# JF_TIMEOUT=240
# Contracts of tracepoints and dynamic functions: what is around a call, what debugfs says of it, and
# that what a probe used may be freed after the wait that its contract names.
. "$(dirname "$0")/../lib/lib.sh"

last() { awk -v n="$1" '$1 == n {print $NF}' $JF/functions; }
backends="xmc indirect"
[ -z "${JF_LONG:-}" ] || backends="auto xmc kernel indirect"

jf_start "contracts of calls"
jf_has jf_contract || jf_skip_all "no jf_contract.ko: build selftests/modules"
for b in ${JF_BACKEND:-$backends}; do
	jf_load "backend=$b"
	check "$b: calls with each contract" jf_insmod jf_contract
	[ -z "${JF_LONG:-}" ] || echo 200 >/sys/kernel/debug/jf_contract/rounds
	jf_cases jf_contract around "$b: "
	jf_cases jf_contract freed "$b: "
	jf_cases jf_contract waits "$b: "
	check_eq "$b: a tracepoint's contract is RCU, if it is not told another" "$(last __jf_tp_ct_default)" rcu
	check_eq "$b: ... sleepable" "$(last __jf_tp_ct_sleepable)" sleepable
	check_match "$b: ... none" "$(last __jf_tp_ct_bare)" '^[0-9]+$'
	check_eq "$b: that of a dynamic function" "$(last ct_sum_sleepable)" sleepable
	check_eq "$b: ... of one file" "$(last ct_sum_rcu)" rcu
	check "$b: the module unloads" jf_rmmod jf_contract
	check "$b: the core unloads" jf_unload
done
jf_done
