// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A signal comes as soon as a child of fork() lets signals in, and its handler has the
 * thread's first section. The parent has another thread that often holds the list of
 * readers, which the child does not have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "hostile.h"

#define READERS	100

static pid_t parent;

/* Stands in front of libc's. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	static int (*real)(int, const sigset_t *, sigset_t *);
	int err;

	if (!real)
		real = (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT,
									 "pthread_sigmask");
	if (parent && getpid() != parent)
		raise(SIGUSR1);
	err = real(how, set, old);
	return err;
}

static volatile int handled;

static void on_signal(int sig)
{
	(void)sig;
	if (handled++)
		return;
	jf_read_lock();
	jf_read_unlock();
}

static pthread_barrier_t ready;

static void *reads(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return arg;
}

static void *waits(void *arg)
{
	for (;;)
		jf_quiesce_timeout(0);
	return arg;
}

int main(void)
{
	pthread_attr_t attr;
	int i, status;
	pthread_t t;
	pid_t p;

	signal(SIGUSR1, on_signal);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&ready, NULL, READERS + 1);
	for (i = 0; i < READERS; i++)
		MUST(!pthread_create(&t, &attr, reads, NULL), "thread %d", i);
	pthread_barrier_wait(&ready);
	pthread_create(&t, NULL, waits, NULL);
	usleep(1000);
	parent = getpid();
	for (i = 0; i < 300; i++) {
		p = fork();
		if (!p) {
			alarm(5);
			raise(SIGUSR1);
			_exit(!handled);
		}
		waitpid(p, &status, 0);
		MUST(!status, "child %d: status %#x", i, status);
	}
	_exit(0);
}
