#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it shows the same with each of them
# The sample of tracepoints does what its comments say.
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/module/jf_sample_trace/parameters
jobs() { echo "$1" >$P/jobs; }
seen() { cat /sys/module/jf_sample_trace_probe/parameters/seen; }
# leads TRACEPOINT: the kind of code that its call leads to
leads() { awk -v n="__jf_tp_$1" '$1 == n {print $4}' $JF/functions | sed 's/_[0-9]*$//; s/_small$//'; }

jf_start "tracepoints: the sample"
jf_has jf_sample_trace || jf_skip_all "no jf_sample_trace.ko: build samples"
jf_load
be=$(awk '$1 == "backend" {print $2}' $JF/stats)
check "the sample loads" jf_insmod jf_sample_trace
check_eq "off at first" "$(leads sample_job_begin) $(leads sample_job_end)" "none none"
check "jobs without probes" jobs 3

check "the probes load" jf_insmod jf_sample_trace_probe
if [ "$be" = indirect ] || ! jf_patching; then
	check_eq "iterators call the probes" "$(leads sample_job_begin) $(leads sample_job_end)" \
		"__jf_iter_sample_job_begin __jf_iter_sample_job_end"
else
	check_eq "one is called from an image, two from a chain" \
		"$(leads sample_job_begin) $(leads sample_job_end)" "jf_single jf_chain"
fi
check_eq "they have seen nothing yet" "$(seen)" "0 begun, 0 ended, 0 failed"
for target in none default; do
	check_fails "writing $target does not cut off the tracepoint" jf_write functions "__jf_tp_sample_job_begin=$target"
done
check "jobs with probes" jobs 7
check_eq "they have seen all of them" "$(seen)" "7 begun, 7 ended, 3 failed"
check_fails "the sample cannot be unloaded before its probes" rmmod jf_sample_trace
check_fails "nor can the core" rmmod jumpfunc
check "the probes unload" jf_rmmod jf_sample_trace_probe
check_eq "off again" "$(leads sample_job_begin) $(leads sample_job_end)" "none none"
check "jobs without probes again" jobs 100

check "the probes load again" jf_insmod jf_sample_trace_probe
check "one more job" jobs 1
check_eq "they begin at nothing" "$(seen)" "1 begun, 1 ended, 0 failed"
check "both unload at once" rmmod jf_sample_trace_probe jf_sample_trace
JF_LOADED=jumpfunc
check_eq "nothing of them is left" "$(grep -c '^__jf_tp_sample_job' $JF/functions)" 0
check "the core unloads" jf_unload
jf_done
