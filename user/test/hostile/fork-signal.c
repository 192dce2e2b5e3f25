// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A signal comes as soon as a child of fork() lets signals in, and its handler has the
 * thread's first section. The parent has another thread that often holds the list of
 * readers, which the child does not have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include "readers.h"

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

static void *waits(void *arg)
{
	for (;;)
		jf_quiesce_timeout(0);
	return arg;
}

int main(void)
{
	int i, status;
	pthread_t t;
	pid_t p;

	signal(SIGUSR1, on_signal);
	begin_readers(READERS);
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
