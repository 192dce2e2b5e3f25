#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Calls of functions that do not exist, which jumpfunc.mk has made probes of: off they are nops, on they
# pass the arguments. What is refused at build time is in selftests/host/consumers.sh.
. "$(dirname "$0")/../lib/lib.sh"

M=jf_sample_calls
P=/sys/module/$M/parameters
jobs() { echo "$1" >$P/jobs; }
all() { echo "$1" >$P/all; }
# target PROBE: what it leads to
target() { awk -v n="jobs:$1" -v m=$M '$1 == n && $2 == m {print $4}' $JF/functions; }
# calls PROBE: for each of its calls, the function that it is in and the first byte that stands there
calls()
{
	awk -v n="jobs:$1" -v m=$M '/^[^ ]/ {mine = $1 == n && $2 == m} mine && /^  call / {
		sub(/ \[[^]]*\]/, ""); sub(/\+.*/, "", $3); print $3 "=" $4
	}' $JF/functions | sort | paste -sd ' '
}
said() { jf_log_new | sed -n "s/.*$M: //p" | paste -sd ,; }

jf_start "probes that are calls of functions that do not exist"
jf_has $M || jf_skip_all "no $M.ko: built for x86-64 without kCFI alone"
jf_load
check "the sample loads" jf_insmod $M
check_eq "all probes are off" "$(target begin) $(target part) $(target end)" "none none none"
off=0f on=e8
[ "$(jf_stat backend)" != indirect ] || off='' on=''
nops()
{
	[ -z "$off" ] || check_eq "$1" "$(calls begin), $(calls part), $(calls end)" \
		"sample_calls_job=$off, part=$off, over=$off sample_calls_job=$off"
}
nops "... and each call, also one at a function's end, is a nop"
jf_log_mark
check "jobs" jobs 3
check_eq "... say nothing" "$(said)" ""
check_eq "... and a test whether a probe is enabled says no" "$(cat $P/names)" 0

check "one is enabled by its name" jf_write functions "$M:jobs:begin=print_begin"
[ -z "$on" ] || check_eq "... and is a call" "$(calls begin), $(calls part)" "sample_calls_job=$on, part=$off"
jf_log_mark
check "jobs" jobs 2
check_eq "... say what it was called with" "$(said)" "begin 1 a job,begin 2 a job"
check_eq "... and the test says yes" "$(cat $P/names)" 2
check_fails "a target that is not the probe's is refused" jf_write functions "$M:jobs:begin=print_part"
check_fails "a name without its provider is none" jf_write functions "$M:begin=print_begin"

check "all are enabled in one transaction" all 1
[ -z "$on" ] || check_eq "... and are calls" "$(calls begin), $(calls part), $(calls end)" \
	"sample_calls_job=$on, part=$on, over=$on sample_calls_job=$on"
jf_log_mark
check "a job" jobs 1
check_eq "... tells all arguments, those on the stack too, and two subscribers" "$(said)" \
	"begin 1 a job,part 1 200 1 2 3 4 5 6,part 1 201 1 2 3 4 5 6,first: end 1 0,second: end 1 0"
jf_log_mark
check "jobs of which one fails" jobs 3
check_eq "... say so from the probe's other place" "$(said | sed 's/.*begin 3/begin 3/')" \
	"begin 3 a job,part 3 200 1 2 3 4 5 6,first: end 3 -5,second: end 3 -5"

check "two are disabled by their names" jf_write functions "$M:jobs:part=none $M:jobs:begin=default"
jf_log_mark
check "a job" jobs 1
check_eq "... is told by the third" "$(said)" "first: end 1 0,second: end 1 0"
check "all are disabled" all 0
nops "... and are nops again"
jf_log_mark
names=$(cat $P/names)
check "jobs" jobs 3
check_eq "... say nothing" "$(said)" ""
check_eq "... and the test says no again" "$(cat $P/names)" "$names"

check "all are enabled once more" all 1
check "the sample unloads with its probes enabled" jf_rmmod $M
check_eq "nothing of it is left" "$(grep -c '^jobs:' $JF/functions)" 0
check "the core unloads" jf_unload
jf_done
