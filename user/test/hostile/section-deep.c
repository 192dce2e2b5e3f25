// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sections in each other: 65535 are waited for until the last one ends. A thread that was
 * deeper inside is not waited for until it has left all of them; then it is again.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <semaphore.h>

#include "hostile.h"

#define DEEPEST	65535

static sem_t go, done;
/* Sections to begin, or to end. */
static int steps;

static void *reads(void *arg)
{
	for (;;) {
		sem_wait(&go);
		for (; steps > 0; steps--)
			jf_read_lock();
		for (; steps < 0; steps++)
			jf_read_unlock();
		sem_post(&done);
	}
	return arg;
}

static int waits_after(int nr)
{
	int err;

	steps = nr;
	sem_post(&go);
	sem_wait(&done);
	err = jf_quiesce_timeout(20);
	MUST(!err || err == -ETIMEDOUT, "%s", strerror(-err));
	return err;
}

int main(void)
{
	pthread_t t;

	alarm(20);
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	MUST(!pthread_create(&t, NULL, reads, NULL), "thread");
	MUST(waits_after(1) && waits_after(DEEPEST - 1), "it is in %d sections", DEEPEST);
	MUST(waits_after(1 - DEEPEST), "one is left");
	MUST(!waits_after(-1), "none is left");
	MUST(waits_after(DEEPEST), "it is in %d sections", DEEPEST);
	waits_after(1);
	/* Else the caveat in user/README.md says too much. */
	MUST(!waits_after(-1), "it was too deep");
	MUST(!waits_after(-DEEPEST), "none is left");
	MUST(waits_after(1), "the next one is waited for");
	MUST(!waits_after(-1), "none is left");
	return 0;
}
