// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The library comes when all keys are taken for which glibc has room from the start,
 * and threads have their first sections in signal handlers: nothing may be allocated
 * there. Such threads end without a word. They are not waited for, whether they ended
 * in a section or not, nor is the first thread of the program, and the living are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "plugin.h"

static void (*lock)(void), (*unlock)(void);
static int (*quiesce)(unsigned long ms);
static __thread volatile sig_atomic_t in_handler;
static _Atomic int allocated, stage;

void *__libc_calloc(size_t nr, size_t size);
void *__libc_malloc(size_t size);

/* Stand in front of libc's. */
void *calloc(size_t nr, size_t size)
{
	allocated += in_handler;
	return __libc_calloc(nr, size);
}

void *malloc(size_t size)
{
	allocated += in_handler;
	return __libc_malloc(size);
}

static void on_signal(int sig)
{
	(void)sig;
	in_handler = 1;
	errno = 1234;
	lock();
	MUST(errno == 1234, "errno is %d", errno);
	unlock();
	in_handler = 0;
}

static void *signalled(void *arg)
{
	raise(SIGUSR1);
	if (arg)
		lock();
	return arg;
}

static void *stays(void *arg)
{
	lock();
	stage = 1;
	while (stage == 1)
		usleep(100);
	unlock();
	return arg;
}

static void *comes_last(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	MUST(!quiesce(1000), "the first thread has ended, and is waited for");
	_exit(0);
}

static void run(void *(*func)(void *), void *arg)
{
	pthread_t t;

	MUST(!pthread_create(&t, NULL, func, arg), "pthread_create");
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	static pthread_t first;
	pthread_key_t key;
	void *plugin;
	pthread_t t;
	int i;

	(void)argc;
	alarm(50);
	for (i = 0; i < 40; i++)
		MUST(!pthread_key_create(&key, NULL), "a key");
	plugin = open_plugin(argv[0]);
	lock = (void (*)(void))dlsym(plugin, "plugin_lock");
	unlock = (void (*)(void))dlsym(plugin, "plugin_unlock");
	quiesce = (int (*)(unsigned long))dlsym(plugin, "plugin_quiesce");
	signal(SIGUSR1, on_signal);
	/* More than there is room for, unless words of threads that have ended are found. */
	for (i = 0; i < 3000; i++)
		run(signalled, i % 3 ? NULL : &i);
	MUST(!allocated, "%d allocations in handlers", allocated);
	MUST(!quiesce(1000), "a thread that has ended is waited for");
	pthread_create(&t, NULL, stays, NULL);
	while (!stage)
		;
	MUST(quiesce(50) == -ETIMEDOUT, "a section that goes on is not waited for");
	for (i = 0; i < 1100; i++)
		run(signalled, &i);
	MUST(quiesce(50) == -ETIMEDOUT, "it is not any more");
	stage = 2;
	pthread_join(t, NULL);
	MUST(!quiesce(1000), "a thread that has ended is waited for");
	first = pthread_self();
	lock();
	MUST(!pthread_create(&t, NULL, comes_last, &first), "thread");
	pthread_exit(NULL);
}
