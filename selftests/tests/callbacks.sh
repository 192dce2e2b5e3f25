#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=300
# Sites in ftrace callbacks, die notifiers and handlers of kprobes, all of which the handling of a
# breakpoint may lead to in turn: they do what their keys say while these change.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "sites in callbacks"
jf_has jf_within || jf_skip_all "no jf_within.ko: build selftests/modules"
jf_load
check "jf_within loads" jf_insmod jf_within seconds="${JF_STORM_SECONDS:-2}"
jf_log_mark
jf_cases jf_within
log=$(jf_log_new | sed -n 's/.*jf_within: //p')
note "$log"
# shellcheck disable=SC2046
jf_count calls $(echo "$log" | sed -n 's/^runs \([0-9]*\) .*/\1/p')
jf_done
