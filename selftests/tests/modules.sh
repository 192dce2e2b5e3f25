#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Modules that define, call and are targets of dynamic functions are loaded and unloaded, in every order, while
# calls are under way on all CPUs.  JF_LONG=1 makes a thousand rounds.
# JF_TIMEOUT=300
# JF_TIMEOUT_LONG=7200
. "$(dirname "$0")/../lib/lib.sh"

if [ "${JF_LONG:-0}" = 1 ]; then rounds=1000 cores=100; else rounds=8 cores=2; fi
jf_start "modules are loaded and unloaded in every order"

query() { awk -v n="$1" '$1 == n {print $4}' $JF/functions; }
sites() { awk -v n="$1" '$1 == n {print $NF}' $JF/functions; }

# host_calls: notes what the callers of jf_host said they did
host_calls()
{
	log=$(jf_log_new | sed -n 's/.*jf_host: //p')
	note "$log"
	# shellcheck disable=SC2046
	jf_count calls $(echo "$log" | sed -n 's/^\([0-9]*\) calls$/\1/p')
}

# ---- the samples do what their sources say ----

check_fails "the provider does not load without jumpfunc" insmod "$(jf_ko jf_sample_provider)"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)
check_fails "the consumer does not load without the provider" insmod "$(jf_ko jf_sample_consumer)"
jf_log_mark
check "jf_sample_provider loads" jf_insmod jf_sample_provider
check_match "it calls its functions from its init" "$(jf_log_new)" 'a packet of 60 bytes gives 60$'
first=$(sites sample_filter)
check "jf_sample_consumer loads" jf_insmod jf_sample_consumer
log=$(jf_log_new)
check_match "the consumer finds the initial targets" "$log" \
	'as found: filter 1 0, by trampoline 1 0, received 1000 0, seen 0$'
check_match "it changes one" "$log" 'with a hook: filter 1 0, by trampoline 1 0, received 1000 0, seen 2$'
check_match "it changes all in a batch" "$log" 'after a batch: filter 1 0, by trampoline 1 0, received 100 0, seen 4$'
check_eq "functions tells the target, in a field of its own" \
	"$(awk '$1 == "sample_filter" {print $4, NF}' $JF/functions)" "accept_web 6"
if [ "$be" != indirect ]; then
	check_eq "functions counts sites of both modules" "$(sites sample_filter)" $((first + 2))
fi
check_fails "jumpfunc cannot be unloaded while it is used" rmmod jumpfunc
check_fails "the provider cannot be unloaded before the consumer" rmmod jf_sample_provider

# By name, to what the owners allow.
check "a target by name" jf_write functions "sample_filter=accept_all"
check_eq "... is called" "$(query sample_filter)" accept_all
check "several by name are one batch" jf_write functions "sample_filter=accept_web sample_hook=print_packet"
check_eq "... both changed" "$(query sample_filter) $(query sample_hook)" "accept_web print_packet"
check_fails "what the owner does not allow is refused" jf_write functions "sample_filter=accept_short sample_hook=two_per_port"
check_eq "... and so is the rest of that write" "$(query sample_filter) $(query sample_hook)" "accept_web print_packet"
check "default and none" jf_write functions "sample_hook=none sample_quota=default"
check_eq "... are the initial state" "$(query sample_hook) $(query sample_quota)" "none return-0"

jf_log_mark
check "jf_sample_consumer unloads" jf_rmmod jf_sample_consumer
check_match "the core undoes what the consumer left" "$(jf_log_new)" 'jf_sample_consumer is unloaded: 1 dynamic function'
check_eq "the initial target is back" "$(query sample_filter)" accept_short
check_eq "its sites are unregistered" "$(sites sample_filter)" "$first"
check_fails "a target of an unloaded module cannot be named" jf_write functions "sample_filter=accept_web"
check "the consumer loads again" jf_insmod jf_sample_consumer
check "and unloads again" jf_rmmod jf_sample_consumer
check "jf_sample_provider unloads" jf_rmmod jf_sample_provider
check_eq "its functions are unregistered" "$(query sample_filter)" ""

