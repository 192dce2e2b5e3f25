#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# JF_ANY_BACKEND: it shows the same with each of them
# scripts/doctor.sh on a real machine, not a made-up one: what it says is true, and its commands mend.
. "$(dirname "$0")/../lib/lib.sh"

jf_start "what the doctor says, and that its commands mend"

doctor() { sh "$JF_TOP/scripts/doctor.sh" --module "$(jf_ko jumpfunc)" >"$JF_TMP/doctor" 2>&1; }
# says PATTERN: the line that begins so
says() { grep -E "^(build  |load   |patch  |measure|       ) $1 " "$JF_TMP/doctor"; }
# mends WHAT: runs the first command below the "no" or "todo" of WHAT
mends()
{
	command=$(awk -v what="$1" 'seen { print; exit } $0 ~ "(no|todo) +" what " " { seen = 1 }' "$JF_TMP/doctor" |
		sed -n 's/^ *-> //p')
	[ -n "$command" ] && sh -c "$command"
}

check_fails "not loaded: the status says so" doctor
check_match "... and a line" "$(says 'todo +module')" "not loaded"
check_match "... and that it could be" "$(tail -n 1 "$JF_TMP/doctor")" "load: yes, but it is not loaded"
check_eq "this is no container and no chroot" "$(says '.*(container|chroot)')" ""
check_match "the kernel is this one" "$(says 'yes +kernel')" "$(uname -r | sed 's/[.+]/[&]/g')"
check_match "debugfs is there" "$(says 'yes +debugfs')" "mounted"
case $(cat /sys/devices/system/cpu/vulnerabilities/spectre_v2 2>/dev/null) in
*etpolines*) check_match "retpolines are in force" "$(says 'yes +retpolines')" "in force" ;;
*) check_match "retpolines are not in force" "$(says 'note +retpolines')" "." ;;
esac

check "the command for the module is one" mends module
doctor
check_match "then it is loaded, and the back end is told" "$(says 'yes +module')" \
	"is loaded, back end $(awk '$1 == "backend" { print $2 }' $JF/stats)\$"
check_match "it can load" "$(tail -n 1 "$JF_TMP/doctor")" "load: yes"
rmmod jumpfunc

# On a real machine, other programs may use it.
if [ "${JF_VM:-0}" = 1 ] && { umount /sys/kernel/debug/tracing 2>/dev/null; umount /sys/kernel/debug; }; then
	doctor
	check_match "debugfs is missed" "$(says 'no +debugfs')" "not mounted"
	check_match "... so it cannot measure" "$(tail -n 1 "$JF_TMP/doctor")" "measure: no"
	check "the command for debugfs is one" mends debugfs
	doctor
	check_match "then it is there" "$(says 'yes +debugfs')" "mounted"
else
	skip "debugfs is missed" "only a virtual machine's is unmounted"
fi

jf_done
