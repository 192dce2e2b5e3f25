#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What the libraries show to others: the symbols of the version script, and no other.
# usage: symbols.sh FOLDER, where make has built it
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin
so=${1:?usage: symbols.sh FOLDER}/libjumpfunc.so.1
a=$1/libjumpfunc.a

# Names, each with its version.
nm -D --defined-only --with-symbol-versions "$so" | awk '$2 != "A" { print $3 }' | sort > "$tmp/exported"

versions()
{
	[ -s "$tmp/exported" ] && ! grep -v '@@JUMPFUNC_1\.0$' "$tmp/exported"
}

# Each of the script is there: a name that nothing defines promises nothing.
listed()
{
	awk -f "$user/names.awk" "$user/libjumpfunc.map" | sort > "$tmp/listed"
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
	#include <jumpfunc/list.h>
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
# The static library's are the same: what is internal can neither take a program's name
# nor be taken for it.
archive()
{
	nm -g --defined-only "$a" 2> /dev/null | awk 'NF == 3 { print $3 }' | sort -u |
		diff "$tmp/listed" -
}

# A program that has functions and data with the names of all that is internal: the
# library's symbols, as its objects have them, without those of the script.
namesakes()
{
	for object in "$1"/lib/*.o; do
		[ "${object##*/}" = all.o ] || nm -g --defined-only "$object"
	done | awk 'NF == 3 { print $3 }' | sort -u |
		comm -23 - "$tmp/listed" > "$tmp/internal"
	[ "$(wc -l < "$tmp/internal")" -ge 20 ] && grep -qx jf_alloc "$tmp/internal" &&
		grep -qx jf_lock "$tmp/internal" || return 1
	{
		cat <<-'END'
		#include <jumpfunc/branch.h>
		#include <jumpfunc/tracepoint.h>
		#include <stdlib.h>
		DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
		DEFINE_JF_TRACE(rx);
		DEFINE_JF_KEY_FALSE(on);
		static int seen;
		static void probe(void *data, int i)
		{
			*(int *)data += i;
		}
		int main(void)
		{
			if (register_jf_trace_rx(probe, &seen) || jf_key_enable(&on))
				return 1;
			jf_trace_rx(3);
			jf_quiesce();
			return !jf_branch_unlikely(&on) || seen != 3 || unregister_jf_trace_rx(probe, &seen);
		}
		END
		# jf_stats is also a struct's name: a label of assembly is no word of C's.
		while read -r symbol; do
			printf '__asm__(".pushsection .text\\n.globl %s\\n%s: ud2\\n.popsection");\n' "$symbol" "$symbol"
		done < "$tmp/internal"
	} > "$tmp/namesakes.c"
	for link in "-static" "-fPIE -static-pie" "-fPIE -pie" "-fno-pie -no-pie"; do
		# shellcheck disable=SC2086 # several words
		${CC:-cc} -O2 -I"$user/../include" $link -pthread -o "$tmp/namesakes" "$tmp/namesakes.c" "$a" &&
			"$tmp/namesakes" || { echo "with $link"; return 1; }
	done
	# shellcheck disable=SC2086
	${CC:-cc} -O2 -I"$user/../include" -rdynamic -pthread -o "$tmp/namesakes" "$tmp/namesakes.c" \
		-L"$1" -ljumpfunc -Wl,-rpath,"$1" && "$tmp/namesakes"
}

# A debugger's and an unwinder's view of what was linked to one object.
frames() { readelf --debug-dump=frames "$a" 2> /dev/null | grep -q 'FDE'; }

check "all symbols have version JUMPFUNC_1.0" versions
check "the version script lists what is there" listed
check "what the headers declare is exported" declared
check "its name is libjumpfunc.so.1" soname
check "it needs the C library, and the unwinder" needed
check "no text relocation, no path" no_textrel
check "no executable stack" no_exec_stack
check "nothing writable and executable" no_rwx
check "the static library shows the same names" archive
check "a program may use all the internal ones" namesakes "$1"
check "the static library has unwind information" frames
tap_end
