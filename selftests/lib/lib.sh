# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Helpers for the shell tests; sourced, never run.  The tests are run as root, in a virtual machine
# by `make check` or on a real machine by hand.  They print TAP, leave the machine as they found it,
# and exit with 0 (passed), 1 (failed) or 4 (skipped).
#
# A test is
#	. "$(dirname "$0")/../lib/lib.sh"
#	jf_start "what is shown"		requirements are checked, state is noted
#	jf_load [parameter=value...]		jumpfunc.ko, with the log shown if that fails
#	check "what must hold" command...	one result per line
#	jf_done					kernel log checked, state restored, exit
#
# Other results: pass, fail, skip, and check_fails, check_eq, check_match.  jf_count tells how much was
# done: calls checked, say; updates and INT3s are counted without a test's doing.

JF_TOP=$(cd "$(dirname "$0")/../.." && pwd)
JF_NAME=$(basename "$0" .sh)
JF=/sys/kernel/debug/jumpfunc
# Where the kernel has its tracing files; only below debugfs if tracefs is not mounted by itself.
JF_TRACEFS=/sys/kernel/tracing
[ -d $JF_TRACEFS/events ] || JF_TRACEFS=/sys/kernel/debug/tracing
JF_N=0 JF_FAILED=0 JF_PASSED=0 JF_STARTED=0 JF_ENDED=0
JF_LOADED='' JF_PIDS='' JF_CLEANUP='' JF_TMP=''

# ---- results ----

note() { printf '%s\n' "$*" | sed 's/^/# /'; }

pass() { JF_N=$((JF_N + 1)) JF_PASSED=$((JF_PASSED + 1)); echo "ok $JF_N - $1"; }

# fail DESCRIPTION [DETAIL]
fail()
{
	JF_N=$((JF_N + 1)) JF_FAILED=$((JF_FAILED + 1))
	echo "not ok $JF_N - $1"
	[ -z "${2:-}" ] || note "  $2"
}

# skip DESCRIPTION REASON
skip() { JF_N=$((JF_N + 1)); echo "ok $JF_N - $1 # SKIP $2"; }

# check DESCRIPTION COMMAND...: passes if the command does
check()
{
	jf_desc=$1; shift
	# Not in a subshell: the command may be one of these functions, which note what they did.
	if "$@" >"$JF_TMP/check" 2>&1; then
		pass "$jf_desc"
	else
		fail "$jf_desc" "'$*' gave status $?: $(cat "$JF_TMP/check")"
	fi
}

# check_fails DESCRIPTION COMMAND...: passes if the command fails
check_fails()
{
	jf_desc=$1; shift
	if "$@" >"$JF_TMP/check" 2>&1; then
		fail "$jf_desc" "'$*' succeeded: $(cat "$JF_TMP/check")"
	else
		pass "$jf_desc"
	fi
}

# check_eq DESCRIPTION SEEN WANTED
check_eq()
{
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "saw '$2', wanted '$3'"; fi
}

# check_match DESCRIPTION SEEN EXTENDED-REGEXP
check_match()
{
	if printf '%s\n' "$2" | grep -qE -- "$3"; then pass "$1"; else fail "$1" "saw '$2', wanted a match of '$3'"; fi
}

# ---- how much was done ----

# jf_count NAME NUMBER...: adds to what the test reports in the end
jf_count()
{
	jf_c=$1; shift
	for jf_v; do echo "$jf_c $jf_v" >>"$JF_TMP/counts"; done
}

# jf_many_calls TEXT: the numbers of calls in what jf_many_sites says of its storms
jf_many_calls() { echo "$1" | sed -n 's/.* calls \([0-9]*\) irq \([0-9]*\) nmi \([0-9]*\);.*/\1 \2 \3/p'; }

# The module takes its counters with it.
jf_count_stats()
{
	[ -r $JF/stats ] || return 0
	awk '$1 == "updates" || $1 == "int3_hits" {print $1, $2}
		$1 == "sites_patched" {print "sites", $2}
		$1 == "sync_broadcasts" {print "broadcasts", $2}' $JF/stats
}

# One line that harness/check adds up.
jf_tell_counts()
{
	[ -s "$JF_TMP/counts" ] || return 0
	note "counts $(awk '{sum[$1] += $2} END {for (n in sum) printf "%s=%.0f ", n, sum[n]}' "$JF_TMP/counts")"
}

# ---- the machine ----

