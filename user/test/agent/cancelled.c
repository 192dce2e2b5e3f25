// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Threads that are cancelled at any time, deferred or asynchronously, within functions whose calls
 * are recorded. The functions get their thread's number, how many of them are around them, and the
 * number of the call, and return the double of that and the thread's number.
 *
 * It prints a line for each thread: its number, whether it can be cancelled anywhere, and how many
 * calls of k_inner() and of k_outer() it has counted, right before these return.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS	100
#define INNER	3
#define AFTER	3

struct counts {
	volatile unsigned long inner, outer;
} static counts[THREADS];

#define KEEP __attribute__((__noinline__, __noclone__))

KEEP unsigned long k_inner(unsigned long thread, unsigned long level, unsigned long nr)
{
	__asm__ volatile("" : : "r" (level));
	if (!(nr % 4) && !(thread & 1))
		pthread_testcancel();
	counts[thread].inner = nr + 1;
	return 2 * nr + thread;
}

KEEP unsigned long k_outer(unsigned long thread, unsigned long level, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < INNER; i++)
		if (k_inner(thread, level + 1, INNER * nr + i) != 2 * (INNER * nr + i) + thread)
			abort();
	counts[thread].outer = nr + 1;
	return 2 * nr + thread;
}

/* When the thread ends: calls on the stack of those that were left. */
KEEP unsigned long k_after(unsigned long thread, unsigned long level, unsigned long nr)
{
	__asm__ volatile("" : : "r" (level));
	return 2 * nr + thread;
}

static void ends(void *arg)
{
	unsigned long nr;
	sigset_t now;

	/* The agent's work blocks signals, and no thread ends in it. */
	if (pthread_sigmask(SIG_BLOCK, NULL, &now) || sigismember(&now, SIGUSR1))
		abort();
	for (nr = 0; nr < AFTER; nr++)
		if (k_after((unsigned long)arg, 0, nr) != 2 * nr + (unsigned long)arg)
			abort();
}

static void *calls(void *arg)
{
	unsigned long thread = (unsigned long)arg, nr;
	int old;

	pthread_setcanceltype(thread & 1 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, &old);
	pthread_cleanup_push(ends, arg);
	for (nr = 0;; nr++)
		k_outer(thread, 0, nr);
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	unsigned long i, k;
	pthread_t t;
	void *result;

	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&t, NULL, calls, (void *)i))
			return 2;
		while (!counts[i].outer)
			sched_yield();
		for (k = 0; k < i % 7 * 100; k++)
			__asm__ volatile("pause");
		pthread_cancel(t);
		if (pthread_join(t, &result) || result != PTHREAD_CANCELED)
			return 3;
	}
	for (i = 0; i < THREADS; i++)
		printf("%lu %lu %lu %lu\n", i, i & 1, counts[i].inner, counts[i].outer);
	return 0;
}
