#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Processes that give up their rights or their root, and their children: root reaches each of them, and functions that are
# asked for late are recorded, all calls of them.
# usage: rights.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace
CALLS=1000

# What to do, by letters, then calls. f: in a child from the begin; c: in a child of the process that has done the rest;
# d: closes all descriptors; r: chroot(); t: in a thread, before all others; u: setuid(); s: seteuid().
build_c left -rdynamic << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEEP __attribute__((__noinline__))
KEEP void first(void) { __asm__ volatile("nop; nop; nop; nop; nop"); }
KEEP void work(int i) { __asm__ volatile("nop; nop; nop; nop; nop" : : "r" (i)); }
static const char *how;
static int has(char c) { return strchr(how, c) != NULL; }
static void part(char c) { int s; if (has(c) && fork()) { wait(&s); exit(s ? 1 : 0); } }
static void *gives_up(void *x)
{
	int i;
	if (has('d')) for (i = 3; i < 1024; i++) close(i);
	if (has('r') && (chdir("/proc/self/fdinfo") || chroot("."))) exit(3);
	if (has('u') && (setgroups(0, NULL) || setgid(65534) || setuid(65534))) exit(2);
	if (has('s') && seteuid(65534)) exit(4);
	return x;
}
int main(int argc, char **argv)
{
	void (*plugged)(void);
	pthread_t t;
	char c;
	int i;
	how = argv[1];
	*(void **)&plugged = dlsym(dlopen(argv[2], RTLD_NOW), "plugged");
	first();
	part('f');
	if (has('t')) { if (pthread_create(&t, NULL, gives_up, NULL) || pthread_join(t, NULL)) exit(5); }
	else gives_up(NULL);
	part('c');
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) == 1) {
		for (i = 0; i < 1000; i++) { work(i); plugged(); }
		printf("did\n");
		fflush(stdout);
	}
	return argc < 3;
}
END

# begin HOW: the program runs; $pid is the process that is to be asked
begin()
{
	rm -rf "$tmp/in" "$tmp/trace"
	mkfifo "$tmp/in"
	: > "$tmp/words"
	"$tool" run --no-report -o "$tmp/trace" -e left:first -- "$tmp/left" "$1" "$tmp/plug.so" < "$tmp/in" > "$tmp/words" 2> "$tmp/told" &
	running=$!
	exec 9> "$tmp/in"
	awaits grep -q '^ready' "$tmp/words" || return 1
	pid=$(sed -n 's/^ready //p' "$tmp/words")
}

finish()
{
	exec 9>&-
	wait "$running"
}

called() { echo >&9; awaits grep -q '^did' "$tmp/words"; }

# A program that closes all descriptors again and again, and tells its threads of new rights each time: its thread that
# serves is interrupted with its socket closed.
build_c closes << 'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	struct pollfd in = { 0, POLLIN, 0 };
	int i;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	do {
		for (i = 3; i < 1024; i++) close(i);
		if (setgid(0)) return 1;
	} while (!poll(&in, 1, 13));
	return 0;
}
END

# Each of many requests is answered, whenever it comes, but for those whose connection the program closes.
between()
{
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD="$build/libjumpfunc-agent.so" "$tmp/closes" < "$tmp/in" > "$tmp/words" 2> "$tmp/told" &
	running=$!
	exec 9> "$tmp/in"
	awaits grep -q '^ready' "$tmp/words" || return 1
	pid=$(sed -n 's/^ready //p' "$tmp/words")
	asked=0 answered=0
	while [ "$asked" -lt 60 ]; do
		asked=$((asked + 1))
		{ ends 0 "$tool" stats "$pid" && says '^program closes$'; } || says 'closed the connection in the midst\|closes the connection' || break
		answered=$((answered + 1))
	done
	finish && [ "$answered" = 60 ]
}

# all_calls HOW: of functions that are asked for after it
all_calls()
{
	ends 0 "$tool" enable "$pid" left:work plug.so:plugged && says '^enabled 1' || return 1
	! says 'is not used' > /dev/null || return 1
	ends 0 "$tool" list "$pid" -e left:work && says '^function on *left:work' && called || return 1
	ends 0 "$tool" stats "$pid" && says '^recording 1$' && ends 0 "$tool" list && says "^$pid left" || return 1
	ends 0 "$tool" disable "$pid" left:work && says '^disabled 1' && ends 0 "$tool" enable "$pid" left:work || return 1
	ends 0 "$tool" top -n 1 -i 0.1 "$pid"
}

late()
{
	begin "$1" && all_calls
	rc=$?
	finish
	"$tool" script "$tmp/trace" > "$tmp/shown" 2>&1
	[ "$(grep -c 'left:work' "$tmp/shown")" = "$CALLS" ] && [ "$(grep -c 'plug.so:plugged' "$tmp/shown")" = "$CALLS" ] ||
		{ tail -5 "$tmp/shown"; cat "$tmp/told"; return 1; }
	return "$rc"
}

# A pattern that fits no probe is one that matches nothing, also there.
nothing()
{
	begin ru && ends 4 "$tool" enable "$pid" left:no_such && says 'no probe of process' && ends 4 "$tool" list "$pid" -e left:no_such
	rc=$?
	finish
	return "$rc"
}

# The trace's files are not there any more: the reason is said, not another.
closed()
{
	begin "$1" && ends 1 "$tool" enable "$pid" left:work && says 'may not write where its trace is to be\|folder of its trace is not there' && ! says 'records nothing' > /dev/null
	rc=$?
	finish
	return "$rc"
}

if [ "$(id -u)" = 0 ] && printf 'int n; void plugged(void) { n++; }\n' | ${CC:-cc} -O1 -shared -fPIC -x c -o "$tmp/plug.so" -; then
	chmod 755 "$tmp"
	for how in - u s r ru tr fu fr fru cu cr cru; do
		check "asked for late: $how" late "$how"
	done
	for how in du dru; do
		check "a program that has closed all, too: $how" closed "$how"
	done
	check "a program that closes all and is interrupted again and again" between
	# That user can read neither file.
	chmod 700 "$tmp/left" "$tmp/plug.so" "$tmp"
	check "asked for late, of files that the user cannot read" late u
	check "a pattern that nothing matches" nothing
else
	skip "rights" "this must be root"
fi
tap_end
