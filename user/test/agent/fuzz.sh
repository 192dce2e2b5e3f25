#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What the agent reads of files, with inputs that a fuzzer makes of real ones and of nothing.
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

# With a byte in front that says what it is.
seeds()
{
	mkdir "$tmp/seeds" "$tmp/found" &&
		objcopy -O binary --only-section=.note.stapsdt --set-section-flags .note.stapsdt=alloc \
			"$build/agent/subject.so" "$tmp/notes" &&
		[ -s "$tmp/notes" ] &&
		{ printf '\000'; cat "$tmp/notes"; } > "$tmp/seeds/notes" &&
		printf '\0018@%%rax -4@$-5 1@%%ah 8@-80(%%rbx) 4@8(%%rax,%%rcx,4)' > "$tmp/seeds/arguments" &&
		cp "$build/agent/subject.so" "$tmp/small.so" && strip "$tmp/small.so" &&
		{ printf '\002'; cat "$tmp/small.so"; } > "$tmp/seeds/file"
}

fuzz()
{
	cd "$tmp/found" || return 1
	"$build/agent/fuzz_file" -runs="$inputs" -max_len=32768 -timeout=20 -print_final_stats=1 "$tmp/found" "$tmp/seeds"
}

check "seeds" seeds
check "$inputs inputs" fuzz
tap_end
