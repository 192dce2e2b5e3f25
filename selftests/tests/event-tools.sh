#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=3: slow, in a large machine; event-life.sh has events on each kernel
# JF_ANY_BACKEND: it shows the same with each of them
# JF_TIMEOUT=180
# JF_VM=--with bpftrace
# JF_TRACE_EVENT(): off it is a nop; on, trace-cmd, perf, bpftrace and all that tracefs offers treat it as any event.
. "$(dirname "$0")/../lib/lib.sh"

T=$JF_TRACEFS
E=$T/events/jf_sample
P=/sys/module/jf_sample_event/parameters/packets
events="jf_sample_drop jf_sample_pass jf_sample_rx"

jf_start "JF_TRACE_EVENT(): off, and with each tool"
[ -d $T/events ] || jf_skip_all "no tracefs in this kernel (CONFIG_TRACING)"
jf_has jf_sample_event || jf_skip_all "no jf_sample_event.ko: build samples"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)

packets() { echo "$1" >$P; }
printf 'echo 9 >%s\nsleep 0.3\n' $P >"$JF_TMP/work"

# leads EVENT: the kind of code that its call leads to
leads() { awk -v n="__jf_tp_$1" '$1 == n {print $4}' $JF/functions | sed 's/_[0-9]*$//; s/_small$//'; }
all_lead() { for e in $events; do leads "$e"; done | sort -u; }
# The instruction at the call of an event, in the function that it stands in.
at_call() { awk -v n="__jf_tp_$1" '/^[^ ]/ {mine = $1 == n} mine && $1 == "call" {print $NF == "[jumpfunc]" ? "call" : $NF; exit}' $JF/functions; }
on=jf_single
[ "$be" != indirect ] || on=__jf_iter

# is_off WHEN: all of them are, as the compiler left them
is_off()
{
	check_eq "$1: no event leads anywhere" "$(all_lead)" none
	[ "$be" = indirect ] || check_eq "$1: the call is a nop" "$(at_call jf_sample_rx) $(at_call jf_sample_drop)" "nop nop"
	check_eq "$1: the branches are off" "$(awk '/^__jf_on_/ && $2 == "jf_sample_event" {print $3}' $JF/keys | xargs)" "off off off"
}

# count EVENT LIST: lines of it
count() { grep -c " $1: " "$2"; }

check "the sample loads" jf_insmod jf_sample_event
check_eq "its events" "$(cd $E && echo */ | tr -d /)" "$events"
is_off "at first"

# ---- tracefs: enable, filter, triggers, instances ----

off() { echo 0 >$E/enable; echo >$T/trace; }
jf_on_exit "echo 0 >$E/enable; echo >$T/trace"
check "enable" sh -c "echo 1 >$E/enable"
check_match "each event leads to its forwarder" "$(all_lead | sed 's/_jf_sample.*//')" "^$on\$"
check "packets" packets 9
check_eq "nine were received, six passed, three dropped" \
	"$(count jf_sample_rx $T/trace) $(count jf_sample_pass $T/trace) $(count jf_sample_drop $T/trace)" "9 6 3"
check_match "a record as people read it" "$(grep -m 1 'jf_sample_rx:' $T/trace)" 'dev=jf0 id=[0-9]+ len=10[01] queue=[0-3]$'
off
is_off "disabled"
check "packets without a user of the event" packets 9
check_eq "nothing is recorded" "$(count jf_sample_rx $T/trace)" 0

echo 'len > 1500' >$E/jf_sample_rx/filter
echo 1 >$E/jf_sample_rx/enable
packets 9
check_eq "a filter lets three pass" "$(count jf_sample_rx $T/trace)" 3
echo 0 >$E/jf_sample_rx/filter
off

if [ -e $E/jf_sample_rx/hist ]; then
	echo 'hist:keys=queue:vals=len' >$E/jf_sample_rx/trigger
	check_match "a histogram alone turns the event on" "$(leads jf_sample_rx)" "^$on"
	packets 12
	check_eq "the histogram counts by queue" "$(grep -c '{ queue: *[0-3] } hitcount: *3 ' $E/jf_sample_rx/hist)" 4
	echo '!hist:keys=queue:vals=len' >$E/jf_sample_rx/trigger
	is_off "without the histogram"
else
	skip "a histogram" "not in this kernel (CONFIG_HIST_TRIGGERS)"
fi
echo 'traceoff:1' >$E/jf_sample_drop/trigger
packets 3
check_eq "a trigger without a record" "$(cat $T/tracing_on)" 0
echo '!traceoff:1' >$E/jf_sample_drop/trigger
echo 1 >$T/tracing_on
is_off "without the trigger"

mkdir $T/instances/jf_a $T/instances/jf_b
jf_on_exit "rmdir $T/instances/jf_a $T/instances/jf_b"
for i in jf_a jf_b; do echo 1 >$T/instances/$i/events/jf_sample/jf_sample_rx/enable; done
packets 3
echo 0 >$T/instances/jf_a/events/jf_sample/jf_sample_rx/enable
check_match "one of two users has left: still on" "$(leads jf_sample_rx)" "^$on"
packets 4
check_eq "each user has what happened in its time" \
	"$(count jf_sample_rx $T/instances/jf_a/trace) $(count jf_sample_rx $T/instances/jf_b/trace)" "3 7"
