// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A child of fork() waits for callbacks that its parent asked for. */
#define _GNU_SOURCE
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "syscall.h"

static _Atomic int inside, waits, over, called;

/* The thread that calls has taken its callbacks when it begins to wait for readers. */
static int denied(long nr, const long *args)
{
	(void)args;
	if (nr == SYS_membarrier && gettid() != getpid())
		waits = 1;
	return 0;
}

static void *reads(void *arg)
{
	jf_read_lock();
	inside = 1;
	while (!over)
		usleep(1000);
	jf_read_unlock();
	return arg;
}

static void callback(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

int main(void)
{
	static struct jf_quiesce_head first, second;
	pthread_t t;
	pid_t child;
	int status;

	alarm(10);
	pthread_create(&t, NULL, reads, NULL);
	while (!inside)
		;
	jf_call_quiesced(&first, callback);
	/* The first one is taken, the second one is not. */
	while (!waits)
		usleep(100);
	jf_call_quiesced(&second, callback);
	child = fork();
	if (!child) {
		alarm(5);
		jf_quiesce_barrier();
		_exit(called == 1 ? 0 : 1);
	}
	over = 1;
	waitpid(child, &status, 0);
	MUST(!status, "%x", status);
	jf_quiesce_barrier();
	MUST(called == 2, "called %d", called);
	pthread_join(t, NULL);
	return 0;
}
