#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# A program's life while its functions are switched on and off: threads and processes that begin and end, execute other programs,
# are stopped by job control, or have a debugger. Its output and its status are the same as without, and it ends in time.
# usage: life.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

agent=$build/libjumpfunc-agent.so
mkdir -m 700 "$tmp/run" "$tmp/traces"
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR

# life HOW: each says "ready", then does its work for a second or so, and ends with status 5.
build_c life <<-END
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int spanned(int a);
__asm__(".text\n.globl spanned\n.type spanned, @function\nspanned: .cfi_startproc\nxor %eax, %eax\nnop\nadd %edi, %eax\nadd \$1, %eax\nret\n"
	".cfi_endproc\n.size spanned, . - spanned\n");
__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
static volatile int bad;
static struct timespec begun;
static double since(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
}
/* So long, and until two changes were answered: beside other work each takes seconds. */
static int lives(double seconds)
{
	static volatile int enough;

	if (!enough && !access(getenv("ENOUGH"), F_OK))
		enough = 1;
	return since() < seconds || (!enough && since() < 40);
}
static void calls(int num)
{
	for (int i = 0; i < num; i++)
		if (work(i) != i + 1 || spanned(i) != i + 1)
			bad = 1;
}
static void *calls_some(void *arg)
{
	calls(100);
	return arg;
}
/* Each thread makes the next one, and does not wait for it. */
static int left = 20000;
static void *makes_next(void *arg)
{
	pthread_attr_t a;
	pthread_t t;

	calls(10);
	if (__atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) <= 0 || since() > 3)
		return arg;
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&a, 65536);
	while (pthread_create(&t, &a, makes_next, arg))
		usleep(100);
	return arg;
}
static void storms(void)
{
	for (int i = 0; i < 4; i++)
		makes_next(NULL);
	while (lives(3.5))
		calls(100);
}
static void executes(char *self)
{
	for (int i = 0; i < 60 || lives(0); i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			pthread_t t;

			/* Another thread is there when it executes the other program. */
			pthread_create(&t, NULL, calls_some, NULL);
			calls(1000);
			execl(self, self, "short", NULL);
			_exit(9);
		}
		calls(1000);
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
			bad = 1;
	}
}
/* Itself, again and again, with a thread. */
static void again(char *self, int num)
{
	char text[12];
	pthread_t t;

	pthread_create(&t, NULL, calls_some, NULL);
	while (since() < 0.1)
		calls(1000);
	snprintf(text, sizeof(text), "%d", num - 1);
	if (num)
		execl(self, self, "again", text, NULL);
	while (lives(0))
		calls(1000);
}
static void *blocks(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (lives(4)) {
		calls(100);
		usleep(2000);
	}
	return arg;
}
static void many(void)
{
	pthread_attr_t a;
	pthread_t t[500];

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	for (int i = 0; i < 500; i++)
		if (pthread_create(&t[i], &a, blocks, NULL))
			abort();
	for (int i = 0; i < 500; i++)
		pthread_join(t[i], NULL);
}
static void *spins(void *arg)
{
	struct sched_param p = { .sched_priority = 10 };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	while (since() < 3)
		calls(100);
	return arg;
}
static void real_time(void)
{
	long num = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t t[num];

	for (long i = 0; i < num; i++)
		pthread_create(&t[i], NULL, spins, NULL);
	for (long i = 0; i < num; i++)
		pthread_join(t[i], NULL);
}
/* A debugger of its own children. */
static void debugs(void)
{
	for (int i = 0; i < 100 || lives(0); i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
			calls(1000);
			_exit(3);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
			bad = 2;
		ptrace(PTRACE_CONT, pid, 0, 0);
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
			bad = 3;
		calls(1000);
		usleep(10000);
	}
}
static void sleeps(void)
{
	struct timespec t = { 0, 20000000 };

	while (lives(4)) {
		calls(1000);
		nanosleep(&t, NULL);
	}
}
int main(int argc, char **argv)
{
	const char *how = argv[1];

	clock_gettime(CLOCK_MONOTONIC, &begun);
	if (strcmp(how, "short") && strcmp(how, "again")) {
		puts("ready");
		fflush(stdout);
	}
	if (!strcmp(how, "storms"))
		storms();
	else if (!strcmp(how, "executes"))
		executes(argv[0]);
	else if (!strcmp(how, "again"))
		again(argv[0], argc > 2 ? atoi(argv[2]) : 40);
	else if (!strcmp(how, "many"))
		many();
	else if (!strcmp(how, "real_time"))
		real_time();
	else if (!strcmp(how, "debugs"))
		debugs();
	else if (!strcmp(how, "sleeps"))
		sleeps();
	else
		calls(1000);
	if (strcmp(how, "short"))
		printf("%s\n", bad ? "bad" : "good");
	return bad ? 6 : 5;
}
END

