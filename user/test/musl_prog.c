// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program that knows nothing of the library opens a plugin that needs it, while it has
 * threads. These have their first sections in signal handlers, inside of malloc() too,
 * which must not be called there.
 * usage: musl_prog PLUGIN
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hostile/hostile.h"

#define THREADS	8

static int (*enable)(void), (*section)(int i), (*quiesce)(unsigned long ms);
static pthread_barrier_t opened;
static _Atomic int allocated;
static __thread volatile int in_handler, handled;

/* In front of libc's: freed memory is lost. */
void *malloc(size_t size)
{
	static _Alignas(16) char heap[1 << 20];
	static _Atomic size_t used;

	allocated += in_handler;
	size = (size + 15) & ~(size_t)15;
	used += size;
	return used > sizeof(heap) ? NULL : heap + used - size;
}

void free(void *p)
{
	allocated += in_handler && p;
}

static void on_signal(int sig)
{
	(void)sig;
	in_handler = 1;
	handled = section(5);
	in_handler = 0;
}

static void *has_section(void *arg)
{
	pthread_barrier_wait(&opened);
	raise(SIGUSR1);
	MUST(handled == 5, "a handler's section saw %d", handled);
	MUST(section(7) == 7, "a section of a thread");
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	void *plugin;
	int i;

	alarm(30);
	pthread_barrier_init(&opened, NULL, THREADS + 1);
	signal(SIGUSR1, on_signal);
	/* They are there before the library's data of threads are. */
	for (i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t[i], NULL, has_section, NULL), "thread");
	plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	MUST(plugin, "%s", dlerror());
	enable = (int (*)(void))dlsym(plugin, "plugin_enable");
	section = (int (*)(int))dlsym(plugin, "plugin_section");
	quiesce = (int (*)(unsigned long))dlsym(plugin, "plugin_quiesce");
	MUST(!section(3), "it is off");
	i = enable();
	MUST(!i, "%d", i);
	pthread_barrier_wait(&opened);
	MUST(section(3) == 3, "it is on");
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	MUST(!allocated, "%d calls of malloc() and free() in handlers", allocated);
	MUST(!quiesce(1000), "no thread is in a section");
	return 0;
}
