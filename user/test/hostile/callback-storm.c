// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Three seconds in which three threads ask for callbacks and wait for them, of which some
 * end the thread that calls; it is made slowly, or not at all; another thread forks, and so
 * does a signal handler. Each is called once, in the children as well.
 */
#define _GNU_SOURCE
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdbool.h>

#include "forks.h"
#include "libc-threads.h"

#define HEADS	64

struct counted {
	struct jf_quiesce_head	head;
	_Atomic int		called;
	bool			ends;
};

static _Atomic int stop;
/* The program's own threads, which callbacks must not end. */
static __thread bool ours;
static __thread unsigned int seed;

static unsigned int dice(unsigned int sides)
{
	return (unsigned int)rand_r(&seed) % sides;
}

/* In place of libc's. */
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
		   void *arg)
{
	int err;

	/* The main thread. */
	if (getpid() == gettid())
		return libc_pthread_create(t, attr, start, arg);
	if (!dice(3))
		usleep(dice(300));
	if (!dice(3))
		return EAGAIN;
	err = libc_pthread_create(t, attr, start, arg);
	if (!dice(3))
		usleep(dice(300));
	return err;
}

static void callback(struct jf_quiesce_head *head)
{
	struct counted *c = (struct counted *)head;

	c->called++;
	if (c->ends && !ours)
		pthread_exit(NULL);
}

static void ask(struct counted *all, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		all[i].called = 0;
		all[i].ends = !dice(3);
		jf_call_quiesced(&all[i].head, callback);
	}
	jf_quiesce_barrier();
	for (i = 0; i < num; i++)
		MUST(all[i].called == 1, "%d: called %d", i, all[i].called);
}

static void *asks(void *arg)
{
	struct counted *all = calloc(HEADS, sizeof(*all));

	ours = true;
	seed = (unsigned int)(uintptr_t)arg;
	while (!stop)
		ask(all, 1 + (int)dice(HEADS));
	return all;
}

static void *do_fork(void *arg)
{
	static struct counted all[4];
	sigset_t alarms;

	ours = true;
	/* glibc's fork() waits for itself if a handler that forks interrupts it. */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGVTALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	while (!stop) {
		pid_t p = fork();
		int status;

		if (!p) {
			alarm(10);
			ask(all, 4);
			_exit(0);
		}
		waitpid(p, &status, 0);
		MUST(!status, "%#x", status);
		usleep(500);
	}
	return arg;
}

int main(void)
{
	pthread_t t[4];
	int i;

	alarm(30);
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, asks, (void *)(uintptr_t)(i + 1));
	pthread_create(&t[3], NULL, do_fork, NULL);
	begin_forks();
	for (i = 0; i < 300; i++)
		usleep(10000);
	stop = 1;
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
