#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Programs in states that few are in (states.c): functions are switched on and off in that state, and the program does what it does without.
# usage: states.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

mkdir -m 700 "$tmp/run" "$tmp/traces"
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR
# So that each second record takes a packet, and the clock is looked at.
JUMPFUNC_TRACE_PACKET_SIZE=4096
export JUMPFUNC_TRACE_PACKET_SIZE
states=$build/agent/states

# The answer of jf-trace may be that it is not possible.
tells()
{
	timeout -k 5 60 "$build/jf-trace" "$@" > "$tmp/answer" 2>&1
	said=$?
	sed 's/^/jf-trace: /' "$tmp/answer" | head -3
	[ "$said" -lt 124 ] || { echo "jf-trace: status $said"; return 1; }
}

begun()
{
	for _ in $(seq 200); do
		grep -q ready "$tmp/out" && return 0
		kill -0 "$pid" 2> /dev/null || break
		sleep 0.05
	done
	wait "$pid"
	echo "it has not begun: status $?"
	return 1
}

# in_state GLOBS STATE [COMMAND...]: which it begins with, as a child of COMMAND
in_state()
{
	globs=$1
	state=$2
	shift 2
	echo go | "$@" "$states" "$state" > "$tmp/plain"
	plain=$?
	rm -rf "$tmp/in" "$tmp/traces"/*
	mkfifo "$tmp/in"
	: > "$tmp/out"
	(
		JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT=$globs LD_PRELOAD=$build/libjumpfunc-agent.so \
			exec "$@" "$states" "$state" < "$tmp/in" > "$tmp/out" 2> "$tmp/err"
	) &
	pid=$!
	exec 8> "$tmp/in"
	begun || return 1
	for what in enable:'libc.so.6:[d-s]*' enable:'states:*' enable:'call/states:*' disable:'libc.so.6:[a-n]*' enable:'states:works(_,string)' disable:'call/states:*'; do
		tells "${what%%:*}" "$pid" "${what#*:}" || { kill -9 "$pid"; return 1; }
	done
	# It may have died.
	(trap '' PIPE; echo go >&8) 2> /dev/null
	exec 8>&-
	wait "$pid"
	rc=$?
	echo "status $plain, then $rc"
	head -5 "$tmp/err"
	[ "$rc" = "$plain" ] && diff "$tmp/plain" "$tmp/out"
}

for state_name in $("$states"); do
	check "in the state $state_name" in_state 'states:works' "$state_name"
	check "in the state $state_name, nothing at the begin" in_state 'none:none' "$state_name"
done
for flag in -X -R -L; do
	if have setarch && setarch "$flag" true 2> /dev/null; then
		check "setarch $flag" in_state 'states:works,libc.so.6:[m-p]*' plain setarch "$flag"
	else
		skip "setarch $flag" "it is not there"
	fi
done
tap_end
