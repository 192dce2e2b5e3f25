#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=3: slow, in a large machine; kprobes-beside.sh and event-life.sh meet each kernel's tracers
# JF_TIMEOUT=180
# JF_VM=--with bpftrace --with pahole --with objcopy
# kprobes, function tracing, livepatch, BPF's fentry and perf's call chains, on what jumpfunc calls: a target that a
# site and a trampoline lead to, a probe in an image, probes in a chain, and functions with sites. They see each call
# once, and calls go where they should before, during and after observation, and when targets change meanwhile.
. "$(dirname "$0")/../lib/lib.sh"

T=$JF_TRACEFS
P=/sys/module/jf_observed/parameters
L=/sys/kernel/livepatch/jf_observed_patch

jf_start "observers of targets, probes, chains and functions with sites"
jf_has jf_observed || jf_skip_all "no jf_observed.ko: build selftests/modules"
[ -e $T/trace ] || jf_skip_all "no tracefs in this kernel (CONFIG_TRACING)"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)
leads() { awk -v n="$1" '$1 == n {print $4}' $JF/functions | sed 's/_[0-9]*$//; s/_small$//'; }

# fire: calls everything with 1 to 4; prints what each has added up
fire() { echo 4 >$P/fire; cat $P/sums; }
one="4014 4014 10 10 20" two="4018 4018 10 10 20"
# retarget WHEN: calls arrive, with either target
retarget()
{
	check_eq "$1: each call arrives once" "$(fire)" "$one"
	check "$1: another target" sh -c "echo 2 >$P/target"
	check_eq "$1: ... is called" "$(fire)" "$two"
	check "$1: and back" sh -c "echo 1 >$P/target"
	check_eq "$1: ... is called again" "$(fire)" "$one"
}
# What is called how often by one retarget(): 12 times each, the second target 8 of 24.
functions="obs_site obs_tramp obs_event obs_one obs_two obs_single obs_chain_a obs_chain_b"
calls="12 12 12 16 8 12 12 12"

observe() { check "jf_observed loads" jf_insmod jf_observed; }
observe
if [ "$be" != indirect ]; then
	check_eq "an image and a chain call the probes" "$(leads __jf_tp_obs_single) $(leads __jf_tp_obs_chain)" "jf_single jf_chain"
fi
retarget "without observers"

# ---- kprobes ----

no_probes() { echo 0 >$T/events/jfo/enable; echo >$T/kprobe_events; echo >$T/trace; }
if [ -w $T/kprobe_events ]; then
	jf_on_exit no_probes
	for f in $functions; do
		echo "p:jfo/p_$f jf_observed:$f" >>$T/kprobe_events
		echo "r:jfo/r_$f jf_observed:$f ret=\$retval" >>$T/kprobe_events
	done
	check "a kprobe and a return probe on each function" sh -c "echo 1 >$T/events/jfo/enable"
	retarget "kprobes"
	check_eq "kprobes: each saw each call" "$(for f in $functions; do grep -c " p_$f: " $T/trace; done | xargs)" "$calls"
	check_eq "return probes: each saw each return" "$(for f in $functions; do grep -c " r_$f: " $T/trace; done | xargs)" "$calls"
	check_eq "return probes: what the target returned" "$(grep -o ' r_obs_one: .* ret=.*' $T/trace | sed 's/.*=0x//' | sort | uniq -c | xargs)" "4 2 4 3 4 4 4 5"
	no_probes
	retarget "after kprobes"
else
	skip "kprobes" "no kprobe events in this kernel (CONFIG_KPROBE_EVENTS)"
fi

# ---- function tracing ----

