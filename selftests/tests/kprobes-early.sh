#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=3: slow; kprobes-beside.sh meets each kernel's kprobes
# JF_TIMEOUT=240
# Images, and kprobes that another module sets while jumpfunc is being loaded: its notifier runs before that of
# kprobes, which does not yet refuse .kprobes.text. No probe may be on bytes that are filled in, and none may become
# a jump over them.
#
# Seen to fail (6.1) without the records in __bug_table: probes are accepted where an image for one
# probe begins, at its jump (and probes are then called wrongly), at the data and at the call of a chain's
# slot. Without the entries in __ex_table: probes are made jumps.
. "$(dirname "$0")/../lib/lib.sh"

T=/sys/kernel/debug/jf_trace_test
P=/sys/module/jf_early/parameters
LIST=/sys/kernel/debug/kprobes/list
run() { echo "$1" >$T/run; }
# first KIND: the name of the first image of a pool
first() { grep "[[:space:]]jf_$1_[0-9]*[[:space:]]\[jumpfunc\]" /proc/kallsyms | sort | head -n 1 | awk '{print $3}'; }

jf_start "kprobes on images, set before kprobes knows where it must refuse them"
jf_has jf_early || jf_skip_all "no jf_early.ko: build selftests/modules"
[ -e $LIST ] || jf_skip_all "no kprobes in this kernel (CONFIG_KPROBES)"
jf_load
single=$(first single)
[ -n "$single" ] || jf_skip_all "this architecture has no images"
small=$(first chain_small) regs=$(first chain_regs) stack=$(first chain_stack)
symbols=$single,$small,$regs,$stack
check "the core unloads" jf_unload

check "jf_early loads" jf_insmod jf_early symbols="$symbols"
jf_load
accepted=$(cat $P/accepted)
note "accepted: $(echo "$accepted" | wc -l), for instance: $(echo "$accepted" | grep -n -m 8 chain | tr '\n' ' ')"
check_match "the kernel took some" "$accepted" "jf_chain"
# none WHERE WHAT: the kernel refused that address
none() { check_fails "none is at $1, $2" sh -c "echo '$accepted' | grep -q '^$1\$'"; }
if jf_x86; then
	none "$single+0x0" "the start of an image for one probe"
	none "$single+0xa" "its jump"
	# Of its first slot, after the registers are saved: kernel/arch/x86/images.S.
	for at in "$small+0x3 $small+0x1b" "$regs+0x7 $regs+0x29" "$stack+0x7 $stack+0x45"; do
		none "${at% *}" data
		none "${at#* }" "a call"
	done
else
	# kernel/arch/arm64/images.S.
	none "$single+0x4" "the load of data in an image for one probe"
	none "$single+0x8" "its jump"
	for at in 18 1c 20 24; do none "$single+0x$at" "a literal"; done
	# A slot of each chain: that after the first one, and of that the call.  Signed return addresses take a word.
	sign=0
	echo "$accepted" | grep -q "^$small+0x14\$" && sign=4
	for at in "$small 20 12" "$regs 28 20" "$stack 32 44"; do
		set -- $at
		none "$1+$(printf 0x%x $(($2 + sign)))" "what may be a branch to the end"
		none "$1+$(printf 0x%x $(($2 + sign + $3)))" "a call"
	done
fi
check "all of them are enabled" sh -c "echo 1 >$P/arm"
sleep 1
check_fails "none is made a jump" sh -c "grep 'jf_single_\|jf_chain_' $LIST | grep -q OPTIMIZED"
if [ -n "$(jf_ko jf_trace_test)" ]; then
	check "the test module loads" jf_insmod jf_trace_test
	for t in counts priorities errors; do
		check "$t" run "$t"
	done
	if [ "$(cat /sys/module/jumpfunc/parameters/backend)" = indirect ]; then
		check_eq "no chain has run: this back end calls by pointers" "$(cat $P/hits)" 0
	else
		check_match "the probes in chains have run" "$(cat $P/hits)" '^[1-9]'
	fi
	check "off again" sh -c "echo 0 >$P/arm"
	check "counts, once more" run counts
	check "and on" sh -c "echo 1 >$P/arm"
	check "counts, with the probes" run counts
	check "the test module unloads" jf_rmmod jf_trace_test
fi
check "jf_early unloads" jf_rmmod jf_early
check "the core unloads" jf_unload
jf_done
