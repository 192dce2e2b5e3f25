#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# The probe points of include/jumpfunc/detail/sdt_x86.h, as each tool sees them: sizes
# of arguments, and their values at a breakpoint.
# usage: sdt.sh
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin

expected='jftest none 0
jftest others 0 -4 8 8
jftest twelve 0 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -8
jftest types 0 -4 -8 8 1 2 4 -1 8
jftest wide 0 -4 -4 -4 -4 -4 8'

# compile OUTPUT COMPILER FLAGS...
compile()
{
	output=$1
	shift
	case $1 in
	*++) set -- "$@" -x c++ ;;
	esac
	"$@" -Wall -Wextra -Werror -pedantic -g -I"$user/../include" -o "$output" "$user/test/sdt_probe.c"
}

# In any order; types may stand in main() and in shared() itself.
read_back() { "$user/test/sdt_read.py" "$1" | sort -u | diff - "$tmp/expected"; }

built()
{
	compile "$tmp/probe" "$@" && "$tmp/probe" && read_back "$tmp/probe"
}

shared_object()
{
	compile "$tmp/probe.so" gcc -O2 -fPIC -shared && read_back "$tmp/probe.so"
}

# Two objects have the inline function, and the linker keeps one of them, with its note.
once()
{
	sed 's/int main/int other/' "$user/test/sdt_probe.c" > "$tmp/other.cc" &&
		cp "$user/test/sdt_probe.c" "$tmp/one.cc" &&
		g++ -O0 -I"$user/../include" -o "$tmp/probe" "$tmp/one.cc" "$tmp/other.cc" &&
		[ "$("$user/test/sdt_read.py" "$tmp/probe" | grep -c types)" = 1 ]
}

stripped()
{
	compile "$tmp/probe" gcc -O2 && strip "$tmp/probe" && read_back "$tmp/probe"
}

dropped()
{
	compile "$tmp/probe" gcc -O2 -DJF_NO_SDT -Wno-unused-parameter && ! readelf -SW "$tmp/probe" | grep stapsdt
}

# SystemTap's own header says the same of the same program.
theirs()
{
	compile "$tmp/theirs" gcc -O2 -DTHEIRS && compile "$tmp/ours" gcc -O2 &&
		"$user/test/sdt_read.py" "$tmp/theirs" | sort -u > "$tmp/theirs.txt" &&
		"$user/test/sdt_read.py" "$tmp/ours" | sort -u | diff "$tmp/theirs.txt" -
}

readelf_reads()
{
	readelf -n "$1" > "$tmp/notes" && [ "$(grep -c 'Provider: jftest' "$tmp/notes")" -ge 3 ] &&
		grep -q 'Arguments: -4@.* -8@.* 8@.* 1@.* 2@.* 4@.* -1@.* 8@' "$tmp/notes"
}

# The values of all arguments, at a breakpoint on each probe.
gdb_reads()
{
	cat > "$tmp/commands" <<-'END'
	set pagination off
	set print frame-arguments none
	info probes stap jftest
	break -probe-stap jftest:types
	break -probe-stap jftest:twelve
	break -probe-stap jftest:wide
	run
	printf "types %d: %d %d %s %d %d %d %d %lx\n", $_probe_argc, $_probe_arg0, $_probe_arg1, (char *)$_probe_arg2, $_probe_arg3, $_probe_arg4, $_probe_arg5, $_probe_arg6, $_probe_arg7
	continue
	printf "twelve %d: %d %d %d %d %d %d %d %d %d %d %d %d\n", $_probe_argc, $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3, $_probe_arg4, $_probe_arg5, $_probe_arg6, $_probe_arg7, $_probe_arg8, $_probe_arg9, $_probe_arg10, $_probe_arg11
	continue
	printf "wide %d: %d %d %d %d %d\n", $_probe_argc, $_probe_arg0, $_probe_arg1, $_probe_arg2, $_probe_arg3, $_probe_arg4
	END
	gdb -q -batch -nx -x "$tmp/commands" "$1" > "$tmp/gdb" 2>&1
	cat "$tmp/gdb"
	grep -q '^stap *jftest *none ' "$tmp/gdb" &&
		grep -qx 'types 8: -1 -2 text 1 65535 3 -3 1122334455667788' "$tmp/gdb" &&
		grep -qx 'twelve 12: 1 2 3 4 5 6 7 8 9 10 -1 12' "$tmp/gdb" &&
		grep -qx 'wide 6: 1 2 3 4 5' "$tmp/gdb"
}

# perf keeps what it knows in a folder of the user's.
perf_lists()
{
	compile "$tmp/probe" gcc -O2 || return 1
	HOME=$tmp perf --buildid-dir "$tmp/debug" buildid-cache --add "$tmp/probe" &&
		HOME=$tmp perf --buildid-dir "$tmp/debug" list sdt > "$tmp/list" 2>&1
	cat "$tmp/list"
	grep -q 'sdt_jftest:types' "$tmp/list" && grep -q 'sdt_jftest:twelve' "$tmp/list"
}

bpftrace_lists()
{
	bpftrace -l "usdt:$1:*" > "$tmp/list" 2>&1
	cat "$tmp/list"
	grep -q 'jftest:types' "$tmp/list"
}

# By uprobes, while it runs; the first four are registers and no strings.
bpftrace_reads()
{
	bpftrace -e 'usdt:'"$1"':jftest:types { printf("types %d %d %d %d\n", arg0, arg1, arg3, arg4); }
		usdt:'"$1"':jftest:twelve { printf("twelve %d %d\n", arg0, arg5); }' -c "$1" > "$tmp/read" 2>&1
	cat "$tmp/read"
	grep -qx 'types -1 -2 1 65535' "$tmp/read" && grep -qx 'twelve 1 6' "$tmp/read"
}