no_tracer() { echo nop >$T/current_tracer; echo >$T/set_ftrace_filter; echo >$T/trace; }
if grep -qw function $T/available_tracers; then
	jf_on_exit no_tracer
	for f in $functions; do echo "$f" >>$T/set_ftrace_filter; done
	check "function tracing" sh -c "echo function >$T/current_tracer"
	retarget "function tracing"
	check_eq "function tracing saw each call" "$(for f in $functions; do grep -cE ": $f( |\$)" $T/trace; done | xargs)" "$calls"
	# The caller, by the return address: the site's function, or the chain.
	check_eq "function tracing: the target's caller" \
		"$(grep -oE ' obs_one <-.*' $T/trace | sed 's/ obs_one <-//; s/ .*//; s/\..*//' | sort | uniq -c | xargs)" "8 obs_site 8 obs_tramp"
	if [ "$be" != indirect ]; then
		check_match "function tracing: the caller of a probe in a chain" "$(grep -oE ' obs_chain_a <-.*' $T/trace | sort -u)" '^ obs_chain_a <-jf_chain'
		check_match "function tracing: the caller of a probe in an image" "$(grep -oE ' obs_single <-.*' $T/trace | sort -u)" '^ obs_single <-obs_event'
	fi
	echo >$T/trace
	if grep -qw function_graph $T/available_tracers; then
		check "function graph" sh -c "echo function_graph >$T/current_tracer"
		retarget "function graph"
		check_eq "function graph saw each call" "$(for f in $functions; do grep -cE " $f( \[jf_observed\])?\(\)" $T/trace; done | xargs)" "$calls"
	fi
	no_tracer
	retarget "after function tracing"
else
	skip "function tracing" "not in this kernel (CONFIG_FUNCTION_TRACER)"
fi

# ---- call chains ----

if command -v perf >/dev/null && [ -e /proc/sys/kernel/perf_event_paranoid ] && [ -w $T/kprobe_events ]; then
	# chain EVENT: the functions on the way to it, innermost first
	for f in obs_one obs_single obs_chain_a obs_chain_b; do echo "p:jfo/p_$f jf_observed:$f" >>$T/kprobe_events; done
	check "perf record -g" perf record -q -g -o "$JF_TMP/data" -e 'jfo:*' sh -c "echo 2 >$P/fire"
	perf script -i "$JF_TMP/data" -F event,ip >"$JF_TMP/report" 2>/dev/null
	jf_functions_of "$JF_TMP/report" |
		awk '/jfo:p_/ {printf "\n%s", $1; n = 0; next} NF > 1 && n++ < 4 {sub(/\..*/, "", $2); printf " %s", $2}' |
		sed 's/^jfo:p_//; s/: / /; s/jf_chain[_a-z0-9]*/jf_chain/' >"$JF_TMP/chains"
	note "$(cat "$JF_TMP/chains")"
	if [ "$be" != indirect ]; then
		c=jf_chain
		check_match "a chain from the target, by the site" "$(cat "$JF_TMP/chains")" '^obs_one obs_one obs_site fire_set param_attr_store'
		check_match "a chain from the target, by the trampoline" "$(cat "$JF_TMP/chains")" '^obs_one obs_one obs_tramp fire_set param_attr_store'
		check_match "a chain from a probe in an image" "$(cat "$JF_TMP/chains")" '^obs_single obs_single obs_event fire_set param_attr_store'
		for f in obs_chain_a obs_chain_b; do
			check_match "a chain from $f, through jumpfunc's" "$(cat "$JF_TMP/chains")" "^$f $f $c obs_event fire_set"
		done
	fi
	no_probes
	cat $P/sums >/dev/null
else
	skip "call chains" "no perf, or no kprobe events"
fi

# ---- livepatch ----

