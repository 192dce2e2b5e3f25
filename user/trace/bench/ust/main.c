// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * One contender of the benchmark of tracers: a program with a tracepoint of two arguments, in a
 * loop (loop() of another file). The recorder of its events, if there is one, is chosen by the
 * environment: ust.py starts it.
 *
 * usage: ust_NAME time THREADS RUNS EVENTS	each thread runs that often through that many events
 *	  ust_NAME count THREADS EVENTS		as fast as they can, once
 *	  ust_NAME spin THREADS			until stdin ends
 *	  ust_NAME steps			instructions of an event, counted step by step
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ust.h"

#define THREADS_MAX	64
#define STEPPED		32

static pthread_barrier_t barrier;
static long runs, events;
static double *results;
static volatile int stop;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *timed(void *arg)
{
	double *mine = results + (long)arg * runs, t;
	long i;

	loop(events);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < runs; i++) {
		t = now();
		loop(events);
		mine[i] = (now() - t) / (double)events;
	}
	pthread_barrier_wait(&barrier);
	/* main() looks at the memory. */
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void *counted(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	loop(events);
	return NULL;
}

static void *spins(void *arg)
{
	(void)arg;
	while (!stop)
		loop(1000);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

/* KiB of memory that the process has, whatever it is of. */
static long memory(void)
{
	char line[256];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static int time_it(long threads)
{
	pthread_t t[THREADS_MAX];
	size_t num = (size_t)(threads * runs);
	long i, kib;

	results = (double *)calloc(num, sizeof(*results));
	if (!results)
		return 1;
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads + 1);
	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, timed, (void *)i))
			return 1;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	kib = memory();
	pthread_barrier_wait(&barrier);
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	qsort(results, num, sizeof(*results), compare);
	printf("min %.3f\nmedian %.3f\nmemory %ld\n", results[0], results[num / 2], kib);
	free(results);
	return 0;
}

static int run_in(long threads, void *(*fn)(void *arg))
{
	pthread_t t[THREADS_MAX];
	char byte;
	long i;

	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, fn, (void *)i))
			return 1;
	if (fn == spins) {
		printf("ready\n");
		fflush(stdout);
		while (read(STDIN_FILENO, &byte, 1) > 0)
			;
		stop = 1;
	}
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return 0;
}

/* --- instructions --------------------------------------------------------------------- */

/* In the child: all is begun, then it is stepped through none and through STEPPED events. */
static int stepped(void)
{
	loop(STEPPED);
	loop(STEPPED);
	raise(SIGSTOP);
	loop(1);
	raise(SIGSTOP);
	loop(1 + STEPPED);
	raise(SIGSTOP);
	return 0;
}

static bool wait_stop(pid_t child, int *sig)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		return false;
	*sig = WSTOPSIG(status);
	return true;
}

/* Until the child stops by itself: how many instructions. */
static long step(pid_t child)
{
	long num = 0;
	int sig = 0;

	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)(sig == SIGTRAP ? 0 : sig)) || !wait_stop(child, &sig))
			return -1;
		if (sig == SIGSTOP)
			return num;
		num++;
	}
}

static int steps(char **argv)
{
	pid_t child = fork();
	long one, many;
	int sig;

	if (child < 0)
		return 1;
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		execl("/proc/self/exe", argv[0], "stepped", (char *)NULL);
		_exit(1);
	}
	/* Executed; and on, whatever signals it has, until it stops itself. */
	do {
		if (!wait_stop(child, &sig))
			return 1;
		if (sig != SIGSTOP && ptrace(PTRACE_CONT, child, NULL, (void *)(long)(sig == SIGTRAP ? 0 : sig)))
			return 1;
	} while (sig != SIGSTOP);
	one = step(child);
	many = step(child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (one < 0 || many < 0)
		return 1;
	printf("instructions %.1f\n", (double)(many - one) / STEPPED);
	return 0;
}

int main(int argc, char **argv)
{
	long threads = argc > 2 ? atol(argv[2]) : 0;

	if (argc == 2 && !strcmp(argv[1], "steps"))
		return steps(argv);
	if (argc == 2 && !strcmp(argv[1], "stepped"))
		return stepped();
	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	if (argc == 5 && !strcmp(argv[1], "time")) {
		runs = atol(argv[3]);
		events = atol(argv[4]);
		return runs < 1 || events < 1 ? 2 : time_it(threads);
	}
	if (argc == 4 && !strcmp(argv[1], "count")) {
		events = atol(argv[3]);
		return run_in(threads, counted);
	}
	if (argc == 3 && !strcmp(argv[1], "spin"))
		return run_in(threads, spins);
	return 2;
}
