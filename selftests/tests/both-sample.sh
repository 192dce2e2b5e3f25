#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it shows the same with each of them
# The sample that is one source for a module and a program, as a module. user/lib.mk
# expects the same lines of the program.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "one source for a module and a program"
jf_has jf_sample_both || jf_skip_all "no jf_sample_both.ko: build samples"
jf_load
jf_log_mark
check "the sample loads" jf_insmod jf_sample_both
said() { jf_log_new | sed -n 's/.*jf_sample_both: //p' | paste -sd, ; }
check_eq "what it says" "$(said)" "as they are: 4,squares, checked: 34,the largest: 5,as at first: 4"
check "the sample unloads" jf_rmmod jf_sample_both
jf_done
