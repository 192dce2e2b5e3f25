#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Each benchmark of programs runs for a moment, and each of its rows gives a number. The numbers mean nothing then. Prints TAP.
# usage: check.sh BUILD
# shellcheck disable=SC2317 # check calls functions by name
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
ust=$here/../trace/bench/ust/ust.py
# shellcheck source=user/test/tap.sh
. "$here/../test/tap.sh"
tap_begin

rows_run()
{
	ends 0 "$build/bench-check" --rounds 1 --no-updates --csv "$tmp/csv" &&
		cp "$tmp/out" "$tmp/table"
}
check "each row of the benchmark runs" rows_run

# Names in the sources of rows. Rows of a missing package are not linked.
names()
{
	sed -nE 's/.*(BENCH_ROWS?|BENCH_ROW_OF|BENCH_ROW_LINE|ROW_OF)\("[a-z-]+", "([a-z0-9-]+)".*/\2/p
		s/^#define [A-Z]+_ROW[[:space:]]+"([a-z0-9-]+)".*/\1/p' "$here"/rows/*.c | sort -u | grep -vx none
}
has_package()
{
	case $1 in
	lttng-ust) ! grep -q 'skipped: LTTng-UST' "$tmp/table" ;;
	sdt) ! grep -q 'skipped: SystemTap' "$tmp/table" ;;
	array-urcu-*) ! grep -q 'skipped: arrays in read sections' "$tmp/table" ;;
	esac
}
rows_are_numbers()
{
	[ "$(names | wc -l)" -gt 25 ] || return
	bad=0
	for row in $(names); do
		grep -qE "^[a-z-]+,[^,]+,$row,[0-9]+,-?[0-9.]+,-?[0-9.]+," "$tmp/csv" || ! has_package "$row" ||
			{ echo "no number of the row $row"; bad=1; }
	done
	! grep -E 'nan|inf' "$tmp/csv" && [ "$bad" = 0 ]
}
check "... and gives a number" rows_are_numbers

in_place() { grep '^calls ' "$tmp/table" | grep '^calls  *0 of dynamic functions go by the trampoline'; }
if [ "$(uname -m)" = x86_64 ]; then
	check "... with all calls of dynamic functions in place" in_place
fi

check "the forms of an SDT probe run" ends 0 "$build/forms" --rounds 1
check "the costs of an event run" ends 0 env JF_BENCH_DIR="$tmp" "$build/trace_bench" 1 1
tracers()
{
	ends 0 "$ust" "$build" --out "$tmp/ust" --rounds 1 --runs 1 --threads 1 --count 1000 --only JF_TRACE &&
		grep '^JF_TRACE_EVENT(),on,[0-9]' "$tmp/ust/bench-ust.csv"
}
if have python3; then
	check "the tracers beside each other run" tracers
else
	skip "the tracers beside each other run" "python3 is not installed"
fi
tap_end
