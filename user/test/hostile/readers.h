/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Many threads that have a word in the list of readers, so that to look at it takes time. */
#ifndef HOSTILE_READERS_H
#define HOSTILE_READERS_H

#include <jumpfunc/batch.h>
#include <pthread.h>

#include "hostile.h"

static pthread_barrier_t ready;

static void *reads(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return arg;
}

static inline void begin_readers(int num)
{
	pthread_attr_t attr;
	pthread_t t;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&ready, NULL, (unsigned int)num + 1);
	for (i = 0; i < num; i++)
		MUST(!pthread_create(&t, &attr, reads, NULL), "thread %d", i);
	pthread_barrier_wait(&ready);
}

#endif /* HOSTILE_READERS_H */