# jf_patching: can text be patched on this architecture?  Where not, the back end is `indirect`.
jf_patching() { jf_x86 || [ "$(uname -m)" = aarch64 ]; }
# jf_x86: is it x86 that is patched?  For tests of its instructions, and of INT3.
jf_x86() { [ "$(uname -m)" = x86_64 ] && ! grep -q 'User Mode Linux' /proc/cpuinfo; }
# jf_broadcasts: how many broadcasts a transaction takes: three with INT3, one where a store is enough
jf_broadcasts() { if jf_x86; then echo 3; else echo 1; fi; }
# jf_backends: those of this architecture
jf_backends() { if jf_x86; then echo auto xmc kernel indirect; elif jf_patching; then echo auto xmc indirect; else echo auto indirect; fi; }
# jf_scanning: can stacks be scanned on this architecture?
jf_scanning() { jf_patching; }
JF_NO_SCAN="stacks cannot be scanned on this architecture"
JF_NO_PATCHING="no text is patched on this architecture"

# ---- start and end ----

jf_skip_all()
{
	JF_ENDED=1
	[ "$JF_STARTED" = 1 ] && jf_restore
	echo "1..0 # SKIP $*"
	exit 4
}

# jf_bail REASON: nothing that follows would mean anything
jf_bail()
{
	fail "$1" "${2:-}"
	jf_done
}

jf_start()
{
	echo "TAP version 13"
	note "$JF_NAME: $1"
	[ "$(id -u)" = 0 ] || jf_skip_all "needs root"
	[ -d /sys/kernel/debug/tracing ] || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null ||
		[ -d /sys/kernel/debug ] || [ -n "${JF_NO_DEBUGFS:-}" ] || jf_skip_all "no debugfs in this kernel (CONFIG_DEBUG_FS)"
	! grep -q '^jumpfunc ' /proc/modules || jf_skip_all "jumpfunc is loaded already: rmmod it, the test loads its own"
	JF_STARTED=1
	JF_TMP=$(mktemp -d)
	trap jf_exit EXIT
	trap 'exit 130' INT TERM HUP
	JF_MARK="jumpfunc selftest $JF_NAME $$ begins"
	echo "$JF_MARK" >/dev/kmsg
	JF_TAINT=$(cat /proc/sys/kernel/tainted)
}

# Whatever way the test ends, nothing of it is left.
jf_restore()
{
	[ -z "$JF_CLEANUP" ] || { eval "$JF_CLEANUP" || true; JF_CLEANUP=''; } 2>/dev/null
	jf_stop_all
	for jf_m in $JF_LOADED; do rmmod "$jf_m" 2>/dev/null || true; done
	JF_LOADED=''
	[ -z "$JF_TMP" ] || rm -rf "$JF_TMP"
}

jf_exit()
{
	jf_rc=$?
	trap - EXIT
	[ "$JF_ENDED" = 0 ] || exit $jf_rc
	fail "the test came to its end" "it stopped with status $jf_rc"
	jf_restore
	echo "1..$JF_N"
	exit 1
}

jf_done()
{
	jf_stop_all
	jf_left=$JF_LOADED
	for jf_m in $JF_LOADED; do
		if jf_out=$(jf_rmmod "$jf_m" 2>&1); then continue; fi
		fail "$jf_m unloads" "$jf_out"
	done
	[ -n "$jf_left" ] && ! grep -q '^jumpfunc ' /proc/modules && JF_LOADED=''
	# No status but 0 says that the log is clean: one that could not be checked is not.
	if jf_bad=$(jf_log | sh "$JF_TOP/harness/trouble" 2>&1); then
		pass "the kernel log stays clean"
	else
		fail "the kernel log stays clean" "$(printf '%s\n' "${jf_bad:-harness/trouble cannot tell}" | head -n 5)"
		jf_log | tail -n 60 | sed 's/^/#   /'
	fi
	JF_ENDED=1
	jf_tell_counts
	jf_restore
	echo "1..$JF_N"
	note "$JF_PASSED passed, $JF_FAILED failed"
	[ "$JF_FAILED" = 0 ] || exit 1
	exit 0
}

# jf_on_exit COMMAND: run when the test ends, in whatever way; the latest first
jf_on_exit() { JF_CLEANUP="$1; $JF_CLEANUP"; }

# ---- kernel log ----

# jf_log: what the kernel said since the test began.  If the ring buffer has turned over, all of it.
jf_log()
{
	if dmesg | grep -qF "$JF_MARK"; then
		dmesg | awk -v m="$JF_MARK" 'on {print} index($0, m) {on = 1}'
	else
		dmesg
	fi
}

# While allocations fail on purpose, the kernel's own code has something to say about some of them.
# Between these two, what harness/expected.re has is no trouble; all else is.
jf_complaints_expected()
{
	JF_PANIC=$(cat /proc/sys/kernel/panic_on_warn)
	echo 0 >/proc/sys/kernel/panic_on_warn
	echo "jumpfunc selftest: complaints about memory are expected" >/dev/kmsg
}

jf_complaints_over()
{
	echo "jumpfunc selftest: complaints about memory are trouble again" >/dev/kmsg
	echo "${JF_PANIC:-0}" >/proc/sys/kernel/panic_on_warn
}

