# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the tests that use jf_promise.ko; sourced after lib.sh, never run.

P=/sys/kernel/debug/jf_promise

promise() { awk -v n="$1" '$1 == n {print $2}' $P/state; }
promise_do() { echo "$*" >$P/do; }
at_least() { [ "$(promise "$1")" -ge "$2" ]; }
all_called() { [ "$(promise called)" = "$(promise asked)" ]; }
ended() { [ "$(promise threads)" = 0 ]; }
# The documented limit, in ms; a machine that is emulated has more.
limit=$((2000 * ${JF_SLOW:-1}))

# held WHAT: jf_quiesce_timeout() says that a task is inside, at once and after a second
held()
{
	promise_do quiesce 0 2>"$JF_TMP/now" || true
	promise_do quiesce 700 2>"$JF_TMP/later" || true
	check_match "$1: a quiesce that does not wait says so" "$(cat "$JF_TMP/now")" 'timed out'
	check_match "$1: one that waits does, too" "$(cat "$JF_TMP/later")" 'timed out'
	check "$1: the task is still inside" at_least inside 1
}

# leaves WHAT: the task leaves, and the quiesce ends
leaves()
{
	promise_do open
	check "$1: the quiesce ends when the task has left" promise_do quiesce $((limit + 10000))
	jf_until 100 ended || fail "$1: the thread ends" "$(cat $P/state)"
}

# enters WHAT PLACE: a thread is there
enters()
{
	promise_do shut
	promise_do go "$2"
	jf_until 100 at_least inside 1 || fail "$1: the thread is there" "$(cat $P/state)"
}

# passed WHAT: a quiesce ends in time, and the log names its cause if it does not
passed()
{
	jf_log_mark
	if promise_do quiesce $((limit + 20000)) 2>"$JF_TMP/passed"; then
		if [ "$(promise quiesce_ms)" -le $limit ]; then
			pass "$1: a quiesce ends, after $(promise quiesce_ms) ms"
		else
			fail "$1: a quiesce ends" "after $(promise quiesce_ms) ms, which is more than $limit"
		fi
	else
		fail "$1: a quiesce ends" "$(cat "$JF_TMP/passed"); $(jf_log_new | grep waiting | tail -n 1)"
	fi
}

load()
{
	jf_load "$@"
	jf_insmod jf_promise || jf_bail "jf_promise loads"
	[ "${promise_opens:-}" ] || jf_on_exit "echo open >$P/do"
	promise_opens=1
}
unload()
{
	promise_do stop
	if ! jf_rmmod jf_promise || ! jf_unload; then jf_bail "jf_promise and jumpfunc unload"; fi
}
