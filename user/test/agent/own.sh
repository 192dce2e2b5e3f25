#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Calls that the agent and its libraries make in a program are not recorded: those of the thread that serves requests, and those that
# they make in the program's own threads, at its begin, in fork(), at the end of threads and of the program.
# usage: own.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin
tool=$build/jf-trace
mkdir -m 700 "$tmp/run"
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR
unset LD_PRELOAD

build_c sleeps << 'END'
#include <unistd.h>
int main(void)
{
	char c;

	return write(1, "ready\n", 6) != 6 || read(0, &c, 1) < 0;
}
END

# It prints where libraries of jumpfunc are, and then does what these have to follow.
build_c does << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void *nothing(void *arg) { return arg; }
int main(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096];
	pthread_t t;
	pid_t pid;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "/libjumpfunc"))
			fputs(line, stdout);
	fflush(stdout);
	if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL) || prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		return 1;
	dlclose(dlopen("libm.so.6", RTLD_NOW));
	pid = fork();
	if (!pid)
		exit(0);
	waitpid(pid, NULL, 0);
	return 0;
}
END

# asks N: so many requests of each kind that leaves the probes as they are.
asks()
{
	for _ in $(seq "$1"); do
		"$tool" stats "$pid" > "$tmp/out" 2>&1 && "$tool" list "$pid" -e 'libc.so.6:str*' > "$tmp/out" 2>&1 &&
			"$tool" enable "$pid" malloc free > "$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	done
}

# A program that sleeps makes no calls, whether it was started with the agent or has got it.
asleep()
{
	for how in started attached; do
		rm -f "$tmp/in"
		mkfifo "$tmp/in"
		: > "$tmp/said2"
		if [ "$how" = started ]; then
			"$tool" run --no-report -o "$tmp/started" -e 'libc.so.6:*' "$tmp/sleeps" < "$tmp/in" > "$tmp/said2" 2> "$tmp/err" &
		else
			"$tmp/sleeps" < "$tmp/in" > "$tmp/said2" &
		fi
		job=$!
		exec 9> "$tmp/in"
		awaits grep -q ready "$tmp/said2" || return 1
		pid=$job
		[ "$how" = attached ] || pid=$(pgrep -P "$job" sleeps)
		[ "$how" = started ] || ends 0 "$tool" record -p "$pid" -e malloc -e free -e 'libc.so.6:*' || return 1
		until [ "$(cut -d ' ' -f 1 "/proc/$pid/syscall")" = 0 ]; do sleep 0.01; done
		"$tool" stats "$pid" > "$tmp/before" && asks 35 && "$tool" stats "$pid" > "$tmp/after"
		rc=$?
		exec 9>&-
		wait "$job"
		[ "$rc" = 0 ] && grep '^records' "$tmp/before" > "$tmp/records" && grep -qx "$(cat "$tmp/records")" "$tmp/after" ||
			{ echo "$how:"; cat "$tmp/before" "$tmp/after"; return 1; }
	done
}

# By the place that each call returns to, and by the thread. The program's own call of prctl() goes through the agent's; the compiler's
# code of each library calls __cxa_finalize(). libjumpfunc.so.1 does not know the agent: its own calls, at the end of a thread, are not
# looked at.
callers()
{
	ends 0 "$tool" run --no-report --mode keep -o "$tmp/calls" -e 'libc.so.6:*' "$tmp/does" && cp "$tmp/out" "$tmp/maps" &&
		"$tool" report --events "$tmp/calls" > "$tmp/events" 2> "$tmp/err" && python3 - "$tmp/maps" "$tmp/events" <<- 'END'
		import re, sys
		ranges = []
		for line in open(sys.argv[1]):
		    at = re.match(r"(\w+)-(\w+) .*/(libjumpfunc-\S+)", line)
		    if at:
		        ranges.append((int(at[1], 16), int(at[2], 16), at[3]))
		assert ranges
		num = bad = 0
		for line in open(sys.argv[2]):
		    call = re.search(r"(\S+):\(\d+\) libc.so.6:(\S+): .*caller = 0x(\w+)", line)
		    num += bool(call)
		    own = [name for begin, end, name in ranges if call and begin <= int(call[3], 16) < end]
		    if call and (call[1].endswith(":jf-control") or (own and call[2] not in ("prctl", "__cxa_finalize"))):
		        bad += 1
		        print(own, line, end="")
		print(num, "calls")
		sys.exit(bad > 0 or num < 100)
	END
}

check "a program that sleeps, while requests are served" asleep
if have babeltrace2 && have python3; then check "no caller is the agent" callers; else skip "no caller is the agent" "no babeltrace2 or python3"; fi
tap_end
