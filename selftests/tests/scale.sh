#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=1: what a list or a command costs is decided by our sources
# JF_VM=--icount
# JF_TIMEOUT=600
# JF_ANY_BACKEND: it tries the one that has most to do
# What files, commands and the unload of a module cost grows with the number of tracepoints, keys and sites, and not with
# its square: a module with four times as many must not cost more than six times as much. The clock counts instructions.
#
# Seen to fail (6.1) while a module's symbols were searched for each site, and read for each tracepoint without an image, and while the
# names of its parts were compared with that of each target (990 ms).
. "$(dirname "$0")/../lib/lib.sh"

# So many ms the machine, which has one CPU and nothing else to do, has executed instructions until now.
now() { awk '{printf "%.0f\n", 1000 * $1}' /proc/uptime; }
# costs NAME COMMAND...: notes how long it takes
costs()
{
	jf_name=$1; shift
	jf_t=$(now)
	"$@" >"$JF_TMP/out" 2>&1 || fail "$m: $jf_name" "$(head -n 3 "$JF_TMP/out")"
	echo "$(($(now) - jf_t))" >"$JF_TMP/$m-$jf_name"
}
on() { jf_write probes "+trace:$m:*:*"; }
off() { jf_write probes "-trace:$m:*:*"; }
by_function() { jf_write probes "+trace:$m:hit_0*:*"; }

jf_start "what lists and commands cost"
[ "${JF_EMULATED:-}" = icount ] || jf_skip_all "the clock does not count instructions here"
jf_has jf_trace_some || jf_skip_all "no jf_trace_some.ko: build selftests/modules"
jf_load
for m in jf_trace_some jf_trace_many; do
	# That is not compared: for each function of .kprobes.text, where trampolines are, the kernel searches all symbols.
	check "$m loads" jf_insmod $m
	for f in functions keys probes; do costs cat-$f cat $JF/$f; done
	costs by-function by_function
	costs off off
	costs on on
	costs cat-on cat $JF/probes
	costs rmmod jf_rmmod $m
done
for c in cat-functions cat-keys cat-probes by-function off on cat-on rmmod; do
	some=$(cat "$JF_TMP/jf_trace_some-$c") many=$(cat "$JF_TMP/jf_trace_many-$c")
	check "$c: $some ms for 256 tracepoints, $many ms for 1,024" [ "$many" -le $((6 * some + 50)) ]
done
# One search of the kernel through the symbols of the module takes 70,000 instructions.
many=$(cat "$JF_TMP/jf_trace_many-cat-functions")
check "cat-functions: a target has its name from a table: $many ms for 1,024" [ "$many" -le 65 ]

# The names of a module's parts are not compared with each of its functions.
check "a dynamic function" jf_insmod jf_hide
check "1,024 targets, one after the other, in a module that has 4,000 parts" jf_insmod jf_hide_large names=1024
m=jf_hide_large
costs quiesce sh -c 'echo quiesce >/sys/kernel/debug/jf_hide/do'
quiesce=$(cat "$JF_TMP/jf_hide_large-quiesce")
check "quiesce: their parts are found by their names: $quiesce ms" [ "$quiesce" -le 100 ]
check "the module unloads" jf_rmmod jf_hide_large
check "jf_hide unloads" jf_rmmod jf_hide
jf_done