# jf_log_mark: remembers this point; jf_log_new: what was said since
jf_log_mark()
{
	JF_MARKS=$((${JF_MARKS:-0} + 1))
	echo "jumpfunc selftest $JF_NAME $$ mark $JF_MARKS" >/dev/kmsg
}

jf_log_new()
{
	dmesg | awk -v m="jumpfunc selftest $JF_NAME $$ mark $JF_MARKS" 'on {print} index($0, m) {on = 1; seen = 1}
		END {exit !seen}'
}

# ---- modules ----

# jf_ko NAME: the file of a module of this tree
jf_ko()
{
	for jf_d in "${JF_MODULES:-}" "$JF_TOP" "$JF_TOP/samples" "$JF_TOP/build/$(uname -r)/modules"; do
		[ -n "$jf_d" ] && [ -e "$jf_d/$1.ko" ] && { echo "$jf_d/$1.ko"; return; }
	done
	return 1
}

# jf_insmod NAME [PARAMETER...]: status of insmod; unloaded again when the test ends
jf_insmod()
{
	jf_m=$1; shift
	jf_file=$(jf_ko "$jf_m") || { echo "no $jf_m.ko: build it first (make)"; return 1; }
	insmod "$jf_file" "$@" || return
	jf_m=$(echo "$jf_m" | tr - _)
	# In the order in which they have to be unloaded.
	JF_LOADED="$jf_m $JF_LOADED"
}

# jf_unloaded NAME: another process has unloaded it, or does
jf_unloaded() { JF_LOADED=$(echo " $JF_LOADED " | sed "s/ $1 / /"); }

# jf_rmmod NAME
jf_rmmod()
{
	jf_m=$(echo "$1" | tr - _)
	jf_counts=
	[ "$jf_m" != jumpfunc ] || jf_counts=$(jf_count_stats)
	rmmod "$jf_m" || return
	[ -z "$jf_counts" ] || echo "$jf_counts" >>"$JF_TMP/counts"
	jf_unloaded "$jf_m"
}

# jf_load [PARAMETER...]: jumpfunc.ko itself; the test cannot go on without.  JF_BACKEND, if set,
# is the back end of tests that do not ask for one.
jf_load()
{
	case " $* " in
	*" backend="*) ;;
	*) [ -z "${JF_BACKEND:-}" ] || set -- "$@" "backend=$JF_BACKEND" ;;
	esac
	jf_ko jumpfunc >/dev/null || jf_bail "jumpfunc.ko is there" "build it first (make)"
	if ! jf_insmod jumpfunc "$@" 2>"$JF_TMP/insmod"; then
		case $(cat /sys/kernel/security/lockdown 2>/dev/null) in
		*"[integrity]"*|*"[confidentiality]"*) jf_skip_all "kernel lockdown forbids unsigned modules" ;;
		esac
		jf_log | tail -n 20 | sed 's/^/#   /'
		jf_bail "jumpfunc.ko loads ($*)" "$(cat "$JF_TMP/insmod")"
	fi
	[ -d $JF ] || jf_bail "$JF is there"
}

jf_unload() { jf_rmmod jumpfunc; }

# jf_cases MODULE [CASE [PREFIX]]: runs the cases of a loaded test module, one result for each
jf_cases()
{
	jf_d=/sys/kernel/debug/$1
	echo "${2:-all}" >"$jf_d/run" 2>"$JF_TMP/run" || note "$1 ${2:-all}: $(cat "$JF_TMP/run")"
	cat "$jf_d/results" >"$JF_TMP/results"
	[ -s "$JF_TMP/results" ] || fail "${3:-}$1 ${2:-all}" "no results"
	jf_why=''
	while read -r jf_w jf_rest; do
		case $jf_w in
		ok) pass "${3:-}$1 $jf_rest"; jf_why='' ;;
		not) fail "${3:-}$1 ${jf_rest#ok }" "$jf_why"; jf_why='' ;;
		*) jf_why="$jf_why$jf_rest
" ;;
		esac
	done <"$JF_TMP/results"
}

# jf_has MODULE: is there such a module in this tree?
jf_has() { jf_ko "$1" >/dev/null; }

# jf_tool NAME: a program of selftests/tools can be called; in a VM it is there, else it is compiled
jf_tool()
{
	! command -v "$1" >/dev/null || return 0
	mkdir -p "$JF_TMP/bin"
	"${CC:-cc}" -O2 -pthread -o "$JF_TMP/bin/$1" "$JF_TOP/selftests/tools/$1.c" 2>/dev/null || return
	PATH=$PATH:$JF_TMP/bin
}

