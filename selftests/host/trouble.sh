#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests of harness/trouble, the rule for what is trouble in a kernel log, with each awk that is here,
# busybox's among them, which is the one of the virtual machines.  TAP on stdout.
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
harness=$here/../../harness
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck source=selftests/host/tap.sh
. "$here/tap.sh"

# What is trouble, by itself.
cat >"$work/trouble" <<'END'
[    5.123456] WARNING: CPU: 1 PID: 77 at kernel/jump_label.c:73 jump_label_can_update+0x44/0x50
[    5.123456] WARNING: CPU: 0 PID: 1 at kernel/trace/trace_events.c:411 trace_event_raw_init+0x1/0x2
[    5.123456][   T77] BUG: kernel NULL pointer dereference, address: 0000000000000000
[    5.123456] BUG: sleeping function called from invalid context at kernel/locking/mutex.c:580
[    5.123456] BUG: scheduling while atomic: swapper/0/1/0x00000002
[    5.123456] kernel BUG at mm/slub.c:379!
[    5.123456] Oops: 0002 [#1] PREEMPT SMP NOPTI
[    5.123456] Oops#1 Part1
[    5.123456] Kernel panic - not syncing: Attempted to kill init!
[    5.123456] BUG: KASAN: slab-out-of-bounds in jf_look+0x10/0x20 [jumpfunc]
[    5.123456] BUG: KCSAN: data-race in jf_update / jf_look
[    5.123456] UBSAN: shift-out-of-bounds in kernel/index/index.c:10:20
[    5.123456] unable to handle page fault for address: ffffffffc0000000
[    5.123456] traps: general protection fault, probably for non-canonical address 0xdead000000000100
[    5.123456] traps: PANIC: double fault, error_code: 0x0
[    5.123456] invalid opcode: 0000 [#1] SMP
[    5.123456] WARNING: possible circular locking dependency detected
[    5.123456] WARNING: possible recursive locking detected
[    5.123456] WARNING: possible irq lock inversion dependency detected
[    5.123456] INFO: task rmmod:123 blocked for more than 120 seconds.
[    5.123456] INFO: rcu_preempt detected stalls on CPUs/tasks:
[    5.123456] rcu: INFO: rcu_sched self-detected stall on CPU
[    5.123456] INFO: trying to register non-static key.
[    5.123456] WARNING: inconsistent lock state
[    5.123456] inconsistent lock state
[    5.123456] WARNING: suspicious RCU usage
[    5.123456] kernel/main.c:10 suspicious RCU usage!
[    5.123456] unreferenced object 0xffff888001234560 (size 64):
[    5.123456] kernel stack overflow (double-fault)
[    5.123456] BUG: stack guard page was hit at 0000000012345678
[    5.123456] Call Trace:
[    5.123456]  <TASK>Call Trace
jumpfunc: WARNING: without a time in front
[    5.123456] "a name" jumpfunc: "b" WARNING: quotes that jumpfunc did not begin
[    5.123456] jumpfunc: func2: BUG: outside the quotes, and one " of them alone
[    5.123456] jumpfunc: "name" BUG: after the quotes
[    5.123456] other: "WARNING: " is not jumpfunc's
END
# What is none.
cat >"$work/none" <<'END'
[    5.123456] jumpfunc: func2: target 1
[    5.123456] jumpfunc: "WARNING: x": not understood
[    5.123456] jumpfunc: functions: "BUG: " and "Oops": not understood
[    5.123456] jumpfunc selftest knobs 77 begins
[    5.123456] debug: warning: lower case
[    5.123456] Warning: unmaintained driver is detected
[    5.123456] ACPI BIOS Warning (bug): 32/64X length mismatch
[    5.123456] INFO: lockdep is turned off.
[    5.123456] Call trace of a kind
[    5.123456] DEBUG_WARN_ON
[    5.123456] systemd[1]: Started.

END

begins='[    1.0] jumpfunc selftest fail-alloc 77 begins'
expect='[    2.0] jumpfunc selftest: complaints about memory are expected'
over='[    3.0] jumpfunc selftest: complaints about memory are trouble again'
trace='[    2.5] Call Trace:'
event='[    2.5] WARNING: CPU: 0 PID: 1 at kernel/trace/trace_events.c:411 x+0x1/0x2'
other='[    2.5] WARNING: CPU: 0 PID: 1 at kernel/module.c:411 x+0x1/0x2'

# log_gives WHAT STATUS WANTED LINE...
log_gives()
{
	what=$1 status=$2 wanted=$3
	shift 3
	printf '%s\n' "$@" >"$work/log"
	rc=0
	got=$($sh "$harness/trouble" "$work/log" 2>&1) || rc=$?
	if [ "$got" = "$wanted" ] && [ $rc = "$status" ]; then
		ok "$what"
	else
		not_ok "$what" "status $rc, and said:" "$got" "wanted status $status and:" "$wanted"
	fi
}

tests()
{
	while IFS= read -r line; do
		log_gives "trouble: ${line#*] }" 1 "$line" "$line"
	done <"$work/trouble"
	# All at once: the first one would hide what of these is trouble.
	rc=0
	got=$($sh "$harness/trouble" "$work/none" 2>&1) || rc=$?
	if [ -z "$got" ] && [ $rc = 0 ]; then ok "none of $(wc -l <"$work/none") harmless lines"; else not_ok "harmless lines" "status $rc" "$got"; fi

	log_gives "what is expected is none while it is" 0 '' "$begins" "$expect" "$trace" "$event" "$over"
	log_gives "before that it is trouble" 1 "$trace" "$begins" "$trace" "$expect" "$event" "$over"
	log_gives "after that it is trouble" 1 "$event" "$expect" "$trace" "$over" "$event"
	log_gives "anything else is trouble meanwhile" 1 "$other" "$expect" "$other" "$trace" "$over"
	log_gives "a test that begins expects nothing" 1 "$trace" "$expect" "$event" "$begins" "$trace"
	log_gives "a quoted name makes nothing expected" 1 '[ 2.5] jumpfunc: "Call Trace" BUG: x' \
		"$expect" '[ 2.5] jumpfunc: "Call Trace" BUG: x' "$over"
	log_gives "all trouble is told, in its order" 1 "$event
$trace" "$event" "harmless" "$trace"
	log_gives "bytes that are no characters" 1 "$(printf 'BUG: \377')" "$(printf 'jumpfunc: "\377 BUG: \376"')" "$(printf 'BUG: \377')"
	got=$(printf '%s\n' "$trace" | $sh "$harness/trouble")
	if [ "$got" = "$trace" ]; then ok "a log on the standard input"; else not_ok "a log on the standard input" "$got"; fi
	rc=0
	$sh "$harness/trouble" "$work/nothing-here" >/dev/null 2>&1 || rc=$?
	if [ $rc = 0 ]; then not_ok "no log is not a clean log"; else ok "no log is not a clean log"; fi
}

tap_label='the list: '
while IFS= read -r re; do
	if grep -qE -e "$re" "$work/trouble"; then ok "'$re' is tried"; else not_ok "'$re' is tried" "no line here has it"; fi
done <"$harness/trouble.re"
mkdir "$work/lonely"
cp "$harness/trouble" "$work/lonely/"
rc=0
echo "$trace" | "$work/lonely/trouble" >/dev/null 2>&1 || rc=$?
[ $rc = 2 ]
result $? "without its lists the rule cannot tell" "status $rc"

path=$PATH
for with in mawk gawk original-awk busybox; do
	file=$(command -v $with) || continue
	tap_label="$with: "
	mkdir "$work/$with"
	if [ $with = busybox ]; then
		# As in the virtual machine: nothing else is there.
		for applet in awk sed tr dirname sh; do ln -s "$file" "$work/$with/$applet"; done
		sh="env PATH=$work/$with $work/$with/sh"
	else
		ln -s "$file" "$work/$with/awk"
		sh="env PATH=$work/$with:$path sh"
	fi
	tests
done
tap_end
