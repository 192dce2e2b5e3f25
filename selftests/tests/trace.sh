#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it tries all of them itself
# JF_TIMEOUT=240
# Static-call tracepoints in every back end: arguments, data, order, errors, stack traces; images
# that run out; probes whose module is unloaded.
#
# Seen to fail with the code broken on purpose (6.1, back end xmc):
#   jf_fill() with each probe's data in the next slot	counts, priorities, errors, stack
#   jf_flip() without the key in its batch		counts, priorities, errors, lazy, stack
. "$(dirname "$0")/../lib/lib.sh"

T=/sys/kernel/debug/jf_trace_test
# What was wrong is in the log alone, of which a virtual machine may leave nothing.
run()
{
	echo "$1" >$T/run && return
	dmesg | grep jf_trace_test: | tail -n 60
	return 1
}
# guest PROBES LEAVE: all probes are called, with the right arguments; then their module is unloaded
guest()
{
	jf_insmod jf_trace_guest probes="$1" leave="$2" || return
	jf_p=/sys/module/jf_trace_guest/parameters jf_i=0
	while [ $jf_i -lt 100 ] && [ "$(cat $jf_p/calls)" -lt 300 ]; do sleep 0.05; jf_i=$((jf_i + 1)); done
	echo "called $(cat $jf_p/calls) times"
	[ "$(cat $jf_p/calls)" -ge 300 ] && [ "$(cat $jf_p/bad)" = 0 ] || return
	jf_rmmod jf_trace_guest
}

jf_start "tracepoints of 0 to 12 arguments, 0 to 18 probes"
jf_has jf_trace_test || jf_skip_all "no jf_trace_test.ko: build selftests/modules"

for b in ${JF_BACKEND:-$(jf_backends)}; do
	jf_load "backend=$b"
	check "$b: the test module loads" jf_insmod jf_trace_test
	for t in $(cat $T/tests); do
		check "$b: $t" run "$t"
	done
	# 20 tracepoints ask for the 16 chains of their kind.
	n=$(jf_stat trace_iter_exhausted)
	check "$b: pool, again" run pool
	n=$(($(jf_stat trace_iter_exhausted) - n))
	if [ "$b" = indirect ]; then
		check_eq "$b: nothing to run out of" $n 0
	else
		check_eq "$b: what found no image is counted" $n 4
	fi
	check_eq "$b: the iterator serves what no chain holds" \
		"$([ "$(jf_stat trace_iter_many)" -gt 0 ] && echo yes)" yes
	check "$b: the test module unloads" jf_rmmod jf_trace_test

	# Probes of a module that is unloaded under load, after cleaning up and without.
	check "$b: callers on all CPUs" jf_insmod jf_trace_host
	for n in 1 2 3 16 17; do
		check "$b: $n probes of a module that cleans up" guest $n 0
		jf_log_mark
		check "$b: $n probes of one that does not" guest $n 1
		check_match "$b: they were removed, and that is told" "$(jf_log_new)" \
			'jf_trace_guest left probes on tracepoint th2, removed'
		check_eq "$b: the tracepoint is off" "$(awk '$1 == "__jf_tp_th2" {print $4}' $JF/functions)" none
	done
	check "$b: the callers unload" jf_rmmod jf_trace_host
	jf_images_back "$b: all images are given back"
	check "$b: the core unloads" jf_unload
done
jf_done
