// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Callbacks end the thread that calls them: the others are called by another one. One that was
 * asked for by such a callback is not called by the thread that is ending.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "hostile.h"

static _Atomic int called;

static void exits(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
	pthread_exit(NULL);
}

static void returns(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

static struct jf_quiesce_head second_head;
static _Atomic pid_t first_thread, second_thread;

static void second(struct jf_quiesce_head *head)
{
	(void)head;
	second_thread = gettid();
	pthread_exit(NULL);
}

static void first(struct jf_quiesce_head *head)
{
	(void)head;
	first_thread = gettid();
	jf_call_quiesced(&second_head, second);
	pthread_exit(NULL);
}

/* A thread that waits for callbacks might call them itself: this one does not. */
static void ask_in_the_last_one(void)
{
	static struct jf_quiesce_head first_head;

	second_thread = 0;
	jf_call_quiesced(&first_head, first);
	while (!second_thread)
		usleep(100);
	MUST(second_thread != first_thread, "%d called both", (int)first_thread);
	jf_quiesce_barrier();
}

int main(void)
{
	static struct jf_quiesce_head heads[20];
	int i;

	alarm(10);
	for (i = 0; i < 10; i++)
		ask_in_the_last_one();
	for (i = 0; i < 20; i++) {
		jf_call_quiesced(&heads[i], i % 5 == 4 ? returns : exits);
		/* Some are taken together, and some alone. */
		if (i > 10)
			jf_quiesce_barrier();
	}
	MUST(called == 20, "called %d", called);
	return 0;
}
