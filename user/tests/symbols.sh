#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What libjumpfunc.so shows to others: the symbols of its version script, and no other.
# usage: symbols.sh FOLDER, where make has built it
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/tests/tap.sh"
tap_begin
so=${1:?usage: symbols.sh FOLDER}/libjumpfunc.so.1
a=$1/libjumpfunc.a

# Names, each with its version.
nm -D --defined-only --with-symbol-versions "$so" | awk '$2 != "A" { print $3 }' | sort > "$tmp/exported"

versions()
{
	[ -s "$tmp/exported" ] && ! grep -v '@@JUMPFUNC_1\.0$' "$tmp/exported"
}

# Each of the script is there: a name that nothing defines is a promise to nobody.
listed()
{
	sed -n '/^global:/,/^local:/s/^\t\([a-z_0-9]*\);$/\1/p' "$user/libjumpfunc.map" | sort > "$tmp/listed"
	sed 's/@@.*//' "$tmp/exported" | diff "$tmp/listed" -
}

# Each declared function that headers or users call is exported.
declared()
{
	cat > "$tmp/use.c" <<-'END'
	#include <jumpfunc/batch.h>
	#include <jumpfunc/branch.h>
	#include <jumpfunc/dynfunc.h>
	#include <jumpfunc/tracepoint.h>
	#include <jumpfunc/stats.h>
	END
	# Prototypes that have no body, as the compiler sees them.
	${CC:-cc} -I"$user/../include" -fno-inline -E "$tmp/use.c" | tr '\n' ' ' |
		grep -oE '\b(__)?jf_[a-z_0-9]+\([^(){};]*(\([^()]*\)[^(){};]*)*\);' |
		sed 's/(.*//' | sort -u > "$tmp/prototypes"
	# Inline ones may be declared first.
	${CC:-cc} -I"$user/../include" -E "$tmp/use.c" | tr '\n' ' ' |
		grep -oE '\b(__)?jf_[a-z_0-9]+\([^(){};]*(\([^()]*\)[^(){};]*)*\) *\{' |
		sed 's/(.*//' | sort -u | comm -13 - "$tmp/prototypes" > "$tmp/declared"
	[ "$(wc -l < "$tmp/declared")" -ge 15 ] &&
		sed 's/@@.*//' "$tmp/exported" | comm -23 "$tmp/declared" - > "$tmp/missing"
	cat "$tmp/missing"
	[ ! -s "$tmp/missing" ]
}

soname() { readelf -d "$so" | grep -q 'SONAME.*\[libjumpfunc\.so\.1\]'; }
needed() { ! readelf -d "$so" | grep NEEDED | grep -vE 'libc\.so|libpthread|ld-linux|libgcc_s'; }
no_textrel() { ! readelf -d "$so" | grep -E 'TEXTREL|RPATH|RUNPATH'; }
no_exec_stack() { readelf -lW "$so" | grep GNU_STACK | grep -qv E; }
no_rwx() { ! readelf -lW "$so" | grep LOAD | grep -q 'RWE'; }
# Others' names must not be taken by the static library.
prefixed()
{
	! nm -g --defined-only "$a" 2> /dev/null | awk 'NF == 3 { print $3 }' | grep -vE '^(__)?jf_'
}

check "all symbols have version JUMPFUNC_1.0" versions
check "the version script lists what is there" listed
check "what the headers declare is exported" declared
check "its name is libjumpfunc.so.1" soname
check "it needs the C library, and the unwinder" needed
check "no text relocation, no path" no_textrel
check "no executable stack" no_exec_stack
check "nothing writable and executable" no_rwx
check "the static library has no names but jf_" prefixed
tap_end
