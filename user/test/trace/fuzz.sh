#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# The recovery, with inputs that a fuzzer makes of real packets and of nothing.
# usage: fuzz.sh BUILD [INPUTS]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
inputs=${2:-20000}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

# With a byte in front for each way to use it.
seeds()
{
	mkdir "$tmp/seeds" "$tmp/found" "$tmp/traces" &&
		JUMPFUNC_TRACE='jftest:*' JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_TRACE_PACKET_SIZE=4096 \
			"$build/trace_events" 200 || return 1
	n=0
	for packet in "$tmp"/traces/*/r*; do
		for how in 001 002 003 005 007 043 103; do
			n=$((n + 1))
			{ printf '%b' "\\0$how"; head -c 1024 "$packet"; } > "$tmp/seeds/$n"
		done
	done
	for metadata in "$tmp"/traces/*/metadata; do
		{ printf '\023'; cat "$metadata"; } > "$tmp/seeds/metadata"
	done
	[ "$n" -gt 5 ]
}

fuzz()
{
	cd "$tmp/found" || return 1
	"$build/fuzz_recover" -runs="$inputs" -max_len=2048 -timeout=20 -print_final_stats=1 "$tmp/found" "$tmp/seeds"
}

check "seeds" seeds
check "$inputs inputs" fuzz
tap_end