settled()
{
	i=0
	while [ "$(cat $L/transition 2>/dev/null)" = 1 ]; do
		[ $((i += 1)) -lt 600 ] || return 1
		sleep 0.1
	done
}
if jf_has jf_observed_patch && [ -d /sys/kernel/livepatch ]; then
	# livepatch has to read the stack of a task that sleeps in a chain.
	check "a task sleeps in a chain" sh -c "echo 1 >$P/stay"
	check "a livepatch" jf_insmod jf_observed_patch
	check "is in force everywhere while it does" settled
	check_eq "the task still does" "$(cat $P/stay)" 1
	echo 0 >$P/stay
	cat $P/sums >/dev/null
	# A million more from each call of what was replaced; obs_tramp's site is not called.
	check_eq "livepatch: a probe and a function with a site are replaced" "$(fire)" "4014 4000010 4000010 10 20"
	check "livepatch: another target" sh -c "echo 2 >$P/target"
	check_eq "livepatch: ... the replaced one" "$(fire)" "4004018 4000010 4000010 10 20"
	check "livepatch: and back" sh -c "echo 1 >$P/target"
	check_eq "livepatch: ... is called again" "$(fire)" "4014 4000010 4000010 10 20"
	check "the livepatch is disabled" sh -c "echo 0 >$L/enabled"
	i=0
	while [ -d $L ] && [ $((i += 1)) -lt 600 ]; do sleep 0.1; done
	check "and unloads" jf_rmmod jf_observed_patch
	retarget "after livepatch"

	# The other way round: the livepatch is loaded first.
	jf_rmmod jf_observed
	check "a livepatch of a module that is not loaded yet" jf_insmod jf_observed_patch
	observe
	check_eq "it finds what it replaces" "$(fire)" "4014 4000010 4000010 10 20"
	jf_rmmod jf_observed
	check "disabled with nothing to replace" sh -c "echo 0 >$L/enabled"
	i=0
	while [ -d $L ] && [ $((i += 1)) -lt 600 ]; do sleep 0.1; done
	jf_rmmod jf_observed_patch
	observe
	retarget "without it"
else
	skip "livepatch" "not in this kernel (CONFIG_LIVEPATCH)"
fi

# ---- fentry ----

why=
if ! command -v bpftrace >/dev/null || ! command -v pahole >/dev/null || ! command -v objcopy >/dev/null; then
	why="no bpftrace, pahole or objcopy"
elif [ ! -e /sys/kernel/btf/vmlinux ]; then
	why="no type information in this kernel (CONFIG_DEBUG_INFO_BTF)"
else
	# The module as a kernel's build would have made it, with its types.
	jf_rmmod jf_observed
	cp "$(jf_ko jf_observed)" "$JF_TMP/jf_observed.ko"
	check "the module gets type information" env LLVM_OBJCOPY=objcopy pahole -J --btf_base /sys/kernel/btf/vmlinux "$JF_TMP/jf_observed.ko"
	if ! insmod "$JF_TMP/jf_observed.ko" 2>/dev/null; then
		why="this kernel does not understand the types that pahole $(pahole --version) writes"
		insmod "$(jf_ko jf_observed)"
	elif [ ! -e /sys/kernel/btf/jf_observed ]; then
		why="this kernel knows no types of modules (before 5.11)"
	fi
	JF_LOADED="jf_observed $JF_LOADED"
fi
if [ -n "$why" ]; then
	skip "fentry" "$why"
else
	printf 'echo 4 >%s/fire\necho 2 >%s/target\necho 4 >%s/fire\necho 1 >%s/target\necho 4 >%s/fire\n' $P $P $P $P $P >"$JF_TMP/work"
	for f in $functions; do
		printf 'kfunc:jf_observed:%s { @%s = count(); }\n' "$f" "$f"
	done >"$JF_TMP/prog"
	printf 'kretfunc:jf_observed:obs_one { @ret = sum(retval); }\n' >>"$JF_TMP/prog"
	check "fentry and fexit on each function" sh -c "bpftrace -c 'sh $JF_TMP/work' $JF_TMP/prog >$JF_TMP/bpf"
	check_eq "fentry: each saw each call" "$(for f in $functions; do sed -n "s/^@$f: //p" "$JF_TMP/bpf"; done | xargs)" "$calls"
	# Twice 2 + 3 + 4 + 5, by the site and by the trampoline.
	check_eq "fexit: what the target returned" "$(sed -n 's/^@ret: //p' "$JF_TMP/bpf")" 56
	check_eq "each call has arrived once" "$(cat $P/sums)" "12046 12046 30 30 60"
	retarget "after fentry"
fi
jf_rmmod jf_observed
check "the core unloads" jf_unload
jf_done
