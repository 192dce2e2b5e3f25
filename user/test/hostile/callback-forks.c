// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A callback forks, and returns in the child as well. Callbacks of another thread of the child are
 * waited for like any others.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "hostile.h"

static _Atomic int inside, called;
static pid_t child;

static void count(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

static void *reads(void *arg)
{
	jf_read_lock();
	inside = 1;
	usleep(300000);
	jf_read_unlock();
	return arg;
}

static void *asks(void *arg)
{
	static struct jf_quiesce_head head;
	pthread_t t;

	/* The callback has returned. */
	usleep(100000);
	pthread_create(&t, NULL, reads, NULL);
	while (!inside)
		usleep(100);
	jf_call_quiesced(&head, count);
	jf_quiesce_barrier();
	_exit(called == 1 ? 0 : 1);
	return arg;
}

static void forks(struct jf_quiesce_head *head)
{
	pthread_t t;

	(void)head;
	child = fork();
	if (child)
		return;
	alarm(5);
	pthread_create(&t, NULL, asks, NULL);
}

int main(void)
{
	static struct jf_quiesce_head head;
	int status;

	alarm(10);
	jf_call_quiesced(&head, forks);
	jf_quiesce_barrier();
	waitpid(child, &status, 0);
	MUST(!status, "status %#x", status);
	return 0;
}
