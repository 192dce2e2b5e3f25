// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sections that begin on one thread and end on another, as a coroutine's may, which is
 * wrong: those that the other one has itself are waited for all the same.
 */
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
static _Atomic int stage;

static void until(int reached)
{
	while (stage != reached)
		usleep(100);
}

static void *ends(void *arg)
{
	int i;

	jf_read_lock();
	jf_read_unlock();
	for (i = 0; i < 3; i++)
		jf_read_unlock();
	jf_read_lock();
	stage = 1;
	until(2);
	jf_read_unlock();
	stage = 3;
	until(4);
	return arg;
}

int main(void)
{
	pthread_t t;
	int i;

	alarm(10);
	for (i = 0; i < 3; i++)
		jf_read_lock();
	MUST(!pthread_create(&t, NULL, ends, NULL), "thread");
	until(1);
	MUST(jf_quiesce_timeout(50) == -ETIMEDOUT, "a section is not waited for");
	stage = 2;
	until(3);
	MUST(!jf_quiesce_timeout(1000), "a section has ended, and is waited for");
	stage = 4;
	pthread_join(t, NULL);
	return 0;
}
