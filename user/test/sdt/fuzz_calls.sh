#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Object files for jf-sdt that a fuzzer makes of real ones.
# usage: fuzz_calls.sh BUILDS [INPUTS]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
inputs=${2:-20000}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
CC=${CC:-cc}

# seed NAME COMPILER FLAGS...
seed()
{
	to=$1
	shift
	"$@" -w -c -o "$tmp/seeds/$to.o" "$tmp/s.c" && objcopy --remove-section=.comment "$tmp/seeds/$to.o"
}

seeds()
{
	mkdir "$tmp/seeds" "$tmp/found" || return 1
	cat > "$tmp/s.c" <<-'END'
	void __dtrace_a___b(int), __dtrace_probe_c(void);
	int __dtraceenabled_a___b(void), g(void);
	int f(int x) { if (__dtraceenabled_a___b()) __dtrace_a___b(x); __dtrace_probe_c(); return g(); }
	void h(int x) { __dtrace_a___b(x); }
	END
	seed plain "$CC" -O2 && seed got "$CC" -O2 -fno-plt && seed sections "$CC" -Os -ffunction-sections &&
		seed kernel "$CC" -O2 -fno-pic -fno-asynchronous-unwind-tables -mcmodel=kernel && seed c++ "$CC" -xc++ -O1 -fno-plt || return 1
	if have clang; then
		seed clang clang -O1 || return 1
	fi
	cp "$tmp/seeds/plain.o" "$tmp/seeds/changed.o" && "$build/jf-sdt" "$tmp/seeds/changed.o"
	ls -l "$tmp/seeds"
}

# What a seed is read as tells that the fuzzer gets to where it should.
seeds_mean()
{
	"$build/jf-sdt" --list "$tmp/seeds/plain.o" > "$tmp/list"
	cat "$tmp/list"
	[ "$(cut -f 3 "$tmp/list" | sort | tr '\n' ' ')" = "call call call tail test " ]
}

fuzz()
{
	cd "$tmp/found" || return 1
	"$build/fuzz_calls" -runs="$inputs" -max_len=16384 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 "$tmp/found" "$tmp/seeds"
}

check "seeds" seeds
check "seeds are what they should be" seeds_mean
check "$inputs inputs" fuzz
tap_end