ENOUGH=$tmp/enough
export ENOUGH

# How many changes were answered.
changed() { grep -c '^enabled [1-9]\|^disabled [1-9]' "$tmp/answers"; }

# One change after the other of all processes that are there, as long as process $1 is.
changes()
{
	turn=0
	while kill -0 "$1" 2> /dev/null; do
		[ "$((turn % 2))" = 0 ] && command=disable || command=enable
		for file in "$tmp/run/jumpfunc"/control-*; do
			pid=${file##*/control-}
			pid=${pid%%-*}
			case $pid in *[!0-9]*) continue ;; esac
			timeout -k 5 30 "$build/jf-trace" "$command" "$pid" 'life:*' >> "$tmp/answers" 2>&1
			[ $? != 124 ] || echo "jf-trace hung at $command $pid" >> "$tmp/hung"
			[ "$(changed)" -lt 2 ] || : > "$ENOUGH"
		done
		turn=$((turn + 1))
	done
}

# lives HOW [COMMAND...]: the command is executed beside it, with its number.
lives()
{
	: > "$tmp/all"
	rm -f "$tmp/hung"
	how=$1
	shift
	for ways in span jump,short,span; do
		: > "$tmp/answers"
		rm -f "$ENOUGH"
		timeout -k 5 60 env JUMPFUNC_AGENT_WAYS="$ways" JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR="$tmp/traces" \
			JUMPFUNC_AGENT=life:spanned LD_PRELOAD="$agent" "$tmp/life" "$how" > "$tmp/out" 2> "$tmp/err" &
		job=$!
		[ $# = 0 ] || { "$@" "$job" & beside=$!; }
		changes "$job"
		wait "$job"
		rc=$?
		[ $# = 0 ] || wait "$beside"
		rm -rf "$tmp/traces"/*
		cat "$tmp/answers" >> "$tmp/all"
		sort "$tmp/answers" | sed 's/process [0-9]*/process/' | sort | uniq -c | sort -rn | head -n 12
		cat "$tmp/out" "$tmp/err"
		echo "$ways: status $rc"
		[ ! -e "$tmp/hung" ] || { cat "$tmp/hung"; return 1; }
		[ "$rc" = 5 ] && grep -qx good "$tmp/out" || return 1
		# jf-trace itself can wait for a processor until real-time threads are over.
		[ "$how" = real_time ] || [ "$(changed)" -gt 1 ] || { echo "nothing was changed"; return 1; }
	done
	sed -n 's/.* stood still .*, \([0-9]*\) us at the longest/\1/p' "$tmp/all" | sort -n |
		awk -v how="$how" '{ p[NR] = $1 } END { if (NR) printf "%s: %d stops, median %d us, worst %d us\n", how, NR, p[int((NR + 1) / 2)], p[NR] }' > "$tmp/pauses-$how"
}

# Stops the program, and lets it go on.
stops()
{
	sleep 0.3
	program=$(pgrep -P "$1")
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kill -STOP "$program" 2> /dev/null
		sleep 0.1
		kill -CONT "$program" 2> /dev/null
		sleep 0.1
	done
}

check "threads that make threads" lives storms
check "processes that execute another program" lives executes
check "a program that executes itself" lives again
check "500 threads that block all signals" lives many
if chrt -f 10 true 2> /dev/null; then
	check "a real-time thread on each processor" lives real_time
else
	skip "a real-time thread on each processor" "no right"
fi
check "a program that debugs its children" lives debugs
check "a program that is stopped and goes on" lives sleeps stops
cat "$tmp"/pauses-* 2> /dev/null | sed 's/^/# /'
tap_end
