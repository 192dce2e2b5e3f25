#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Leaves one step of the protocol out at a time, and shows what this machine
# makes of it. Prints TAP.
set -eu

usage()
{
	cat <<-EOF
	usage: leave-out.sh [--seconds N] [--builds FOLDER]
	Runs the library's storm with one step of the protocol missing, for at most
	N seconds each (default 5), by breakpoints and without. Steps without which
	callers go astray on any machine must be noticed. A missing broadcast shows
	only on CPUs that go on with instructions that they fetched before: there
	the result is recorded, and neither is a failure. (The last one also ends
	the writing of the first bytes, whose lack is found.)
	EOF
}

builds=$(cd "$(dirname "$0")/../.." && pwd)/build/user
seconds=5
while [ $# -gt 0 ]; do
	case $1 in
	--seconds) seconds=${2:?--seconds needs a number}; shift 2 ;;
	--builds) builds=${2:?--builds needs a folder}; shift 2 ;;
	--help | -h) usage; exit 0 ;;
	*) echo "leave-out.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
done
for file in stress-lib-break plugin1.so; do
	if [ ! -f "$builds/$file" ]; then
		echo "leave-out.sh: $builds/$file is missing; make it with: make -C user breaks" >&2
		exit 2
	fi
done
builds=$(cd "$builds" && pwd)
log=$(mktemp "${TMPDIR:-/tmp}/jf-breaks.XXXXXX")
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

nr=0
failed=0
# one TRAP STEP must|may
one()
{
	nr=$((nr + 1))
	rc=0
	JUMPFUNC_TRAP=$1 "$builds/stress-lib-break" --break "$2" --duration "$seconds" \
		"$builds/plugin1.so" > "$log" 2>&1 || rc=$?
	case $rc in
	0) seen="not noticed in $(sed -n 's/^ok 1 - \([0-9]* calls\).*/\1/p' "$log")" ;;
	1) seen="noticed: $(grep -m1 -o 'MISMATCH.*\|led astray.*\|^Bail out.*\|^not ok.*' "$log" || echo '?')" ;;
	130) exit 130 ;;
	*) seen="ended with status $rc" ;;
	esac
	verdict=ok
	if [ "$rc" -gt 1 ] || { [ "$3" = must ] && [ "$rc" -eq 0 ]; }; then
		verdict="not ok"
		failed=1
	fi
	echo "$verdict $nr - JUMPFUNC_TRAP=$1 without $2 # $seen"
}

echo "TAP version 13"
echo "1..14"
for trap in always never; do
	one $trap int3 must
	one $trap order must
	one $trap publish must
	one $trap sync3 must
	one $trap sync1 may
	one $trap sync2 may
done
one always quiesce must
one never quiesce may
exit $failed