# ---- targets are unloaded while they are called ----

check "jf_host loads" jf_insmod jf_host
n=$(jf_stat fallbacks)
echo start >/sys/kernel/debug/jf_host/run
ok=1 i=0
while [ $i -lt $rounds ] && [ $ok = 1 ]; do
	i=$((i + 1))
	for m in jf_plain jf_user; do
		jf_insmod $m || ok=0
		jf_rmmod $m || ok=0
	done
done
check_eq "$rounds times two targets were loaded and unloaded" "$ok $i" "1 $rounds"
check_eq "each time the function fell back" $(($(jf_stat fallbacks) - n)) $((2 * rounds))
# Modules that fail to initialise have been targets all the same.
for m in jf_plain jf_user; do
	n=$(jf_stat fallbacks)
	check_fails "$m fails to initialise after its update" insmod "$(jf_ko $m)" fail=1
	check "... and the function fell back" [ "$(jf_stat fallbacks)" -gt "$n" ]
	check_eq "... to its initial target" "$(query keys_op)" keys_initial
done
jf_log_mark
jf_cases jf_host callers
host_calls
check_eq "its sites are its own again" "$(sites keys_op)" "$([ "$be" = indirect ] && echo 0 || echo 4)"

# ---- no task is inside any more ----

preempt=/sys/kernel/debug/sched/preempt
now=$(sed -n 's/.*(\(.*\)).*/\1/p' $preempt 2>/dev/null) || true
# Where it can be chosen, full preemption is the one that matters.
modes=-
[ -z "$now" ] || modes=full
[ -z "$now" ] || [ "${JF_LONG:-0}" = 0 ] || modes=$(tr -d '()' <$preempt)
for mode in $modes; do
	[ "$mode" = - ] || echo "$mode" >$preempt
	jf_log_mark
	jf_cases jf_host quiesce "preempt=$mode: "
	host_calls
	# A target in which tasks are preempted all the time is unloaded.
	echo start >/sys/kernel/debug/jf_host/run
	ok=1
	for i in 1 2; do
		jf_insmod jf_plain spin_us=60000 || ok=0
		jf_rmmod jf_plain || ok=0
	done
	check_eq "preempt=$mode: a slow target was loaded and unloaded" $ok 1
	jf_cases jf_host callers "preempt=$mode: "
done
[ -z "$now" ] || echo "$now" >$preempt
check "jf_host unloads" jf_rmmod jf_host

# ---- an update races with the module's unloading ----

check "jf_sample_provider loads" jf_insmod jf_sample_provider
(
	won=0 lost=0
	trap 'echo "$won $lost" >"$JF_TMP/race"; exit 0' TERM
	while :; do
		if echo "sample_filter=accept_web sample_hook=count_packet" >$JF/functions; then
			won=$((won + 1))
		else
			lost=$((lost + 1))
		fi
	done 2>/dev/null
) &
JF_PIDS="$JF_PIDS $!"
ok=1 i=0
while [ $i -lt $rounds ]; do
	i=$((i + 1))
	insmod "$(jf_ko jf_sample_consumer)" || ok=0
	rmmod jf_sample_consumer || ok=0
done
jf_stop_all
check_eq "updates by name raced with $rounds loads and unloads" $ok 1
note "updates won and lost: $(cat "$JF_TMP/race")"
check_match "... some of them won and some lost" "$(cat "$JF_TMP/race")" '^[1-9][0-9]* [1-9]'
check_eq "... and nothing leads into the module" "$(query sample_filter) $(query sample_hook)" "accept_short none"
check "jf_sample_provider unloads" jf_rmmod jf_sample_provider

# ---- all of it, over and over ----

check "jumpfunc unloads" jf_unload
ok=1 i=0
while [ $i -lt $cores ]; do
	i=$((i + 1))
	for m in jumpfunc jf_sample_provider jf_sample_consumer; do insmod "$(jf_ko $m)" || ok=0; done
	for m in jf_sample_consumer jf_sample_provider jumpfunc; do rmmod $m || ok=0; done
done
check_eq "$cores times everything was loaded and unloaded" $ok 1
jf_done
