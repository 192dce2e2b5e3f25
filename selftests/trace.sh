#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# Static-call tracepoints in every back end: arguments, data, order, errors, stack traces; images
# that run out; probes whose module goes.
. "$(dirname "$0")/lib.sh"

T=/sys/kernel/debug/jf_trace_test
run() { echo "$1" >$T/run; }

jf_start "tracepoints of 0 to 12 arguments, 0 to 18 probes"
jf_has jf_trace_test || jf_skip_all "no jf_trace_test.ko: build selftests/modules"

for b in ${JF_BACKEND:-auto xmc kernel indirect}; do
	jf_load "backend=$b"
	check "$b: the test module loads" jf_insmod jf_trace_test
	for t in $(cat $T/tests); do
		check "$b: $t" run "$t"
	done
	check_eq "$b: the iterator serves what no chain holds" \
		"$([ "$(jf_stat trace_iter_many)" -gt 0 ] && echo yes)" yes
	check "$b: the test module goes" jf_rmmod jf_trace_test
	i=0
	while [ $i -lt 100 ] && [ "$(jf_stat images_used)" != 0 ]; do sleep 0.2; i=$((i + 1)); done
	check_eq "$b: all images are given back" "$(jf_stat images_used)" 0
	check "$b: the core goes" jf_unload
done
jf_done
