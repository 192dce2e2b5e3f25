#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# An object is loaded while a program is recorded, or probes are asked for, and the agent gets no memory: each of its
# requests for memory fails in one run, alone, and with all that follow. All calls are recorded, or the reason is told.
# usage: poor.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace
CALLS=100

cat > "$tmp/work.h" << 'END'
static int n;
__attribute__((__noinline__)) void first(void);
void first(void) { n++; __asm__ volatile("nop; nop; nop; nop; nop"); }
int work(int i);
__attribute__((__noinline__)) int work(int i)
{
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, 0, 0\n.asciz \"jfpoor\"\n.asciz \"hit\"\n"
			 ".asciz \"-4@%0\"\n994: .balign 4\n.popsection" : : "r" (i));
	n += i;
	return n;
}
END

# poor PLUGIN K HOW: the request number K fails, and with "all" those after it. It prints how many there were. Without a
# plugin, "-", it waits for a line, and does itself what the plugin does.
build_c poor -rdynamic -g -I"$tmp" << 'END'
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "work.h"
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t num, size_t size);
extern void *__libc_realloc(void *old, size_t size);
static unsigned long low = -1UL, high;
static int armed, all, nr, which;
static int fails(void *caller)
{
	if (!armed || (unsigned long)caller < low || (unsigned long)caller >= high)
		return 0;
	nr++;
	if (nr != which && (!all || nr < which))
		return 0;
	errno = ENOMEM;
	return 1;
}
void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t num, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(num, size); }
void *realloc(void *old, size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size); }
static void find_agent(void)
{
	unsigned long from, to;
	char line[1024];
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "libjumpfunc-agent") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
			low = from < low ? from : low;
			high = to > high ? to : high;
		}
	if (f) fclose(f);
}
int main(int argc, char **argv)
{
	int (*calls)(int), i;
	void *plugin;
	char c;
	first();
	find_agent();
	which = argc > 2 ? atoi(argv[2]) : 0;
	all = argc > 3;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	armed = 1;
	if (!strcmp(argv[1], "-")) {
		if (read(0, &c, 1) != 1) return 1;
		armed = 0;
		calls = work;
	} else {
		plugin = dlopen(argv[1], RTLD_NOW);
		armed = 0;
		*(void **)&calls = plugin ? dlsym(plugin, "work") : NULL;
	}
	if (!calls) return 1;
	for (i = 0; i < 100; i++) calls(i);
	printf("requests %d\n", nr);
	return 0;
}
END
build_c plug.so -shared -fPIC -g -I"$tmp" << 'END'
#include "work.h"
END

# one PATTERN K [all]: runs, and sets $requests
one()
{
	pattern=$1
	shift
	rm -rf "$tmp/trace"
	"$tool" run --no-report -o "$tmp/trace" -e "$pattern" -- "$tmp/poor" "$tmp/plug.so" "$@" > "$tmp/words" 2> "$tmp/told" ||
		{ echo "status $? with $*"; cat "$tmp/told"; return 1; }
	requests=$(sed -n 's/^requests //p' "$tmp/words")
	"$tool" script "$tmp/trace" > "$tmp/shown" 2>&1
	num=$(grep -c 'plug.so:work\|jfpoor:hit' "$tmp/shown")
	[ "$num" = "$CALLS" ] || { grep -q "no memory\|Cannot allocate memory" "$tmp/told" && ! grep -q "no probe of it matches\|: no probe matches" "$tmp/told"; } ||
		{ echo "$num records with $*, and no reason:"; cat "$tmp/told"; return 1; }
}

# asked PATTERN K [all]: the same for a request
asked()
{
	pattern=$1
	shift
	rm -rf "$tmp/trace" "$tmp/in"
	mkfifo "$tmp/in"
	: > "$tmp/words"
	"$tool" run --no-report -o "$tmp/trace" -e poor:first -- "$tmp/poor" - "$@" < "$tmp/in" > "$tmp/words" 2> "$tmp/told" &
	running=$!
	exec 9> "$tmp/in"
	awaits grep -q '^ready' "$tmp/words" || return 1
	pid=$(sed -n 's/^ready //p' "$tmp/words")
	"$tool" enable "$pid" "$pattern" > "$tmp/answer" 2>&1
	enabled=$?
	# For those that cannot be recorded it says that the list has the reason.
	[ "$enabled" = 0 ] || "$tool" list "$pid" -e "$pattern" >> "$tmp/answer" 2>&1
	echo >&9
	exec 9>&-
	wait "$running" || { echo "status $? with $*"; cat "$tmp/told"; return 1; }
	requests=$(sed -n 's/^requests //p' "$tmp/words")
	"$tool" script "$tmp/trace" > "$tmp/shown" 2>&1
	num=$(grep -c 'poor:work\|jfpoor:hit' "$tmp/shown")
	[ "$num" = "$CALLS" ] || { [ "$enabled" != 0 ] && grep -q 'no memory\|Cannot allocate memory' "$tmp/answer"; } ||
		{ echo "$num records with $*, status $enabled, and no reason:"; cat "$tmp/answer"; return 1; }
}

# sweep HOW PATTERN: each request fails
sweep()
{
	how=$1
	shift
	"$how" "$1" 0 && [ "$num" = "$CALLS" ] || return 1
	last=$requests
	[ "$last" -gt 0 ] || { echo "the agent asks for no memory"; return 1; }
	k=1 bad=0
	while [ "$k" -le "$last" ]; do
		"$how" "$1" "$k" || bad=1
		[ $((k % 4)) != 1 ] || "$how" "$1" "$k" all || bad=1
		k=$((k + 1))
	done
	return "$bad"
}

check "functions of an object that comes" sweep one 'plug.so:work'
check "calls with durations" sweep one 'call/plug.so:work'
check "notes" sweep one 'jfpoor:hit'
check "functions that are asked for" sweep asked 'poor:work'
check "calls with durations that are asked for" sweep asked 'call/poor:work'
check "notes that are asked for" sweep asked 'jfpoor:hit'
# Its descriptors are used up when it is asked: the command names the limit at once, and is answered when there is room.
build_c full <<-END
#include <sys/resource.h>
#include <unistd.h>
__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
int main(void)
{
	struct rlimit few;

	/* It has a ring then. */
	work(0);
	getrlimit(RLIMIT_NOFILE, &few);
	few.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &few);
	for (int i = 0; i < 600; i++) {
		work(i);
		usleep(100000);
	}
	return 0;
}
END
full()
{
	mkdir -m 700 "$tmp/run" "$tmp/full-traces"
	XDG_RUNTIME_DIR=$tmp/run
	export XDG_RUNTIME_DIR
	JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/full-traces JUMPFUNC_AGENT=full:work LD_PRELOAD=$build/libjumpfunc-agent.so "$tmp/full" &
	pid=$!
	awaits grep -q 'Max open files  *3 ' "/proc/$pid/limits"
	ends 1 timeout 20 "$build/jf-trace" list "$pid" && says 'RLIMIT_NOFILE permits (3)' && says "prlimit --pid $pid --nofile=19:" &&
		prlimit --pid "$pid" --nofile=19: && ends 0 timeout 20 "$build/jf-trace" stats "$pid" && says 'recording 1'
	rc=$?
	kill "$pid"
	wait "$pid"
	return "$rc"
}
if have prlimit; then
	check "a process without a free descriptor" full
else
	skip "a process without a free descriptor" "no prlimit"
fi
tap_end
