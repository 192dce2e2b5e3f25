#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Programs in each standard of C and C++ that the headers are for, where whatever is not of
# the standard is an error.
# usage: standards.sh FOLDER, where make has built the library
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin
out=$(cd "${1:?usage: standards.sh FOLDER}" && pwd)
flags="-pedantic -Wall -Wextra -Werror -I$user/../include"

# builds COMPILER STANDARD OPTIMISATION SOURCE C-COMPILER C-STANDARD: what is C in any case
builds()
{
	for s in exports arrays; do
		# shellcheck disable=SC2086 # a list of options
		$5 $flags -std=$6 $3 -fPIC -c -o "$tmp/$s.o" "$user/test/standards_$s.c" || return
	done
	# shellcheck disable=SC2086
	$1 -shared -o "$tmp/libexports.so" "$tmp/exports.o" -L"$out" -ljumpfunc &&
		$1 $flags -std=$2 $3 -o "$tmp/program" "$user/test/$4" "$tmp/arrays.o" "$tmp/libexports.so" \
			-L"$out" -ljumpfunc "-Wl,-rpath,$out" &&
		"$tmp/program" || { echo "line $?"; return 1; }
}

# The public macros, as headers have them, each of which a program here names.
all_macros()
{
	for header in "$user"/../include/jumpfunc/*.h; do
		echo "#include <jumpfunc/${header##*/}>"
	done | grep -vE 'contract|trace_event|define_trace' > "$tmp/all.c"
	${CC:-cc} -I"$user/../include" -dD -E "$tmp/all.c" |
		awk '/^# [0-9]/ { own = $3 ~ /jumpfunc\/[a-z]*\.h"$/ } own && $1 == "#define" { print $2 }' |
		sed 's/(.*//' | grep -vE '^_|^JUMPFUNC_|^JF_(ENT|SITE|TABLE|KEY|FUNC)_|^__' |
		sort -u > "$tmp/macros"
	[ "$(wc -l < "$tmp/macros")" -ge 35 ] || return 1
	while read -r m; do
		grep -qw "$m" "$user"/test/standards*.[ch] || echo "nothing uses $m"
	done < "$tmp/macros" | { ! grep .; }
}

# It says so, and why.
no_arrays()
{
	for macro in DEFINE_JF_KEY_ARRAY_FALSE IMPORT_JF_KEY_ARRAY; do
		printf '#include <jumpfunc/branch.h>\n%s(keys, 3);\n' "$macro" > "$tmp/array.cc"
		# shellcheck disable=SC2086
		! ${CXX:-c++} $flags -std=c++17 -c -o "$tmp/array.o" "$tmp/array.cc" 2> "$tmp/array.said" &&
			grep -q 'C++ cannot initialise an array of keys: define it in C' "$tmp/array.said" || return
	done
}

# A header of events as the kernel's: with a class, and events of the kernel alone, twice.
events()
{
	cat > "$tmp/std_events.h" <<-'END'
	#undef TRACE_SYSTEM
	#define TRACE_SYSTEM std_events
	#if !defined(STD_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
	#define STD_EVENTS_H
	#include <jumpfunc/trace_event.h>
	TRACE_EVENT(std_kernel, TP_PROTO(int i), TP_ARGS(i), TP_STRUCT__entry(__field(int, i)), TP_fast_assign(__entry->i = i;), TP_printk("%d", __entry->i));
	TRACE_EVENT_CONDITION(std_some, TP_PROTO(int i), TP_ARGS(i), TP_CONDITION(i), TP_STRUCT__entry(__field(int, i)), TP_fast_assign(__entry->i = i;), TP_printk("%d", __entry->i));
	DECLARE_EVENT_CLASS(std_class, TP_PROTO(int i), TP_ARGS(i), TP_STRUCT__entry(__field(int, i)), TP_fast_assign(__entry->i = i;), TP_printk("%d", __entry->i));
	DEFINE_EVENT(std_class, std_one, TP_PROTO(int i), TP_ARGS(i));
	JF_DEFINE_EVENT(std_class, std_two, TP_PROTO(int i), TP_ARGS(i));
	JF_TRACE_EVENT(std_own, TP_PROTO(int i), TP_ARGS(i), TP_STRUCT__entry(__field(int, i)), TP_fast_assign(__entry->i = i;), TP_printk("%d", __entry->i));
	#endif
	#undef TRACE_INCLUDE_PATH
	#define TRACE_INCLUDE_PATH .
	#undef TRACE_INCLUDE_FILE
	#define TRACE_INCLUDE_FILE std_events
	#include <jumpfunc/define_trace.h>
	END
	sed "s/std_/other_/g; s/STD_/OTHER_/" "$tmp/std_events.h" > "$tmp/other_events.h"
	printf '#define CREATE_TRACE_POINTS\n#include "std_events.h"\n#include "other_events.h"\nint main(void) { jf_trace_std_own(1); jf_trace_other_two(2); return 0; }\n' > "$tmp/std.c"
	for file in "$tmp/std.c" "$user/../samples/jf_sample_event_program.c"; do
		# shellcheck disable=SC2086
		"$@" $flags -I"$tmp" -I"$user/../samples" -fsyntax-only "$file" || return
	done
}

# Each public header alone.
headers()
{
	for header in "$user"/../include/jumpfunc/*.h; do
		case ${header##*/} in calls.h | entry.h) continue ;; esac
		printf "#include <jumpfunc/%s>\nextern int alone;\n" "${header##*/}" > "$tmp/alone.c"
		# shellcheck disable=SC2086
		"$@" $flags -fsyntax-only "$tmp/alone.c" || return
	done
}

for compiler in gcc clang; do
	have "$compiler" || continue
	check "$compiler, headers in C99" headers "$compiler" -std=c99
	for standard in c11 c17 c2x; do
		check "$compiler, headers and events in $standard" eval "headers $compiler -std=$standard && events $compiler -std=$standard"
	done
	for standard in c++17 c++20; do
		check "$compiler, headers and events in $standard" eval "headers $compiler -xc++ -std=$standard && events $compiler -xc++ -std=$standard"
	done
done
check "C++ does not define arrays of keys" no_arrays
check "these programs use all public macros" all_macros
for compiler in gcc clang; do
	have "$compiler" || { skip "$compiler" "not installed (apt-get install $compiler)"; continue; }
	for standard in c11 c17 c2x; do
		for o in -O0 -O2; do
			check "$compiler -std=$standard $o" builds "$compiler" "$standard" "$o" standards.c \
				"$compiler" "$standard"
		done
	done
done
for compiler in g++ clang++; do
	have "$compiler" || { skip "$compiler" "not installed"; continue; }
	c=gcc
	[ "$compiler" = g++ ] || c=clang
	for standard in c++17 c++20 c++2b; do
		for o in -O0 -O2; do
			check "$compiler -std=$standard $o" builds "$compiler" "$standard" "$o" standards.cc "$c" c11
		done
	done
done
tap_end
