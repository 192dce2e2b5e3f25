// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The program's malloc() has a lock, and takes it around a fork. Another thread asks for
 * the first callback at that time, for which a thread is made.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <sys/wait.h>

#include "heap.h"

static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int forks, waits;

struct counted {
	struct jf_quiesce_head head;
	int called;
};

static struct counted asked;
static __thread int asking;

static void heap_enter(void)
{
	if (asking)
		waits = 1;
	pthread_mutex_lock(&heap);
}

static void heap_leave(void)
{
	pthread_mutex_unlock(&heap);
}

/* With the lock: until the other thread wants it, if it ever does. */
static void before_fork(void)
{
	int i;

	pthread_mutex_lock(&heap);
	forks = 1;
	for (i = 0; i < 1000 && !waits; i++)
		usleep(1000);
}

__attribute__((__constructor__)) static void begin(void)
{
	pthread_atfork(before_fork, heap_leave, heap_leave);
}

static void callback(struct jf_quiesce_head *head)
{
	((struct counted *)head)->called++;
}

static void *ask(void *arg)
{
	while (!forks)
		usleep(100);
	asking = 1;
	jf_call_quiesced(&asked.head, callback);
	asking = 0;
	return arg;
}

int main(void)
{
	static struct counted in_child;
	pthread_t t;
	int status;
	pid_t p;

	alarm(10);
	pthread_create(&t, NULL, ask, NULL);
	p = fork();
	if (!p) {
		alarm(5);
		jf_call_quiesced(&in_child.head, callback);
		jf_quiesce_barrier();
		MUST(in_child.called == 1, "called %d", in_child.called);
		/* It was asked for before the fork, or is the parent's alone. */
		MUST(asked.called <= 1, "called %d", asked.called);
		_exit(0);
	}
	MUST(waits, "no memory was taken for a thread");
	waitpid(p, &status, 0);
	MUST(!status, "%#x", status);
	pthread_join(t, NULL);
	jf_quiesce_barrier();
	MUST(asked.called == 1, "called %d", asked.called);
	MUST(!in_child.called, "called %d", in_child.called);
	return 0;
}
