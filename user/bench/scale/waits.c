// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * How long others wait while all sites change: a thread that changes another key, forks or
 * opens an object, and a signal that is sent to the thread that changes them. Each is done
 * over and over; of each change the longest one counts.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scale.h"

static int stop;
/* How often it was done. */
static unsigned long times;
/* The longest one since it was set to 0. */
static double longest;
static const char *plugin;
static pthread_t updater;
static sem_t answered;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void note(double start, double end)
{
	double took = end - start, had;

	__atomic_load(&longest, &had, __ATOMIC_RELAXED);
	if (took > had)
		__atomic_store(&longest, &took, __ATOMIC_RELAXED);
}

static void other_key(void)
{
	static int on;
	double start = now_ns();
	int err = on ? jf_key_disable(&scale_one) : jf_key_enable(&scale_one);

	note(start, now_ns());
	on = !on;
	if (err)
		abort();
}

static void forks(void)
{
	double start = now_ns();
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	note(start, now_ns());
	waitpid(pid, NULL, 0);
}

static void opens(void)
{
	double start = now_ns();
	void *p = dlopen(plugin, RTLD_NOW);

	note(start, now_ns());
	if (!p)
		abort();
	dlclose(p);
}

static void on_usr1(int sig)
{
	int saved = errno;

	(void)sig;
	sem_post(&answered);
	errno = saved;
}

/*
 * It sleeps during a change, as the others do. Otherwise it would take the CPU that the updater
 * waits for.
 */
static void signals(void)
{
	double start = now_ns();

	pthread_kill(updater, SIGUSR1);
	while (sem_wait(&answered))
		;
	note(start, now_ns());
}

static void *waits(void *arg)
{
	void (*once)(void) = *(void (**)(void))arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		once();
		__atomic_fetch_add(&times, 1, __ATOMIC_RELAXED);
		usleep(50);
	}
	return arg;
}

/* The one that has begun by now has noted how long it took. */
static void let_it_end(void)
{
	unsigned long before = __atomic_load_n(&times, __ATOMIC_RELAXED);

	while (__atomic_load_n(&times, __ATOMIC_RELAXED) == before)
		usleep(50);
}

static const struct {
	const char *name;
	void (*once)(void);
} kinds[] = {
	{ "another key changes", other_key },
	{ "fork()", forks },
	{ "dlopen() of an object with a site", opens },
	{ "a signal in the updater's thread", signals },
};

unsigned int scale_wait_kinds(void)
{
	return sizeof(kinds) / sizeof(kinds[0]);
}

const char *scale_wait(unsigned int kind, const char *object, int with, double *ns, unsigned long nr)
{
	struct timespec pause = { .tv_nsec = 30000000 };
	double none = 0;
	pthread_t t;
	unsigned long i;

	plugin = object;
	updater = pthread_self();
	sem_init(&answered, 0, 0);
	signal(SIGUSR1, on_usr1);
	stop = 0;
	if (pthread_create(&t, NULL, waits, (void *)(uintptr_t)&kinds[kind].once))
		abort();
	for (i = 0; i < nr; i++) {
		__atomic_store(&longest, &none, __ATOMIC_RELAXED);
		if (!with)
			nanosleep(&pause, NULL);
		else if (i & 1 ? jf_key_disable(&scale_all) : jf_key_enable(&scale_all))
			abort();
		let_it_end();
		__atomic_load(&longest, &ns[i], __ATOMIC_RELAXED);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	if (with && jf_key_disable(&scale_all))
		abort();
	return kinds[kind].name;
}
