#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_TIMEOUT=240
# Text is written through mappings that can be written but not executed, and that are removed before the
# update returns: seen by walking the page tables, by checking each mapping in the moment before its
# removal, and, on kernels with CONFIG_PTDUMP_DEBUGFS, in the kernel's own dump, also in the midst of a
# storm.
. "$(dirname "$0")/../lib/lib.sh"

P=/sys/kernel/debug/page_tables
S=/sys/kernel/debug/jf_trace_storm
W=/sys/kernel/debug/jf_wx/aliases
# Reading all page tables once takes an emulated CPU a second or more.
scans=4
[ "${JF_LONG:-0}" = 0 ] || scans=60

jf_start "no page is writable and executable, no writable mapping of text is left"
jf_x86 || jf_skip_all "the kernel is looked at by kprobes on x86 functions"
be=${JF_BACKEND:-xmc}

# The kernel's own dump: lines with RW that do not end "NX <level>".
dumped() { cat "$P/$1" | grep ' RW ' | grep -E ' x +(pte|pmd|pud|p4d|pgd)' | sort -u; }
# Mappings by jumpfunc that are still there; those that wait for a flush of the TLB are not.
left() { grep -v unpurged /proc/vmallocinfo | grep 'vmap' | grep -c '\[jumpfunc\]'; }
value() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' "$JF_TMP/wx"; }

# scan WHEN: all that can be seen now
scan()
{
	cat $W >"$JF_TMP/wx" || fail "$1: the page tables can be read"
	check_eq "$1: no page is writable and executable" "$(value wx)" 0
	check_eq "$1: $(value maps) mappings were made, all writable and not executable" "$(value bad_maps)" 0
	check_eq "$1: $(value unmaps) were so to their end" "$(value bad_unmaps)" 0
	for f in $files; do
		check_eq "$1: page_tables/$f shows no page that is writable and executable" "$(dumped $f | head -n 3)" "$(cat "$JF_TMP/before-$f")"
	done
}

# scan_quiet WHEN: the same, while no update is under way
scan_quiet()
{
	scan "$1"
	closed "$1"
	check_eq "$1: none of the $(value pages) pages of text can be written elsewhere" "$(value writable)" 0
	check_eq "$1: each of them is executable in one place" "$(value executable)" "$(value pages)"
}

closed()
{
	check_eq "$1: as many mappings were removed as were made" "$(value unmaps)" "$(value maps)"
	check_eq "$1: vmallocinfo shows none" "$(left)" 0
}

# Lines from before jumpfunc was loaded are the kernel's own; there must be no more.
files=''
for f in kernel current_kernel; do
	if [ -r $P/$f ]; then
		dumped $f | head -n 3 >"$JF_TMP/before-$f"
		files="$files $f"
		[ ! -s "$JF_TMP/before-$f" ] || note "without jumpfunc, page_tables/$f shows: $(cat "$JF_TMP/before-$f")"
	fi
done
[ -n "$files" ] || skip "the kernel's dump of its page tables" "not in this kernel (CONFIG_PTDUMP_DEBUGFS)"
boot=$(dmesg | grep -i 'checked W+X mappings')
[ -z "$boot" ] || note "at boot: $boot"

jf_load backend=$be
jf_has jf_wx || jf_skip_all "no jf_wx.ko: build selftests/modules"
check "jf_wx watches" jf_insmod jf_wx
scan_quiet "jumpfunc loaded"

check "5,000 sites are loaded" jf_insmod jf_many_sites
check "probes and callers are loaded" jf_insmod jf_trace_storm
echo 20 >$S/run
scan_quiet "modules loaded, probes changed"
case $be in
indirect) ;;
*) check_match "such mappings are made" "$(value maps)" '^[1-9]' ;;
esac

# All kinds of changes at the same time, and the tables are read now and then.
storm()
{
	while :; do
		echo set_1 >/sys/kernel/debug/jf_many_sites/run
		echo set_0 >/sys/kernel/debug/jf_many_sites/run
	done
}
probes() { while :; do echo 10 >$S/run; done; }
files_() { while :; do for v in 1 2 0; do jf_write func2 $v; jf_write func3 $v; done; done; }
n=$(jf_stat batches)
maps=$(value maps)
[ "$be" = kernel ] || jf_run storm
jf_run probes
jf_run files_
i=0
while [ $i -lt $scans ]; do
	i=$((i + 1))
	scan "storm, $i"
done
jf_stop_all
# The write that was under way has ended when the next one has.
jf_write func2 0; echo 1 >$S/run; echo set_0 >/sys/kernel/debug/jf_many_sites/run
note "$(($(jf_stat batches) - n)) transactions meanwhile, $(($(value maps) - maps)) mappings"
scan_quiet "after the storm"

# A batch that fails must remove its mapping as well.
if [ "$be" != indirect ]; then
	jf_cases jf_many_sites one_bad
	scan_quiet "after batches that failed"
fi
jf_rmmod jf_trace_storm
jf_rmmod jf_many_sites
# Their pages have other uses by now.
scan "modules unloaded"
closed "modules unloaded"
check "jf_wx unloads" jf_rmmod jf_wx
jf_unload
check_eq "jumpfunc unloaded: vmallocinfo shows no mapping of it" "$(left)" 0
jf_done
