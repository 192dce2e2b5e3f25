#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Does common/x86/flow.h know how long instructions are? objdump says it for programs.
# usage: lengths.sh FOLDER, where make has built libjumpfunc.so and the tests
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin
out=${1:?usage: lengths.sh FOLDER}

# The bytes of each instruction, but for those that objdump does not know either,
# and prefixes that stand alone.
instructions()
{
	objdump -d -w --insn-width=15 "$1" | awk -F '\t' '
		/^ *[0-9a-f]+:\t/ && $3 != "" && $3 !~ /\(bad\)|^(rex|data16|cs|ds|es|ss|fs|gs|lock|repn?z)[.A-Z ]*$/ {
			gsub(/ /, "", $2)
			print length($2) / 2, $2
		}'
}

build()
{
	${CC:-cc} -O2 -I"$user/.." -I"$user/../include" -o "$tmp/lengths" \
		"$user/test/lengths.c"
}

agree()
{
	instructions "$1" > "$tmp/instructions" && "$tmp/lengths" < "$tmp/instructions"
}

libc()
{
	ldd "$out/libjumpfunc.so" | awk '$1 ~ /^libc\.so/ { print $3 }'
}

if have objdump; then
	check "builds" build
	check "the library" agree "$out/libjumpfunc.so"
	check "the C library" agree "$(libc)"
	if [ -e "$out/test_lib-clang-O0" ]; then
		check "what clang makes" agree "$out/test_lib-clang-O0"
	else
		skip "what clang makes" "clang is not installed"
	fi
	check "what is built without optimisation" agree "$out/test_lib-O0"
else
	skip "lengths of instructions" "no objdump (apt-get install binutils)"
fi
tap_end