# A tracepoint of the library, off and on.
compile_trace()
{
	"$@" -Wall -Wextra -Werror -g -I"$user/.." -I"$user/../include" -I"$user" -pthread \
		-o "$tmp/trace" "$user/test/sdt_trace.c" "$user"/lib/*.c
}

gdb_reads_tracepoint()
{
	compile_trace "$@" || return 1
	cat > "$tmp/commands" <<-'END'
	set pagination off
	break -probe-stap jumpfunc:request
	run
	printf "off: %d %s %d\n", $_probe_arg0, (char *)$_probe_arg1, $_probe_arg2
	continue
	printf "on: %d %s %d\n", $_probe_arg0, (char *)$_probe_arg1, $_probe_arg2
	continue
	END
	gdb -q -batch -nx -x "$tmp/commands" "$tmp/trace" > "$tmp/gdb" 2>&1
	cat "$tmp/gdb"
	grep -qx 'off: 1 /index.html 201' "$tmp/gdb" && grep -qx 'on: 2 /index.html 202' "$tmp/gdb" &&
		grep -qx 'hits 2' "$tmp/gdb"
}

# Uprobes come and go at the probe point while the tracepoint goes on and off, for as long as that takes.
uprobes_come_and_go()
{
	compile_trace gcc -O2 && mkfifo "$tmp/until" || return 1
	"$tmp/trace" - < "$tmp/until" > "$tmp/hits" 2>&1 &
	pid=$!
	exec 9> "$tmp/until"
	attached=0
	for _ in 1 2 3 4 5 6; do
		[ "$attached" -lt 3 ] && kill -0 "$pid" 2> /dev/null || break
		if bpftrace -p "$pid" -e 'usdt:'"$tmp"'/trace:jumpfunc:request { @n = count(); }
				interval:ms:300 { exit(); }' 2>&1 9>&- | grep -q '^@n: [1-9]'; then
			attached=$((attached + 1))
		fi
	done
	exec 9>&-
	wait "$pid"
	status=$?
	cat "$tmp/hits"
	echo "status $status, attached $attached times"
	[ "$status" = 0 ] && [ "$attached" -ge 1 ]
}

echo "$expected" > "$tmp/expected"
if ! have python3; then
	skip "notes" "no python3 to read them (apt-get install python3)"
	tap_end
fi
for compiler in gcc clang; do
	if ! have $compiler; then
		skip "$compiler" "not installed"
		continue
	fi
	check "$compiler, C11" built $compiler -std=c11 -O2
	check "$compiler -O0" built $compiler -O0
	check "$compiler -Os, no PIE" built $compiler -Os -fno-pie -no-pie
	check "$compiler, sanitizers" built $compiler -O1 -fsanitize=address,undefined
done
for compiler in g++ clang++; do
	if have $compiler; then
		check "$compiler, C++17" built $compiler -std=c++17 -O2
	else
		skip "$compiler" "not installed"
	fi
done
if have musl-gcc; then
	check "musl" built musl-gcc -O2
else
	skip "musl" "not installed (apt-get install musl-tools)"
fi
check "static-PIE" built gcc -O2 -static-pie -fPIE
check "a shared object" shared_object
check "stripped" stripped
if have g++; then check "an inline function's note is kept once" once; else skip "C++" "no g++"; fi
check "-DJF_NO_SDT" dropped
compile "$tmp/probe" gcc -O2
check "readelf -n" readelf_reads "$tmp/probe"
if [ -e /usr/include/sys/sdt.h ] || [ -e "/usr/include/$(gcc -print-multiarch)/sys/sdt.h" ]; then
	check "the same as SystemTap's header says" theirs
else
	skip "SystemTap's header" "not installed (apt-get install systemtap-sdt-dev)"
fi
if have gdb; then
	for flags in -O2 -O0; do
		compile "$tmp/probe" gcc $flags
		check "gdb lists them and reads the arguments, $flags" gdb_reads "$tmp/probe"
	done
	if have clang; then
		compile "$tmp/probe" clang -O2
		check "gdb lists them and reads the arguments, clang" gdb_reads "$tmp/probe"
	fi
	check "gdb reads a tracepoint's arguments, off and on" gdb_reads_tracepoint gcc -O2
	check "the same at -O0" gdb_reads_tracepoint gcc -O0
else
	skip "gdb" "not installed (apt-get install gdb)"
fi
compile "$tmp/probe" gcc -O2
if have perf; then check "perf lists them" perf_lists; else skip "perf" "not installed (apt-get install linux-perf)"; fi
if have bpftrace; then
	if bpftrace -l 'usdt:/bin/true:*' 2>&1 | grep -qi 'root\|permitted'; then
		skip "bpftrace" "needs root"
	else
		check "bpftrace lists them" bpftrace_lists "$tmp/probe"
		if bpftrace -e 'BEGIN { exit(); }' > "$tmp/bpf" 2>&1; then
			check "bpftrace reads the arguments" bpftrace_reads "$tmp/probe"
			check "uprobes at a tracepoint that changes" uprobes_come_and_go
		else
			skip "bpftrace reads the arguments" "$(tail -1 "$tmp/bpf")"
		fi
	fi
else
	skip "bpftrace" "not installed (apt-get install bpftrace)"
fi
tap_end
