#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Leaves one step of the protocol out at a time, and shows what this machine
# makes of it. Prints TAP.
set -eu

usage()
{
	cat <<-EOF
	usage: leave-out.sh [--seconds N] [--builds FOLDER]
	Runs the stress programs with one step of the protocol missing, for at
	most N seconds each (default 5). Steps without which callers go astray
	on any machine must be noticed. A missing broadcast shows only on CPUs
	that go on with instructions that they fetched before: there the result
	is recorded, and neither is a failure.
	EOF
}

builds=$(cd "$(dirname "$0")/.." && pwd)/build/user
seconds=5
while [ $# -gt 0 ]; do
	case $1 in
	--seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
	--builds) builds=${2:?--builds needs a folder}; shift 2 ;;
	--help | -h) usage; exit 0 ;;
	*) echo "leave-out.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
done
for program in stress-break stress-trace-break; do
	if [ ! -x "$builds/$program" ]; then
		echo "leave-out.sh: $builds/$program is missing; make it with: make -C user" >&2
		exit 2
	fi
done
log=$(mktemp "${TMPDIR:-/tmp}/jf-breaks.XXXXXX")
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

nr=0
failed=0
# one PROGRAM STEP must|may
one()
{
	nr=$((nr + 1))
	rc=0
	"$builds/$1" --break "$2" --duration "$seconds" > "$log" 2>&1 || rc=$?
	case $rc in
	0) seen="not noticed in $(sed -n 's/^ok 1 - [a-z-]*: 0 mismatches in //p' "$log")" ;;
	1) seen="noticed: $(grep -m1 -o 'MISMATCH.*\|led astray.*\|^not ok.*' "$log" || echo '?')" ;;
	130) exit 130 ;;
	*) seen="ended with status $rc" ;;
	esac
	verdict=ok
	if [ "$rc" -gt 1 ] || { [ "$3" = must ] && [ "$rc" -eq 0 ]; }; then
		verdict="not ok"
		failed=1
	fi
	echo "$verdict $nr - ${1%-break} without $2 # $seen"
}

echo "TAP version 13"
echo "1..13"
one stress-break int3 must
one stress-break order must
one stress-break sync1 may
one stress-break sync2 may
one stress-break sync3 may
one stress-break publish may
one stress-trace-break quiesce must
one stress-trace-break int3 must
one stress-trace-break order must
one stress-trace-break sync1 may
one stress-trace-break sync2 may
one stress-trace-break sync3 may
one stress-trace-break publish may
exit $failed
