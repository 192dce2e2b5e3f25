#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries those that differ
# JF_TIMEOUT=300
# JF_KERNELS=2: patterns, and what a command is, are decided by our sources
# The file probes: tracepoints and calls are enabled by patterns of four parts, 1,024 of them in one transaction of
# three broadcasts; all of a command or nothing.
#
# Seen to fail (6.1) while a command that wanted a call on that is on no longer kept the target's module. What else has
# to make it fail is in the list of mutants, "probe names: ...".
. "$(dirname "$0")/../lib/lib.sh"

probes() { jf_write probes "$1"; }
hit() { echo "$1" >/sys/module/jf_trace_many/parameters/hit; }
# state PATTERN: how many lines of the file begin like that, which are on, and their hits together
state() { awk -v p="^$1" '$1 ~ p {n++; on += $2 == "on"; hits += $3} END {print n + 0, on + 0, hits + 0}' $JF/probes; }
refused()
{
	jf_log_mark
	check_fails "$1" probes "$2"
	check_match "... and the log says why" "$(jf_log_new)" "$3"
	check_eq "... and nothing has changed" "$(state trace:jf_trace_many)" "$4"
}

jf_start "probes by names of four parts"
jf_has jf_trace_many || jf_skip_all "no jf_trace_many.ko: build selftests/modules"
# The kernel's protocol writes one site after the other, and an emulator takes its time.
for b in ${JF_BACKEND:-auto indirect}; do
	jf_load "backend=$b"
	check "$b: a module with 1,024 tracepoints" jf_insmod jf_trace_many
	check_eq "$b: all are listed, and off" "$(state trace:jf_trace_many)" "1024 0 0"
	n=$(jf_stat sync_broadcasts) t=$(jf_stat batches)
	check "$b: all are enabled" probes "+trace:jf_trace_many:*:*"
	n=$(($(jf_stat sync_broadcasts) - n)) t=$(($(jf_stat batches) - t))
	want="1 $(jf_broadcasts)" one="hit_21" other="hit_3f"
	[ "$b" != indirect ] || want="0 0" one="-" other="-"
	check_eq "$b: ... in one transaction" "$t $n" "$want"
	check "$b: they are hit" hit 3
	check_eq "$b: ... and counted" "$(state trace:jf_trace_many)" "1024 1024 3072"
	check "$b: enabling them again changes nothing" probes "+trace:jf_trace_many:*:*"
	check "$b: all are disabled" probes "-trace:jf_trace_many::"
	check "$b: they are hit" hit 1
	check_eq "$b: ... and not counted" "$(state trace:jf_trace_many)" "1024 0 3072"
	jf_count calls 3072

	if [ "$b" != indirect ]; then
		check "$b: those in one function" probes "+trace:jf_trace_*:$one:*"
		check "$b: they are hit" hit 1
		check_eq "$b: ... and are 16" "$(state trace:jf_trace_many:$one)" "16 16 64"
		check_eq "$b: ... the others not" "$(state trace:jf_trace_many)" "1024 16 3088"
		check "$b: disabled, and some by their names in the same command" probes \
			"-trace:jf_trace_many:$one:* +trace:*:*:many_0?0"
		check_eq "$b: ... these are on" "$(state trace:jf_trace_many:.*:many_0.0)" "16 16 48"
		check_eq "$b: ... and no others" "$(state trace:jf_trace_many)" "1024 16 3088"
		refused "$b: a command of which one word fits nothing" "+trace:*:$other:* +trace:*:nowhere:*" \
			"nothing is trace:\*:nowhere:\*" "1024 16 3088"
	else
		check "$b: some by their names" probes "+trace:*:*:many_0?0"
		check_eq "$b: ... these are on" "$(state trace:jf_trace_many:.*:many_0.0)" "16 16 48"
		refused "$b: a command of which one word fits nothing" "+trace:*:*:many_3ff +trace:*:nowhere:*" \
			"nothing is trace:\*:nowhere:\*" "1024 16 3072"
	fi
	now=$(state trace:jf_trace_many)
	refused "$b: one that wants both" "+trace:*:*:many_111 -trace:*:*:many_11?" "many_111 is to be enabled and disabled" "$now"
	refused "$b: three parts" "+trace:jf_trace_many:*" "not understood" "$now"
	refused "$b: five parts" "+trace:jf_trace_many:*:*:*" "not understood" "$now"
	refused "$b: no sign" "trace:jf_trace_many:*:*" "not understood" "$now"
	refused "$b: nothing" " " "not understood" "$now"
	refused "$b: ftrace is no provider that a pattern fits" "+f*:*:*:*" "nothing is f\*:" "$now"
	check "$b: it unloads with probes enabled" jf_rmmod jf_trace_many
	check_eq "$b: ... and none is left" "$(state trace:jf_trace_many)" "0 0 0"
	check_fails "$b: ... to be enabled" probes "+trace:jf_trace_many:*:*"
	check "$b: it loads again" jf_insmod jf_trace_many
	check_eq "$b: ... with all of them off" "$(state trace:jf_trace_many)" "1024 0 0"
	check "$b: a call is led into a module that is kept for it" jf_insmod jf_many_guest
	check "$b: ... and is on" probes "+many:*:*:call"
	check_fails "$b: ... and the module is still kept" jf_rmmod jf_many_guest
	jf_log_mark
	check_fails "$b: ... and is not to be both on and off" probes "-many:*:*:* +many:*:*:*"
	check_match "$b: ... and the log says why" "$(jf_log_new)" "many:call is to be enabled and disabled"
	check "$b: ... and off" probes "-many:*:*:call"
	check "$b: ... and the module is not kept" jf_rmmod jf_many_guest
	check "$b: jumpfunc's own" probes "+trace:jumpfunc:*:jf_entry"
	check "$b: all are enabled once more" probes "+trace:*:*:*"
	n=$(jf_stat texts_read) t=$(jf_stat batches)
	check "$b: it unloads" jf_rmmod jf_trace_many
	n=$(($(jf_stat texts_read) - n)) t=$(($(jf_stat batches) - t))
	# Hundreds of its tracepoints had no image.
	check "$b: ... and its symbols were not read for each tracepoint, but $n times" [ $n -le 4 ]
	check "$b: ... nor had each a transaction, but all had $t" [ $t -le 2 ]

	if jf_has jf_sample_calls; then
		check "$b: calls of functions that do not exist" jf_insmod jf_sample_calls
		check "$b: ... are enabled" probes "+jobs:jf_sample_calls:*:*"
		check_eq "$b: ... each in every function" "$(awk '/^jobs:/ {print $2}' $JF/probes | sort -u)" on
		jf_log_mark
		echo 1 >/sys/module/jf_sample_calls/parameters/jobs
		check_match "$b: ... and lead to their first targets" "$(jf_log_new)" "jf_sample_calls: begin 1 a job"
		check_fails "$b: ... and are not to be both on and off" probes "+jobs:*:*:* -jobs:*:*:*"
		check_eq "$b: ... but stay on" "$(awk '/^jobs:/ {print $2}' $JF/probes | sort -u)" on
		check "$b: ... and are disabled" probes "-j*:*:*:*"
		check_eq "$b: ... each in every function" "$(awk '/^jobs:/ {print $2}' $JF/probes | sort -u)" off
		check "$b: the sample unloads" jf_rmmod jf_sample_calls
	fi
	if [ "$b" != indirect ] && jf_has jf_long_name; then
		check "$b: a function whose name is longer than the kernel's buffers" jf_insmod jf_long_name
		long=$(cat /sys/module/jf_long_name/parameters/function)
		listed() { awk -v p="trace:jf_long_name:$long:long_name" '$1 == p {print $2, $4}' $JF/probes; }
		check_eq "$b: ... is listed with its whole name" "$(listed)" "off 1"
		check "$b: ... and is enabled by it" probes "+trace:jf_long_name:$long:*"
		check_eq "$b: ... and is on" "$(listed)" "on 1"
		check "$b: ... and unloads" jf_rmmod jf_long_name
	fi
	check "$b: jumpfunc's own are disabled" probes "-trace:*:*:*"
	jf_images_back "$b: all images are given back"
	check "$b: the core unloads" jf_unload
done
jf_done
