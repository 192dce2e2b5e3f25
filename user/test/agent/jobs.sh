#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Stops that are not ours beside those that are: ^Z at a terminal, SIGSTOP and SIGCONT, debuggers, and a parent that waits for stops.
# usage: jobs.sh BUILD
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

# With an argument its child does the work, and it waits for what becomes of the child.
build_c worker -rdynamic <<END
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t end;
static volatile int told;
static void on_end(int sig) { end = sig; }
static void on_child(int sig) { told += sig != 0; }
__attribute__((__noinline__)) long works(long a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
__attribute__((__noinline__)) long works_too(long a) { __asm__ volatile("" : "+r" (a)); return works(a) + 1; }
static int work(void)
{
	long i, sum = 0;

	signal(SIGUSR1, on_end);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (i = 0; !end; i++) {
		if (works_too(i) != i + 2)
			return 1;
		sum++;
		if (!(i & 0xfff))
			usleep(100);
	}
	puts(sum ? "right" : "wrong");
	fflush(stdout);
	return 7;
}
int main(int argc, char **argv)
{
	int status = 0, stops = 0;
	pid_t child;

	(void)argv;
	if (argc == 1)
		return work();
	signal(SIGCHLD, on_child);
	child = fork();
	if (!child)
		return work();
	for (;;) {
		if (waitpid(child, &status, WUNTRACED | WCONTINUED) != child)
			continue;
		if (WIFEXITED(status) || WIFSIGNALED(status))
			break;
		stops++;
	}
	printf("%d stops, %d signals, %s %d\n", stops, told, WIFEXITED(status) ? "status" : "signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}
END

# begin PROGRAM...: in the background, as $pid; the one that works is $worker
begin()
{
	: > "$tmp/program"
	"$@" > "$tmp/program" 2> "$tmp/tracer" &
	pid=$!
	awaits grep -q ready "$tmp/program" || { cat "$tmp/tracer"; return 1; }
	worker=$(sed -n 's/^ready //p' "$tmp/program")
}

# finish: it is told to end, and was right
finish()
{
	kill -USR1 "$worker"
	( sleep 60; kill -9 "$worker" "$pid" ) > /dev/null 2>&1 &
	watch=$!
	wait "$pid"
	kill "$watch" 2> /dev/null
	cat "$tmp/program"
	grep -q right "$tmp/program"
}

at_terminal()
{
	python3 "$here/jobs.py" "$@" > "$tmp/out" 2>&1
	rc=$?
	cat "$tmp/out"
	return "$rc"
}

run_stops()
{
	at_terminal run "$tool" run -o "$tmp/run-trace" --no-report -e worker:works_too -- "$tmp/worker" && grep -q 'right' "$tmp/out" &&
		grep -q 'status 7' "$tmp/out"
}

top_stops()
{
	begin "$tmp/worker" || return 1
	TARGET=$worker
	export TARGET
	at_terminal top "$tool" top -p "$worker" -e worker:works_too
	rc=$?
	finish && [ "$rc" = 0 ] && grep -q 'status [05]' "$tmp/out"
}

# Others stop it and let it go on, at any moment of a command.
storm()
{
	begin "$tmp/worker" || return 1
	python3 - "$worker" <<-'END' &
	import os, random, signal, sys, time
	r = random.Random(1)
	try:
	    while True:
	        os.kill(int(sys.argv[1]), signal.SIGSTOP)
	        time.sleep(r.random() * 0.004)
	        os.kill(int(sys.argv[1]), signal.SIGCONT)
	        time.sleep(r.random() * 0.004)
	except ProcessLookupError:
	    pass
	END
	stopper=$!
	carried=0
	slow=0
	for turn in $(seq 40); do
		[ $((turn % 2)) = 1 ] && set -- record -e 'worker:works*' || set -- stop
		timeout -k 5 60 "$tool" "$1" -p "$worker" ${2:+"$2" "$3"} > "$tmp/out" 2>&1
		rc=$?
		[ "$rc" = 0 ] && carried=$((carried + 1)) || cat "$tmp/out"
		[ "$rc" = 124 ] && slow=1
	done
	kill "$stopper"
	wait "$stopper" 2> /dev/null
	kill -CONT "$worker"
	echo "$carried commands were carried out"
	finish && [ "$slow" = 0 ] && [ "$carried" -gt 0 ]
}

# A stop of jf-trace and all of its group is no stop of the program.
group_stops()
{
	begin env JUMPFUNC_AGENT_WAYS=jump,span "$tmp/worker" || return 1
	python3 - "$tool" "$worker" <<-'END'
	import os, signal, subprocess, sys, time
	tool, pid = sys.argv[1:]
	def is_traced():
	    with open(f"/proc/{pid}/status") as f:
	        return "TracerPid:\t0\n" not in f.read()
	stopped = longest = turn = 0
	begin = time.monotonic()
	# The command is under way for some milliseconds: a busy machine misses most of them.
	while turn < 40 or (stopped < 3 and time.monotonic() < begin + 60):
	    turn += 1
	    command = ["record", "-p", pid, "-e", "worker:works*"] if turn % 2 == 0 else ["stop", pid]
	    p = subprocess.Popen([tool] + command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	    while p.poll() is None and not is_traced():
	        pass
	    if p.poll() is not None:
	        continue
	    os.killpg(p.pid, signal.SIGSTOP)
	    stopped += 1
	    since = time.monotonic()
	    while is_traced() and time.monotonic() < since + 3:
	        time.sleep(0.01)
	    longest = max(longest, time.monotonic() - since)
	    os.killpg(p.pid, signal.SIGCONT)
	    p.wait()
	print(f"stopped {stopped} times, {longest:.3f} s at the longest")
	sys.exit(stopped < 3 or longest > 2)
	END
	rc=$?
	finish && [ "$rc" = 0 ]
}

# beside TRACER...: it runs the program; the reason names the tracer
beside()
{
	begin "$@" || return 1
	ends 1 "$tool" record -p "$worker" -e worker:works && says 'process [0-9]* traces it' && ! grep -q libjumpfunc "/proc/$worker/maps"
	rc=$?
	finish && [ "$rc" = 0 ]
}

parent_waits()
{
	begin "$tmp/worker" child || return 1
	rc=0
	for _ in $(seq 10); do
		ends 0 "$tool" record -p "$worker" -e 'worker:works*' && ends 0 "$tool" disable "$worker" 'worker:works' &&
			ends 0 "$tool" enable "$worker" 'worker:works' && ends 0 "$tool" stop "$worker" || { rc=1; break; }
	done
	finish && [ "$rc" = 0 ] && grep -q '^0 stops, 1 signals, status 7' "$tmp/program"
}

if ! have python3; then
	skip "all" "python3"
	tap_end
fi
if have bash; then
	check "run at a terminal: ^Z, fg, bg" run_stops
	check "top at a terminal: ^Z, fg, bg" top_stops
else
	skip "^Z at a terminal" "bash"
fi
check "SIGSTOP and SIGCONT by others, at any time" storm
check "SIGSTOP of jf-trace and its group" group_stops
if have strace; then
	check "a program under strace" beside strace -o /dev/null "$tmp/worker"
else
	skip "a program under strace" "strace"
fi
if have gdb; then
	check "a program under gdb" beside gdb -nx -q -batch -ex 'handle SIGUSR1 nostop noprint pass' -ex run "$tmp/worker"
else
	skip "a program under gdb" "gdb"
fi
check "a parent that waits for stops of its child" parent_waits
tap_end
