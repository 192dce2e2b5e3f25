#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Events of programs, as babeltrace2 reads them: each kind of field, from each compiler, without recovery and after
# it; events of plugins; what the libraries export.
# usage: events.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

# record GLOBS COMMAND...: into $folder
record()
{
	rm -rf "$tmp/traces"
	mkdir "$tmp/traces"
	globs=$1
	shift
	JUMPFUNC_TRACE=$globs JUMPFUNC_TRACE_DIR=$tmp/traces "$@" > "$tmp/said.record" || return 1
	folder=$(ls -d "$tmp"/traces/*)
}

# Names and fields alone, without a word on standard error.
read_back()
{
	babeltrace2 --no-delta "$1" > "$tmp/read" 2> "$tmp/read.errors"
	cat "$tmp/read.errors"
	sed 's/.* \([a-z_]*:[a-z_]*\): { [^}]* }, /\1 /' "$tmp/read"
	[ ! -s "$tmp/read.errors" ]
}

# compile COMPILER FLAGS...
compile()
{
	compiler=$1
	shift
	case $compiler in
	*++) set -- "$@" -x c++ ;;
	esac
	$compiler -Wall -Wextra -Werror -g -I"$top/include" -I"$here" -o "$tmp/program" "$@" "$here/trace_events.c" \
		-L"$build" -ljumpfunc-trace -ljumpfunc -Wl,-rpath,"$build"
}

expected()
{
	fields='one = 1, negative = -5, name = "abcde", half = 0.5, third = 0.25, where = 0x1234, color = 7, yes = 1, three = [ [0] = -1, [1] = 2, [2] = -3 ], pair = { bytes = [ [0] = 0x11, [1] = 0x0, [2] = 0x0, [3] = 0x0, [4] = 0x0, [5] = 0x0, [6] = 0x0, [7] = 0x0, [8] = 0x22, [9] = 0x0, [10] = 0x0, [11] = 0x0, [12] = 0x0, [13] = 0x0, [14] = 0x0, [15] = 0x0 ] }, text = "text", _list_length = 1, list = [ [0] = 10 ], tail = "ext", cut = "xy#", _chars_length = 2, chars = "hi"'
	fields0=$(echo "$fields" | sed 's/_list_length = 1, list = . .0. = 10 ./_list_length = 0, list = [ ]/')
	cat <<-END
	jftest:kinds { $fields0 }
	jftest:counted { hash = H, nr = 0, source = 1, _data_length = 3, data = [ [0] = 0, [1] = 0, [2] = 0 ] }
	jftest:small { nr = 0, source = 2 }
	jftest:first { v = 0 }
	jftest:kinds { $fields }
	jftest:counted { hash = H, nr = 1, source = 1, _data_length = 3, data = [ [0] = 1, [1] = 1, [2] = 1 ] }
	jftest:small { nr = 1, source = 2 }
	jftest:first { v = 1 }
	jftest:odd { v = 1 }
	END
}

reads()
{
	compile "$@" && record 'jftest:*' "$tmp/program" 2 && read_back "$folder" > "$tmp/events" || {
		cat "$tmp/events"
		return 1
	}
	sed -i 's/hash = [0-9]*/hash = H/; s/pair = { bytes = \(.*0x11\), \[1\] = 0x0, \[2\] = 0x0, \[3\] = 0x0, \[4\] = [^,]*, \[5\] = [^,]*, \[6\] = [^,]*, \[7\] = [^,]*,/pair = { bytes = \1, [1] = 0x0, [2] = 0x0, [3] = 0x0, [4] = 0x0, [5] = 0x0, [6] = 0x0, [7] = 0x0,/' \
		"$tmp/events"
	diff "$tmp/expected" "$tmp/events"
}

no_clock()
{
	JUMPFUNC_TRACE_CLOCK=none record 'jftest:small' "$build/trace_events" 5 && read_back "$folder" > "$tmp/events" &&
		[ "$(wc -l < "$tmp/events")" = 5 ]
}

# The time is now, within a second, and goes forwards.
time_is_right()
{
	before=$(date +%s) && record 'jftest:*' "$build/trace_events" 100 &&
		babeltrace2 --clock-seconds --no-delta "$folder" > "$tmp/read" && after=$(date +%s) &&
		awk -F '[][]' -v a="$before" -v b="$after" '$2 < a - 1 || $2 > b + 1 || $2 < last { print; bad = 1 }
			{ last = $2 } END { exit bad || NR < 400 }' "$tmp/read"
}

# What babeltrace2 says is lost is what the packet says.
discarded()
{
	JUMPFUNC_TRACE_MODE=discard JUMPFUNC_TRACE_PACKETS=2 JUMPFUNC_TRACE_PACKET_SIZE=4096 \
		record 'jftest:small' "$build/trace_events" 1000 || return 1
	babeltrace2 "$folder" > "$tmp/read" 2> "$tmp/warned"
	tail -3 "$tmp/warned"
	kept=$(wc -l < "$tmp/read")
	grep -q "discarded $((1000 - kept)) events" "$tmp/warned"
}

# The recovered trace is the same one; and overwritten packets are in order.
recovered()
{
	JUMPFUNC_TRACE_PACKETS=3 JUMPFUNC_TRACE_PACKET_SIZE=4096 record 'jftest:*' "$build/trace_events" 1000 || return 1
	rm -rf "$tmp/copy"
	"$build/jf-recover" "$folder" "$tmp/copy" && read_back "$folder" > "$tmp/one" && read_back "$tmp/copy" > "$tmp/two" &&
		[ "$(wc -l < "$tmp/one")" -gt 100 ] && diff "$tmp/one" "$tmp/two"
}

plugins()
{
	gcc -Wall -Wextra -Werror -O2 -g -fPIC -shared -I"$top/include" -I"$here" -o "$tmp/plugin.so" "$here/plugin.c" \
		-L"$build" -ljumpfunc-trace -ljumpfunc -Wl,-rpath,"$build" &&
		gcc -Wall -Wextra -Werror -O2 -g -I"$top/include" -o "$tmp/host" "$here/host.c" \
			-L"$build" -ljumpfunc-trace -ljumpfunc -ldl -Wl,-rpath,"$build" &&
		record 'jftest:sm*' "$tmp/host" "$tmp/plugin.so" && read_back "$folder" > "$tmp/events" || return 1
	cat "$tmp/events"
	# 1 + 2 + 3 records; and its events have got the numbers that they had.
	[ "$(grep -c '^jftest:small { nr = [0-2], source = 9 }$' "$tmp/events")" = 6 ] &&
		[ "$(grep -c 'name = "jftest:small"' "$folder/metadata")" = 1 ]
}

sample()
{
	"$1" -Wall -Wextra -Werror -O2 -I"$top/include" -I"$top/samples" -o "$tmp/sample" \
		"$top/samples/jf_sample_event_program.c" -L"$build" -ljumpfunc-trace -ljumpfunc -Wl,-rpath,"$build" &&
		record 'jf_sample:*' "$tmp/sample" && read_back "$folder" > "$tmp/events" &&
		diff - "$tmp/events" <<-'END'
		jf_sample:jf_sample_rx { dev = "jf0", id = 0, len = 100, queue = 0 }
		jf_sample:jf_sample_pass { id = 0, reason = 0 }
		jf_sample:jf_sample_rx { dev = "jf0", id = 1, len = 101, queue = 1 }
		jf_sample:jf_sample_pass { id = 1, reason = 0 }
		jf_sample:jf_sample_rx { dev = "jf0", id = 2, len = 9000, queue = 2 }
		jf_sample:jf_sample_drop { id = 2, reason = -90 }
		END
}

# A site of an event that is off is one nop: as of any tracepoint.
off_is_a_nop()
{
	cat > "$tmp/off.c" <<-'END'
	#define CREATE_TRACE_POINTS
	#include "events.h"
	int site(int v);
	int site(int v)
	{
		jf_trace_first(v);
		return v;
	}
	int main(void) { return site(0); }
	END
	gcc -O2 -fcf-protection=none -DJF_NO_SDT -I"$top/include" -I"$here" -o "$tmp/off" "$tmp/off.c" -L"$build" \
		-ljumpfunc-trace -ljumpfunc && gdb -batch -ex 'disassemble site' "$tmp/off" > "$tmp/text" || return 1
	cat "$tmp/text"
	sed -n '/^Dump/,/ret/p' "$tmp/text" | sed 's/cs nop/nop/; s/data16 //' | grep '<+' | awk '{ print $3 }' | tr '\n' ' ' > "$tmp/ops"
	grep -Eqx '(mov nopl ret |nopl mov ret )q?' "$tmp/ops"
}

exports()
{
	awk -f "$top/user/names.awk" "$top/user/trace/libjumpfunc-trace.map" | LC_ALL=C sort > "$tmp/listed"
	nm -D --defined-only "$build/libjumpfunc-trace.so.1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		LC_ALL=C sort | diff "$tmp/listed" - &&
		nm -g --defined-only "$build/libjumpfunc-trace.a" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort |
		diff "$tmp/listed" -
}

expected > "$tmp/expected"
if have babeltrace2; then
	check "gcc -O2" reads gcc -O2
	check "gcc -O0" reads gcc -O0
	check "gcc -std=c11" reads gcc -std=c11 -O1
	check "gcc -O3 -flto" reads gcc -O3 -flto
	if have g++; then check "g++ -std=c++17" reads g++ -std=c++17 -O2; else skip "g++" "not installed"; fi
	if have clang; then check "clang -O2" reads clang -O2; else skip "clang" "not installed"; fi
	if have clang++; then check "clang++ -O0" reads clang++ -std=c++20 -O0; else skip "clang++" "not installed"; fi
	if [ "$(uname -m)" = x86_64 ]; then
		check "gcc -masm=intel" reads gcc -masm=intel -O2
		if have clang; then check "clang -masm=intel" reads clang -masm=intel -O2; fi
	fi
	check "without time stamps" no_clock
	check "the time is right" time_is_right
	check "what was discarded is told" discarded
	check "recovered it is the same" recovered
	check "events of a plugin" plugins
	check "the sample, gcc" sample gcc
	if have clang; then check "the sample, clang" sample clang; fi
else
	skip "traces" "no babeltrace2 to read them (apt-get install babeltrace2)"
fi
if have gdb && [ "$(uname -m)" = x86_64 ]; then check "off it is one nop" off_is_a_nop; else skip "off it is one nop" "no gdb"; fi
# One that is none is named, and the others hold.
long_pattern()
{
	record "$(printf 'x%.0s' $(seq 256)),jftest:small" "$build/trace_events" 2 2> "$tmp/errors" || return 1
	cat "$tmp/errors"
	grep -q "'xxx*\.\.\.' is no pattern of events: it has more than 255 characters" "$tmp/errors" || return 1
	read_back "$folder" | grep -c 'jftest:small' | grep -qx 2
}

check "a pattern that is too long" long_pattern
check "what the libraries export" exports
tap_end
