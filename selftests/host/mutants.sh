#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Breaks a source on purpose, one way at a time, and expects its test to fail
# each time: a test that cannot fail proves nothing. Prints TAP.
set -eu

usage()
{
	cat <<-EOF
	usage: mutants.sh [--cc "COMPILER FLAGS"] [--out FOLDER] [--args "TEST ARGUMENTS"]
	                  LIST SOURCE MACRO TEST.c [OTHER.c ...]
	       mutants.sh [--out FOLDER] --make COMMAND --run COMMAND LIST SOURCE
	Builds TEST.c (and OTHER.c) against broken copies of SOURCE, in FOLDER, and checks that
	it notices every one of them. TEST.c includes SOURCE by the name that
	MACRO holds. A line of LIST says what is broken and the sed command that
	breaks it, with a | between; a line without command is the control, on
	which the test must pass.
	With --make that command builds what --run tests; both find the broken copy's
	name in MUTANT. What is broken is followed by the tests that can notice it, in
	parentheses and with a comma between them: one of these has to fail.
	EOF
}

cc=gcc
out=
args=
make=
run=
while [ $# -gt 0 ]; do
	case $1 in
	--cc) cc=${2:?--cc needs a compiler}; shift 2 ;;
	--out) out=${2:?--out needs a folder}; shift 2 ;;
	--args) args=${2?--args needs text}; shift 2 ;;
	--make) make=${2:?--make needs a command}; shift 2 ;;
	--run) run=${2:?--run needs a command}; shift 2 ;;
	--help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
done
if [ "$make" ] && [ "$run" ] && [ $# = 2 ]; then
	macro=
elif [ -z "$make$run" ] && [ $# -ge 4 ]; then
	macro=$3
else
	usage >&2
	exit 2
fi
list=$1
source=$2
[ -z "$macro" ] || shift 3

if [ -n "$out" ]; then
	mkdir -p "$out"
fi
work=$(mktemp -d "${out:-${TMPDIR:-/tmp}}/mutants.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
grep -v '^#' "$list" > "$work/list"

export MUTANT="$work/source"

build()
{
	if [ "$make" ]; then
		sh -c "$make" </dev/null
		return
	fi
	# shellcheck disable=SC2086 # the compiler may have flags
	$cc -std=gnu11 -O1 -D"$macro=\"$work/source\"" \
		-I"$(dirname "$source")" -I"$(dirname "$0")/../.." -pthread \
		-o "$work/test" "$@"
}

run_test()
{
	if [ "$run" ]; then
		sh -c "$run" </dev/null
		return
	fi
	# shellcheck disable=SC2086 # the arguments are several words
	timeout -k 5 60 "$work/test" $args
}

# The tests that failed: their numbers, or of what --run prints their names.
noticed_by()
{
	if [ "$run" ]; then
		sed -n 's/^not ok [0-9]* - \(hostile: \)*//p' "$work/log" | paste -sd, | sed 's/,/, /g'
	else
		sed -n 's/^not ok \([0-9]*\).*/tests \1/p' "$work/log" | paste -sd' ' | sed 's/ tests / /g'
	fi
}

# expected DESCRIPTION FAILED: is one of those that it names among them?
expected()
{
	echo "$1" | sed -n 's/.*(\(.*\))$/\1/p' | sed 's/, */\n/g' > "$work/expected"
	echo "$2" | sed 's/, /\n/g' | grep -qxFf "$work/expected"
}

echo "TAP version 13"
echo "1..$(wc -l < "$work/list")"
nr=0
failed=0
while IFS='|' read -r name command; do
	nr=$((nr + 1))
	verdict=ok
	note=
	sed "$command" "$source" > "$work/source"
	if [ -n "$command" ] && cmp -s "$source" "$work/source"; then
		verdict="not ok"
		note=" # $source has changed: renew this line's sed command"
	elif ! build "$@" > "$work/cc.log" 2>&1; then
		verdict="not ok"
		note=" # does not build"
		sed 's/^/# /' "$work/cc.log"
	elif run_test > "$work/log" 2>&1; then
		if [ -n "$command" ]; then
			verdict="not ok"
			note=" # the test did not notice"
		fi
	elif [ -z "$command" ]; then
		verdict="not ok"
		note=" # the test fails on a source that is whole"
	else
		by=$(noticed_by)
		note=" # noticed by ${by:-a crash}"
		if [ "$run" ] && ! expected "$name" "$by"; then
			verdict="not ok"
			note=" # of those that should notice it none did, but ${by:-whatever ran them}"
		fi
	fi
	[ "$verdict" = ok ] || failed=1
	echo "$verdict $nr - $name$note"
done < "$work/list"
exit $failed
