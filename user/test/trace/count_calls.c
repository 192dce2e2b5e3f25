// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program that knows how often it has called an event and a function, for the tests of jf-trace
 * count. usage:
 *   count_calls [-c] FILE THREADS CALLS [ROUNDS]
 * ROUNDS times one after the other THREADS threads call both, CALLS times each, or for ever if
 * CALLS is 0; says "ready PID" when all of the first have begun. -c: waits for a line of stdin
 * before, and after it. Each thread's numbers are in FILE, also if the program is killed; and
 * "count_calls FILE" prints them: a line for each thread, with its number, how many calls it has
 * begun, and how many are over.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "events.h"

#define THREADS_MAX	4096

/**
 * struct truth - of a thread
 * @tid:   its number
 * @begun: calls that it has begun
 * @over:  that are over
 */
struct truth {
	u64	tid;
	u64	begun;
	u64	over;
};

static struct truth *truth;
static u64 calls;
static pthread_barrier_t all_over;

void subject(u64 i);
__attribute__((__noinline__, __noclone__)) void subject(u64 i)
{
	/* Room for a jump. */
	__asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0, 0; nop; nop" : : "r" (i) : "memory");
}

static void *make_calls(void *arg)
{
	struct truth *t = (struct truth *)arg;
	u64 i;

	t->tid = (u64)syscall(SYS_gettid);
	for (i = 0; !calls || i < calls; i++) {
		__atomic_store_n(&t->begun, t->begun + 1, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		jf_trace_small(1, i);
		subject(i);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		__atomic_store_n(&t->over, t->over + 1, __ATOMIC_RELAXED);
	}
	/* They are side by side, however busy the machine is. */
	pthread_barrier_wait(&all_over);
	return NULL;
}

static int run(int threads)
{
	pthread_t thread[THREADS_MAX];
	static int round;
	int i;

	if (pthread_barrier_init(&all_over, NULL, (unsigned int)threads))
		return 1;
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, make_calls, &truth[round * threads + i]))
			return 1;
	for (i = 0; !round && i < threads; i++)
		while (!__atomic_load_n(&truth[i].over, __ATOMIC_RELAXED))
			usleep(1000);
	if (!round)
		printf("ready %d\n", (int)getpid());
	fflush(stdout);
	round++;
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&all_over);
	return 0;
}

static int show(void)
{
	int i;

	for (i = 0; i < THREADS_MAX && truth[i].tid; i++)
		printf("%llu %llu %llu\n", (unsigned long long)truth[i].tid, (unsigned long long)truth[i].begun,
		       (unsigned long long)truth[i].over);
	return 0;
}

int main(int argc, char **argv)
{
	bool wait = argc > 1 && !strcmp(argv[1], "-c");
	int fd, i, rounds, err = 0;

	argv += wait;
	argc -= wait;
	if (argc < 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, THREADS_MAX * sizeof(*truth)))
		return 1;
	truth = (struct truth *)mmap(NULL, THREADS_MAX * sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (truth == MAP_FAILED)
		return 1;
	if (argc < 4)
		return show();
	calls = strtoull(argv[3], NULL, 10);
	rounds = argc > 4 ? atoi(argv[4]) : 1;
	if (atoi(argv[2]) < 1 || atoi(argv[2]) * rounds > THREADS_MAX)
		return 2;
	if (wait) {
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		if (getchar() != '\n')
			return 1;
	}
	for (i = 0; !err && i < rounds; i++)
		err = run(atoi(argv[2]));
	if (wait)
		getchar();
	return err;
}
