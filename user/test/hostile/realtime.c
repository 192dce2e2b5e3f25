// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A realtime thread waits for readers on the CPU of an ordinary one that does the
 * same. It must not wait in a way in which the other one never runs: here that would
 * end when the kernel throttles realtime threads, and elsewhere not at all. Its CPU time tells: how
 * long it waits depends on the other work of the machine.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "readers.h"

#define READERS	200
#define LIMIT_US	200000

static void stay_here(void)
{
	cpu_set_t old, one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(old), &old);
	while (!CPU_ISSET(cpu, &old))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *waits(void *arg)
{
	stay_here();
	for (;;)
		jf_quiesce_timeout(0);
	return arg;
}

static long cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

int main(void)
{
	struct sched_param p = { .sched_priority = 1 };
	pthread_t t;
	long took;
	int i;

	begin_readers(READERS);
	pthread_create(&t, NULL, waits, NULL);
	stay_here();
	if (sched_setscheduler(0, SCHED_FIFO, &p)) {
		printf("# no realtime threads here: %s\n", strerror(errno));
		_exit(0);
	}
	for (i = 0; i < 1000; i++) {
		usleep(500 + i % 100);
		took = cpu_us();
		jf_quiesce_timeout(0);
		took = cpu_us() - took;
		MUST(took < LIMIT_US, "%ld us", took);
	}
	_exit(0);
}
