#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# The library under the tools of those who look for errors in programs: sanitizers,
# valgrind, a debugger that steps over sites and sets breakpoints on them.
# usage: tools.sh [CHANGES]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
user=$(cd "$(dirname "$0")/.." && pwd)
top=$(dirname "$user")
# shellcheck source=tap.sh
. "$user/test/tap.sh"
tap_begin
changes=${1:-200}

# compile OUTPUT COMPILER FLAGS...: with the library's sources, so that they are looked at, too
compile()
{
	output=$1
	shift
	"$@" -std=gnu11 -Wall -Wextra -Werror -g -I"$top" -I"$top/include" -I"$user" -pthread \
		-o "$output" "$user/test/tools_prog.c" "$user"/lib/*.c
}

sanitized()
{
	compile "$tmp/prog" "$@" && TSAN_OPTIONS=halt_on_error=1 "$tmp/prog" "$changes"
}

# A sanitizer that finds nothing proves nothing: the same program with an error.
finds_races()
{
	sed -e 's/^int stop;/int stop, racy;/' -e 's/int got = step(1);/int got = step(1); racy++;/' \
		"$user/test/tools_prog.c" > "$tmp/racy.c" &&
		"$1" -std=gnu11 -g -O1 -fsanitize=thread -I"$top" -I"$top/include" -I"$user" -pthread \
			-o "$tmp/racy" "$tmp/racy.c" "$user"/lib/*.c &&
		! TSAN_OPTIONS=halt_on_error=1 "$tmp/racy" 2 > "$tmp/race" 2>&1 && grep -q 'data race' "$tmp/race"
}

valgrinded()
{
	valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite \
		--errors-for-leak-kinds=definite "$@" "$tmp/prog" 20
}

# rr takes a CPU with performance counters that it knows.
rr_records() { rr record -n -o "$tmp/rr.true" true; }
rr_replays()
{
	rr record -n -o "$tmp/rr" "$tmp/prog" 20 && rr replay -a "$tmp/rr"
}

# gdb SCRIPT PATTERN...: each pattern is a line of what it says
gdb_says()
{
	gdb -q -batch -nx -ex 'set pagination off' -ex 'set confirm off' -ex 'set debuginfod enabled off' \
		-x "$1" --args "$tmp/prog" 2 > "$tmp/gdb" 2>&1
	cat "$tmp/gdb"
	shift
	for pattern in "$@"; do
		grep -qE "$pattern" "$tmp/gdb" || { echo "gdb did not say: $pattern"; return 1; }
	done
}

# Off, the main thread's first call after the first change is on.
steps()
{
	cat > "$tmp/script" <<-'END'
	break main
	run
	set scheduler-locking step
	break step thread 1
	continue
	next
	next
	printf "way %d after next\n", way
	# By single instructions to the end: over the site, into and out of what it leads to.
	set $steps = 0
	while $steps < 200
	  stepi
	  set $steps = $steps + 1
	  if (unsigned long)$pc == (unsigned long)second
	    printf "single steps lead to the second function\n"
	    set $steps = 200
	  end
	end
	delete
	set scheduler-locking off
	continue
	END
	gdb_says "$tmp/script" '^way 10 after next$' '^single steps lead to the second' 'changes 2 error none stale 0 wrong 0'
}

# A breakpoint on the instruction that changes: no update writes after it.
breakpoint_on_site()
{
	cat > "$tmp/script" <<-'END'
	break main
	run
	tbreak pthread_create
	continue
	break *site_address if stop == 2
	continue
	END
	gdb_says "$tmp/script" 'error Device or resource busy' && ! grep -q 'stale [1-9]' "$tmp/gdb"
}

# Out of dispatch images: in the process, and for gdb at each single instruction.
unwinds()
{
	gcc -std=gnu11 -Wall -Wextra -Werror -O2 -g -I"$top" -I"$top/include" -I"$user" -pthread \
		-o "$tmp/unwind" "$user/test/unwind_prog.c" "$user"/lib/*.c -lgcc_s -Wl,-z,now && "$tmp/unwind"
}

unwinds_in_gdb()
{
	gdb -q -batch -nx -x "$user/test/unwind_steps.py" "$tmp/unwind" > "$tmp/gdb" 2>&1
	tail -5 "$tmp/gdb"
	grep -qE '^looked at [2-9][0-9]+ instructions, lost 0$' "$tmp/gdb"
}

# perf's list of what no file describes.
perf_map()
{
	JUMPFUNC_PERF_MAP=1 "$tmp/unwind" &
	pid=$!
	wait "$pid"
	grep -qE '^[0-9a-f]+ [0-9a-f]+ jf_image$' "/tmp/perf-$pid.map"
	status=$?
	rm -f "/tmp/perf-$pid.map"
	return "$status"
}

backtrace_reads()
{
	cat > "$tmp/script" <<-'END'
	break second
	run
	backtrace
	kill
	END
	gdb_says "$tmp/script" '^#0 .*second' '^#1 .*step' '^#2 .*(main|caller)'
}

for compiler in gcc clang; do
	if ! have $compiler; then
		skip "$compiler" "not installed"
		continue
	fi
	check "$compiler, address and undefined behaviour" sanitized $compiler -O1 \
		-fsanitize=address,undefined -fno-sanitize-recover=all
	# clang 14 says nothing about the program with an error, so its silence says nothing.
	[ $compiler = gcc ] || continue
	check "$compiler, threads" sanitized $compiler -O1 -fsanitize=thread
	check "$compiler, threads: a race is found" finds_races $compiler
done
compile "$tmp/prog" cc -O1 > "$tmp/said" 2>&1 || cat "$tmp/said"
check "unwinding out of dispatch images" unwinds
check "a map for perf" perf_map
if have valgrind; then
	check "valgrind" valgrinded
	compile "$tmp/prog-tested" cc -O1 -DJF_TESTED > "$tmp/said" 2>&1 || cat "$tmp/said"
	check "valgrind, text not written" env JUMPFUNC=off valgrind -q --error-exitcode=9 "$tmp/prog-tested" 10
else
	skip "valgrind" "not installed (apt-get install valgrind)"
fi
if ! have rr; then
	skip "rr" "not installed (apt-get install rr)"
elif ! rr_records > "$tmp/said" 2>&1; then
	skip "rr" "it records nothing here: $(grep -a -m1 FATAL "$tmp/said")"
else
	check "rr records and replays" rr_replays
fi
if have gdb; then
	check "gdb steps over sites" steps
	check "gdb's breakpoint on a site is kept" breakpoint_on_site
	check "gdb's backtrace from a target" backtrace_reads
	if gdb -q -batch -nx -ex 'python print(1)' 2>&1 | grep -qx 1; then
		check "gdb's backtrace from each instruction of an image" unwinds_in_gdb
	else
		skip "gdb's backtrace from each instruction of an image" "this gdb has no Python"
	fi
else
	skip "gdb" "not installed (apt-get install gdb)"
fi
tap_end
