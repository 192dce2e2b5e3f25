#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# An object is loaded while a program is recorded, and the agent gets no memory: each of its requests for memory fails in
# one run, alone, and with all that follow. All calls are recorded, or the reason is told.
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

# poor PLUGIN K HOW: the request number K fails, and with "all" those after it. It prints how many there were.
build_c poor -rdynamic << 'END'
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	int (*work)(int), i;
	void *plugin;
	find_agent();
	which = argc > 2 ? atoi(argv[2]) : 0;
	all = argc > 3;
	armed = 1;
	plugin = dlopen(argv[1], RTLD_NOW);
	armed = 0;
	*(void **)&work = plugin ? dlsym(plugin, "work") : NULL;
	if (!work) return 1;
	for (i = 0; i < 100; i++) work(i);
	printf("requests %d\n", nr);
	return 0;
}
END
build_c plug.so -shared -fPIC -g << 'END'
static int n;
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

# sweep PATTERN: each request fails
sweep()
{
	one "$1" 0 && [ "$num" = "$CALLS" ] || return 1
	last=$requests
	[ "$last" -gt 0 ] || { echo "the agent asks for no memory"; return 1; }
	k=1 bad=0
	while [ "$k" -le "$last" ]; do
		one "$1" "$k" || bad=1
		one "$1" "$k" all || bad=1
		k=$((k + 1))
	done
	return "$bad"
}

check "functions" sweep 'plug.so:work'
check "calls with durations" sweep 'call/plug.so:work'
check "notes" sweep 'jfpoor:hit'
tap_end