# jf_until TENTHS COMMAND...: waits for it, so many tenths of a second
jf_until()
{
	jf_t=$1; shift
	until "$@"; do
		jf_t=$((jf_t - 1))
		[ $jf_t -gt 0 ] || return 1
		sleep 0.1
	done
}

# ---- debugfs ----

# jf_write FILE TEXT: one write(2) of exactly these bytes, whatever the shell makes of them
jf_write()
{
	printf %s "$2" >"$JF_TMP/write"
	jf_write_from "$1" "$JF_TMP/write"
}

# jf_write_from FILE SOURCE: the same, from a file
jf_write_from() { dd if="$2" of="$JF/$1" bs=65536 conv=notrunc 2>"$JF_TMP/dd" || { head -n 1 "$JF_TMP/dd"; return 1; }; }

# jf_stat NAME: a number of the stats file
jf_stat() { awk -v n="$1" '$1 == n {print $2; found = 1} END {exit !found}' $JF/stats; }

# jf_images_back WHAT: all dispatch images are given back, within twenty seconds
jf_images_back()
{
	jf_i=0
	while [ $jf_i -lt 100 ] && [ "$(jf_stat images_used)" != 0 ]; do sleep 0.2; jf_i=$((jf_i + 1)); done
	check_eq "$1" "$(jf_stat images_used)" 0
}

# jf_no_bpftrace: why bpftrace cannot be used here; says nothing if it can
jf_no_bpftrace()
{
	if ! command -v bpftrace >/dev/null; then
		echo "not installed"
	elif bpftrace -c true -e "tracepoint:sched:sched_switch { @ = count(); }" 2>&1 | grep -q "file not found"; then
		echo "this bpftrace wants headers of this kernel, for its own tracepoints, too"
	fi
}

# jf_difference NAME COMMAND...: by how much that number grows meanwhile, in jf_diff
jf_difference()
{
	jf_grows=$1 jf_before=$(jf_stat "$1"); shift
	"$@"
	jf_diff=$(($(jf_stat "$jf_grows") - jf_before))
}

# jf_functions_of FILE: after each address that begins a line, the function it is in.  perf script -F ip,sym does
# the same, but which functions of modules it knows depends on its version and on the kernel.
jf_functions_of()
{
	sort /proc/kallsyms | awk '
		NR == FNR {if ($2 ~ /^[tTwW]$/) {at[n] = $1 ""; name[n++] = $3}; next}
		length($1) != 16 || $1 !~ /^[89a-f]/ {print; next}
		{
			lo = 0; hi = n
			while (hi - lo > 1) {
				mid = int((lo + hi) / 2)
				if (at[mid] <= $1 "") lo = mid; else hi = mid
			}
			print $1, name[lo]
		}' - "$1"
}

# jf_call N: calls func<N>; "TARGET RESULT"
jf_call() { sed -n 's/^target \([0-9]\): .* = \(-\{0,1\}[0-9]*\)$/\1 \2/p' $JF/func"$1"; }

# jf_target FILE: calls it and says which target ran
jf_target() { jf_call "${1#func}" | cut -d' ' -f1; }

# jf_state: all that a write may change, without the counters that reading changes
jf_state()
{
	cat $JF/functions $JF/dispatch
	[ ! -e $JF/keys ] || cat $JF/keys
	[ ! -e $JF/subscribers ] || cat $JF/subscribers
	grep -E '^(backend|updates|sites_patched) ' $JF/stats
}

# jf_hits EVENT MODE: hits of an event of the set in a mode, 0 if this kernel has no such tracepoint
jf_hits()
{
	awk -v e="$1" -v m="$2" '$1 == "#" {for (i = 2; i <= NF; i++) if ($i == m) col = i - 1}
		$1 == e && $2 != "missing" {print $col; found = 1} END {if (!found) print 0}' $JF/events
}

# ---- things that run beside the test ----

# jf_run COMMAND...: in the background; ended with the test.  What is written in shell ends itself, between
# two commands: user mode Linux 6.12 panics if a process is killed while it forks.
jf_run()
{
	case $(command -v "$1") in
	/*) "$@" & ;;
	*) { trap 'exit 143' TERM; "$@"; } & ;;
	esac
	JF_PIDS="$JF_PIDS $!"
}

# Some tools of others do not end at their first SIGTERM: then the wait has an end all the same.
jf_stop_one()
{
	jf_until 300 jf_is_over "$1" || { note "process $1 did not end in half a minute: SIGKILL"; kill -9 "$1" 2>/dev/null || true; }
	wait "$1" 2>/dev/null || true
}

# A child that is a zombie waits for our wait.
jf_is_over() { ! [ -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

jf_stop_all()
{
	for jf_p in $JF_PIDS; do kill "$jf_p" 2>/dev/null || true; done
	for jf_p in $JF_PIDS; do jf_stop_one "$jf_p"; done
	JF_PIDS=''
}
