#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=3: slow; kprobes-beside.sh meets each kernel's kprobes
# JF_TIMEOUT=120
# Images, and kprobes that were set inside of them before kprobes knew where it must refuse them (see
# kprobes-early.sh): they are disabled while an image is being filled in. A breakpoint that is removed meanwhile must
# not be written again.
#
# Seen to fail (6.1) while an image was written as a whole, from a copy made before: its first call runs
# into a breakpoint that no handler knows, and the kernel oopses.
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/module/jf_early/parameters
first() { grep "[[:space:]]jf_$1_[0-9]*[[:space:]]\[jumpfunc\]" /proc/kallsyms | sort | head -n 1 | awk '{print $3}'; }

jf_start "images are filled in while kprobes inside of them are removed"
jf_has jf_early || jf_skip_all "no jf_early.ko: build selftests/modules"
[ -e /sys/kernel/debug/kprobes/list ] || jf_skip_all "no kprobes in this kernel (CONFIG_KPROBES)"
jf_load
small=$(first chain_small)
[ -n "$small" ] || jf_skip_all "this architecture has no images"
check "the core unloads" jf_unload
check "jf_early loads" jf_insmod jf_early symbols="$small"
jf_load
addr=0x$(grep "[[:space:]]${small}[[:space:]]" /proc/kallsyms | awk '{print $1}')
check "jf_stall loads" jf_insmod jf_stall addr="$addr"
note "$small is at $addr, accepted: $(wc -l <$P/accepted)"
check "all probes are enabled" sh -c "echo 1 >$P/arm"
echo 3000 >/sys/module/jf_stall/parameters/stall
(echo 2 >$JF/subscribers && echo chain >$JF/dispatch) 2>"$JF_TMP/filled" &
pid=$!
sleep 1
check "they are disabled while an image is filled in" sh -c "echo 0 >$P/arm"
check "the image is filled in all the same" wait $pid
note "$(cat "$JF_TMP/filled") delayed: $(cat /sys/module/jf_stall/parameters/stalled)"
note "disabled when the image was filled in: $(grep -c DISABLED /sys/kernel/debug/kprobes/list)"
check "jf_early unloads" jf_rmmod jf_early
sleep 2
check "the probes in the image have run" sh -c "awk '{s += \$NF} END {exit !s}' $JF/events"
check "all off" sh -c "echo off >$JF/dispatch"
check "jf_stall unloads" jf_rmmod jf_stall
check "the core unloads" jf_unload
jf_done
