#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_KERNELS=2: a machine of its own; int3.sh and calls.sh have each kernel's calls
# JF_TIMEOUT=120
# JF_VM=--cpu Skylake-Client -a retbleed=stuff
# JF_SINCE=6.2
# JF_VM_NOT=6.12: 6.12.95 panics with it before there are modules (kfree() in ordered_lsm_parse()); 6.12-rt does not
# JF_ANY_BACKEND: it tries all of them itself
# Call-depth tracking: the kernel has calls lead into the padding in front of functions. jumpfunc
# recognises what the kernel writes at its sites, patches it again, and emulates it during a transaction.
#
# Seen to fail (6.12, 7.2): before jumpfunc knew of it, back end kernel was refused; without
# jf_kernel_adopt(), the first update gives -EIO and later ones -EILSEQ.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "calls that the kernel counts"
grep -q Stuffing /sys/devices/system/cpu/vulnerabilities/retbleed 2>/dev/null ||
	jf_skip_all "this kernel does not count calls, or not on this CPU (retbleed=stuff)"

# Sites of jf_many_sites's smaller functions by where they lead: in front of a function, or to it.
calls()
{
	awk '/^many_k[12] / {on = 1; next} /^[^ ]/ {on = 0} on && $1 == "call" {print $NF == "[jf_many_sites]" ? $(NF - 1) : $NF}' \
		$JF/functions | sed 's/many_t[0-2]$//' | sort | uniq -c | awk '{print $1, $2}'
}

for be in kernel auto xmc; do
	jf_load backend=$be
	check_eq "$be: it is in force" "$(jf_stat backend)" $be
	check "$be: jf_calls loads" jf_insmod jf_calls
	jf_cases jf_calls all "$be: "
	[ $be != kernel ] || jf_cases jf_calls all "$be: again, "
	check "$be: jf_calls unloads" jf_rmmod jf_calls

	check "$be: jf_many_sites loads" jf_insmod jf_many_sites seconds=3 storm_funcs=3
	# The padding has the name that objtool gives it.
	case $be in
	kernel) check_eq "$be: all calls are counted" "$(calls)" "110 __pfx_" ;;
	*) check_eq "$be: calls lead to their targets" "$(calls)" "110 " ;;
	esac
	jf_cases jf_many_sites storm "$be: "
	[ $be != kernel ] || check_eq "$be: all calls are counted" "$(calls)" "110 __pfx_"
	jf_difference sync_broadcasts jf_cases jf_many_sites all_0 "$be: once more, "
	check_eq "$be: what is there is not written again" $jf_diff 0
	check_eq "$be: no update failed" "$(jf_stat errors)" 0
	check "$be: jf_many_sites unloads" jf_rmmod jf_many_sites
	check "$be: jumpfunc unloads" jf_unload
done
check_eq "every site read back as written" "$(jf_log | grep -c 'does not read back')" 0
jf_done
