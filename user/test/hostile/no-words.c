// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * As many threads in sections as the library has words for, and no memory for more. One
 * more waits with its first section until one of them ends. It is waited for like any other.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "hostile.h"
#include "maps.h"

/* WORDS in user/lib/reader.c. */
#define THREADS	1024

static _Atomic int inside, ends, more_inside, over;
static int no_memory;

FAILING_MMAP(no_memory)

static void *stays(void *arg)
{
	int nr;

	jf_read_lock();
	nr = ++inside;
	while (!(nr == 1 && ends) && !over)
		usleep(20000);
	jf_read_unlock();
	return arg;
}

static void *comes(void *arg)
{
	jf_read_lock();
	more_inside = 1;
	while (!over)
		usleep(1000);
	jf_read_unlock();
	return arg;
}

int main(void)
{
	static pthread_t t[THREADS + 1];
	pthread_attr_t attr;
	int i;

	alarm(50);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	no_memory = 1;
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], &attr, stays, NULL)) {
			printf("# only %d threads here\n", i);
			_exit(0);
		}
	while (inside < THREADS)
		usleep(1000);
	MUST(!pthread_create(&t[THREADS], &attr, comes, NULL), "thread");
	usleep(200000);
	/* Else the caveat in user/README.md says too much. */
	MUST(!more_inside, "it has found a word");
	ends = 1;
	for (i = 0; !more_inside; i++) {
		MUST(i < 10000, "one has ended, and it still waits");
		usleep(1000);
	}
	MUST(jf_quiesce_timeout(10) == -ETIMEDOUT, "they are not waited for");
	over = 1;
	for (i = 0; i <= THREADS; i++)
		pthread_join(t[i], NULL);
	MUST(!jf_quiesce_timeout(1000), "no thread is left");
	return 0;
}
