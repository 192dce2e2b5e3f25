# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# shellcheck shell=sh
# TAP for the tests that are scripts; sourced, never run.
#
# API:
#   tap_begin		the header; a folder of its own in $tmp, removed at the end, also on ^C
#   check NAME COMMAND	one test: ok if the command ends with 0; shows what it said. It is run again, up to four times, if it
#			says that a probe had no memory in reach, alone or beside another probe: the kernel chooses another
#			place for each process
#   skip NAME REASON	one that cannot be done here
#   TAP_ONLY		a regular expression: only tests with such a name, if it is set
#   have COMMAND	is there such a command?
#   ends STATUS COMMAND	runs it, shows its output, which stays in $tmp/out and $tmp/err; 0 if that is its status
#   says REGEXP		0 if the output of the last ends has it
#   awaits COMMAND...	runs it again until it succeeds, for a minute at most
#   build_c NAME FLAGS...	compiles standard input, a program in C, to $tmp/NAME
#   tap_end		the plan; ends with 1 if a test failed, or none was run

tap_begin()
{
	echo "TAP version 13"
	tests=0
	failed=0
	skipped=0
	tmp=$(mktemp -d)
	# Not by a subshell that a signal ends before it has reset its traps.
	trap '[ "$(exec sh -c "echo \$PPID")" != $$ ] || rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

have() { command -v "$1" > /dev/null 2>&1; }

ends()
{
	want=$1
	shift
	"$@" > "$tmp/out" 2> "$tmp/err"
	rc=$?
	cat "$tmp/out" "$tmp/err"
	[ "$rc" = "$want" ] || { echo "status $rc"; false; }
}

says() { grep -q -- "$1" "$tmp/out" "$tmp/err" || { echo "not said: $1"; false; }; }

awaits()
{
	for _ in $(seq 1200); do
		"$@" && return 0
		sleep 0.05
	done
	echo "awaited in vain: $*"
	return 1
}

build_c()
{
	program=$1
	shift
	cat > "$tmp/$program.c"
	${CC:-cc} -O1 -pthread "$@" -o "$tmp/$program" "$tmp/$program.c" -ldl -lm
}

tap_wants() { [ -z "${TAP_ONLY:-}" ] || printf '%s\n' "$1" | grep -qE -e "$TAP_ONLY"; }

check()
{
	tap_wants "$1" || return 0
	name=$1
	shift
	tests=$((tests + 1))
	for _ in 1 2 3 4 5; do
		if "$@" > "$tmp/said" 2>&1; then
			echo "ok $tests - $name"
			return 0
		fi
		grep -q -e 'no memory in reach' -e 'another probe is there' "$tmp/said" || break
		echo "# $name: the kernel has put the program where a probe has no memory in reach: again"
	done
	echo "not ok $tests - $name"
	sed 's/^/# /' "$tmp/said" | tail -20
	failed=$((failed + 1))
}

skip()
{
	tap_wants "$1" || return 0
	tests=$((tests + 1))
	skipped=$((skipped + 1))
	echo "ok $tests - $1 # SKIP $2"
}

tap_end()
{
	echo "1..$tests"
	[ "$failed" = 0 ] && [ "$tests" -gt "$skipped" ]
	exit
}
