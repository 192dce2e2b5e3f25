#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it shows the same with each of them
# The sample of jump labels does what its comments say.
#
# Seen to fail with the code broken on purpose:
#   jf_site_encode(), meaning of "likely" and "unlikely" swapped	messages, bytes counted
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/module/jf_sample_key/parameters
key() { awk -v k="$1" '$1 == k {print $3, $4}' $JF/keys; }
# said N: messages of the sample since the last mark
said() { jf_log_new | grep -c 'jf_sample_key: sending'; }

jf_start "jump labels: the sample"
jf_has jf_sample_key || jf_skip_all "no jf_sample_key.ko: build samples"
jf_load
check "the sample loads" jf_insmod jf_sample_key
check_eq "sample_verbose" "$(key sample_verbose)" "off 0"
check_eq "sample_stats" "$(key sample_stats)" "off 0"
[ "$(nproc)" = 1 ] || check_eq "sample_offload" "$(key sample_offload)" "on,ro 1"

jf_log_mark
echo 3 >$P/send
check_eq "quiet at first" "$(said)" 0
check "verbose" sh -c "echo 1 >$P/verbose"
check_eq "its key" "$(key sample_verbose)" "on 1"
echo 3 >$P/send
check_eq "tells of each packet" "$(said)" 3
check "quiet again" sh -c "echo 0 >$P/verbose"
jf_log_mark
echo 3 >$P/send
check_eq "tells of none" "$(said)" 0
check_eq "nothing was counted" "$(cat $P/send)" "0 bytes counted"

check "a user of the statistics loads" jf_insmod jf_sample_key_user
check_eq "its key is on" "$(key sample_stats)" "on 1"
check_eq "its init counted" "$(cat $P/send)" "1001 bytes counted"
echo 2 >$P/send
check_eq "packets are counted" "$(cat $P/send)" "1122 bytes counted"
check "the user unloads" jf_rmmod jf_sample_key_user
check_eq "the key is off" "$(key sample_stats)" "off 0"
echo 2 >$P/send
check_eq "nothing is counted any more" "$(cat $P/send)" "1122 bytes counted"
check "the sample unloads" jf_rmmod jf_sample_key
jf_done
