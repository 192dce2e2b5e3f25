// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Threads end inside of sections, and the kernel knows their numbers afterwards: others
 * have got them, or it is the first thread's. One stays in a section in its destructors.
 */
#define _GNU_SOURCE
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "syscall.h"

DEFINE_JF_KEY_FALSE(key);
static pthread_key_t mine;
static _Atomic int stage;

static int denied(long nr, const long *args)
{
	(void)args;
	return nr == SYS_tgkill;
}

static void *ends_inside(void *arg)
{
	jf_read_lock();
	return arg;
}

/* From one round of destructors to the next one. */
static void at_end(void *arg)
{
	if (arg == &key) {
		jf_read_lock();
		pthread_setspecific(mine, &mine);
		return;
	}
	stage = 1;
	while (stage == 1)
		usleep(100);
	jf_read_unlock();
}

static void *ends_late(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	pthread_setspecific(mine, &key);
	return arg;
}

static void *waits(void *arg)
{
	pthread_t *first = arg;

	pthread_join(*first, NULL);
	MUST(!jf_quiesce_timeout(1000), "the first thread has ended, and is waited for");
	_exit(0);
}

int main(void)
{
	static pthread_t first;
	pthread_t t;

	alarm(10);
	MUST(!pthread_create(&t, NULL, ends_inside, NULL), "thread");
	pthread_join(t, NULL);
	MUST(!jf_quiesce_timeout(1000), "a thread has ended, and is waited for");

	MUST(!pthread_key_create(&mine, at_end), "key");
	MUST(!pthread_create(&t, NULL, ends_late, NULL), "thread");
	while (!stage)
		usleep(100);
	MUST(jf_quiesce_timeout(50) == -ETIMEDOUT, "a thread's section has not ended");
	stage = 2;
	pthread_join(t, NULL);
	MUST(!jf_quiesce_timeout(1000), "a thread's section has ended");

	first = pthread_self();
	MUST(!pthread_create(&t, NULL, waits, &first), "thread");
	jf_read_lock();
	pthread_exit(NULL);
}
