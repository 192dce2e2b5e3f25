// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * To make the thread for callbacks takes its time. Another thread asks for one at that time;
 * the new thread is at its end before its maker knows that it began. The maker blocks the
 * same signals afterwards as before.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <signal.h>

#include "hostile.h"
#include "libc-threads.h"

static _Atomic int made, called;
/* The first one is not made before the other thread has asked. */
static _Atomic int another_asked;
static unsigned int pause_after;
static int until_it_ended;

static int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int nr = 0;

	MUST(tasks, "%m");
	while (readdir(tasks))
		nr++;
	closedir(tasks);
	return nr - 2;
}

/* It lives on for a second. */
static void wait_for_its_end(void)
{
	while (threads() > 1)
		usleep(10000);
}

/* In place of libc's. */
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
		   void *arg)
{
	int err;

	made++;
	while (made == 1 && !another_asked)
		usleep(100);
	err = libc_pthread_create(t, attr, start, arg);
	usleep(pause_after);
	if (until_it_ended)
		wait_for_its_end();
	return err;
}

static void count(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

static void *asks(void *arg)
{
	jf_call_quiesced(arg, count);
	return NULL;
}

static void two_ask(void)
{
	static struct jf_quiesce_head heads[2];
	pthread_t t;

	libc_pthread_create(&t, NULL, asks, &heads[0]);
	while (!made)
		usleep(100);
	jf_call_quiesced(&heads[1], count);
	/* Nor does a thread that waits make one. */
	jf_quiesce_barrier();
	another_asked = 1;
	pthread_join(t, NULL);
	MUST(called == 2, "called %d", called);
	MUST(made == 1, "made %d", made);
	wait_for_its_end();
}

static void the_signals_are_as_before(void)
{
	static struct jf_quiesce_head head;
	sigset_t before, after;
	int sig, state;

	pause_after = 100000;
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	jf_call_quiesced(&head, count);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (sig = 1; sig < 32; sig++)
		MUST(sigismember(&after, sig) == (sig == SIGUSR1), "signal %d", sig);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	MUST(state == PTHREAD_CANCEL_ENABLE, "cannot be cancelled");
	jf_quiesce_barrier();
	MUST(made == 2, "made %d", made);
	pause_after = 0;
	wait_for_its_end();
}

static void it_ends_early(void)
{
	static struct jf_quiesce_head heads[2];
	int i;

	until_it_ended = 1;
	called = 0;
	jf_call_quiesced(&heads[0], count);
	MUST(called == 1, "called %d", called);
	until_it_ended = 0;
	jf_call_quiesced(&heads[1], count);
	for (i = 0; called < 2 && i < 5000; i++)
		usleep(1000);
	/* Without a thread that waits: there is one for callbacks. */
	MUST(called == 2, "called %d", called);
}

int main(void)
{
	alarm(20);
	two_ask();
	the_signals_are_as_before();
	it_ends_early();
	return 0;
}