rmdir $T/instances/jf_b
is_off "the last user has left, with its instance"

# ---- tools ----

if command -v trace-cmd >/dev/null; then
	check "trace-cmd record -e" trace-cmd record -q -o "$JF_TMP/dat" -e jf_sample sh "$JF_TMP/work"
	trace-cmd report -i "$JF_TMP/dat" >"$JF_TMP/report" 2>/dev/null
	check_eq "trace-cmd: the events" "$(for e in rx pass drop; do grep -c "jf_sample_$e:" "$JF_TMP/report"; done | xargs)" "9 6 3"
	check_eq "trace-cmd: their fields" "$(grep -c 'jf_sample_drop: *id=[0-9]* reason=-90' "$JF_TMP/report")" 3
	is_off "after trace-cmd"
else
	skip "trace-cmd" "not installed"
fi

if [ ! -e /proc/sys/kernel/perf_event_paranoid ]; then
	skip "perf" "no perf events in this kernel (CONFIG_PERF_EVENTS)"
elif command -v perf >/dev/null; then
	check "perf record -e" perf record -q -o "$JF_TMP/data" -a -e 'jf_sample:*' sh "$JF_TMP/work"
	perf script -i "$JF_TMP/data" -F event,trace >"$JF_TMP/report" 2>/dev/null
	check_eq "perf: the events" "$(for e in rx pass drop; do grep -c "jf_sample:jf_sample_$e:" "$JF_TMP/report"; done | xargs)" "9 6 3"
	is_off "after perf record"
	check "perf stat" perf stat -x, -o "$JF_TMP/stat" -e 'jf_sample:*' sh "$JF_TMP/work"
	check_eq "perf stat counts them" "$(awk -F, '$3 ~ /^jf_sample:/ {print $1}' "$JF_TMP/stat" | sort -n | xargs)" "3 6 9"
	check "perf record with a filter" perf record -q -o "$JF_TMP/data" -a -e jf_sample:jf_sample_rx --filter 'len > 1500' sh "$JF_TMP/work"
	check_eq "perf: three pass it" "$(perf script -i "$JF_TMP/data" -F event,trace 2>/dev/null | grep -c 'jf_sample_rx:.*len=9000')" 3
	if perf trace -h 2>&1 | grep -q -- '--event'; then
		check "perf trace -e" perf trace -a -e 'jf_sample:*' -o "$JF_TMP/ptrace" sh "$JF_TMP/work"
		check_eq "perf trace: the events" "$(grep -c 'jf_sample:jf_sample_' "$JF_TMP/ptrace")" 18
	else
		skip "perf trace" "not in this perf"
	fi
	# The call chain leads through the forwarder to the event's caller.
	check "perf record -g" perf record -q -g -o "$JF_TMP/data" -e jf_sample:jf_sample_drop sh "$JF_TMP/work"
	perf script -i "$JF_TMP/data" -F ip >"$JF_TMP/report" 2>/dev/null
	check_eq "perf: the chain shows the caller" "$(jf_functions_of "$JF_TMP/report" | grep -cE ' (receive|receive_many|packets_set)(\.|$)' | awk '{print ($1 >= 3)}')" 1
	is_off "after perf"
else
	skip "perf" "not installed"
fi

if [ ! -e /sys/kernel/btf/vmlinux ]; then
	skip "bpf" "no type information in this kernel (CONFIG_DEBUG_INFO_BTF)"
else
	if jf_tool bpf_rawtp; then
		check_match "a raw tracepoint of BPF" "$(bpf_rawtp jf_sample_rx sh "$JF_TMP/work" 2>&1)" '^hits 9 arg [0-3]$'
		check_match "a raw tracepoint sees arguments" "$(bpf_rawtp jf_sample_drop sh "$JF_TMP/work" 2>&1)" '^hits 3 arg (18446744073709551526|4294967206)$'
		is_off "after raw tracepoints"
	else
		skip "raw tracepoints" "no bpf_rawtp: it needs a C compiler"
	fi
	why=$(jf_no_bpftrace)
	if [ -n "$why" ]; then
		skip "bpftrace" "$why"
	else
		check "bpftrace tracepoint" sh -c "bpftrace -c 'sh $JF_TMP/work' -e '
			tracepoint:jf_sample:jf_sample_rx { @rx = count(); @len = max(args->len); }
			tracepoint:jf_sample:jf_sample_drop { @drop[args->reason] = count(); }' >$JF_TMP/bpf"
		check_eq "bpftrace: counts and fields" "$(grep '^@' "$JF_TMP/bpf" | sort | xargs)" "@drop[-90]: 3 @len: 9000 @rx: 9"
		# Versions before 0.18 know the word, and then say that they do not.
		if sh -c "bpftrace -l 'rawtracepoint:jf_sample*'" 2>&1 | grep -q jf_sample_rx; then
			check "bpftrace rawtracepoint" sh -c "bpftrace -c 'sh $JF_TMP/work' -e 'rawtracepoint:jf_sample_rx { @rx = count(); }' >$JF_TMP/bpf"
			check_eq "bpftrace: raw events" "$(grep '^@' "$JF_TMP/bpf")" "@rx: 9"
		else
			skip "bpftrace rawtracepoint" "not in this bpftrace"
		fi
		is_off "after bpftrace"
	fi
fi
jf_rmmod jf_sample_event
check "the core unloads" jf_unload
jf_done
