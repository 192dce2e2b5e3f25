// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Somebody waits for a callback whose thread is being made, which takes its time and
 * fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <pthread.h>

#include "hostile.h"

static _Atomic int called, making;

/* In place of libc's, which the first one is for. */
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
		   void *arg)
{
	static int others;
	int (*libc)(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
		    void *arg);

	if (!others++) {
		*(void **)&libc = dlsym(RTLD_NEXT, "pthread_create");
		return libc(t, attr, start, arg);
	}
	making = 1;
	usleep(200000);
	return EAGAIN;
}

static void callback(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

static void *ask(void *arg)
{
	static struct jf_quiesce_head head;

	jf_call_quiesced(&head, callback);
	return arg;
}

int main(void)
{
	pthread_t t;

	alarm(10);
	pthread_create(&t, NULL, ask, NULL);
	while (!making)
		usleep(100);
	jf_quiesce_barrier();
	MUST(called == 1, "called %d", called);
	pthread_join(t, NULL);
	return 0;
}
