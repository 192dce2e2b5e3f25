// SPDX-License-Identifier: GPL-2.0
/*
 * ipi_storm SECONDS: every CPU interrupts all others, as often as it can: membarrier() that makes
 * them serialise, and page permissions that make them flush. Prints how often.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef __NR_membarrier
#define __NR_membarrier 324
#endif
/* linux/membarrier.h */
#define PRIVATE_EXPEDITED_SYNC_CORE		(1 << 5)
#define REGISTER_PRIVATE_EXPEDITED_SYNC_CORE	(1 << 6)

static time_t end;
static long barriers, flushes;
static int can_barrier;

static void *storm(void *page)
{
	long b = 0, f = 0;

	while (time(NULL) < end) {
		if (can_barrier && !syscall(__NR_membarrier, PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
			b++;
		*(volatile char *)page = 1;
		if (!mprotect(page, 4096, PROT_READ) && !mprotect(page, 4096, PROT_READ | PROT_WRITE))
			f++;
		/* An emulator that runs one CPU at a time goes to the next one. */
		usleep(200);
	}
	__atomic_add_fetch(&barriers, b, __ATOMIC_RELAXED);
	__atomic_add_fetch(&flushes, f, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t t[64];

	if (argc != 2)
		return 2;
	if (n > 64)
		n = 64;
	end = time(NULL) + atol(argv[1]);
	can_barrier = !syscall(__NR_membarrier, REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
	for (i = 0; i < n; i++) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED || pthread_create(&t[i], NULL, storm, page))
			return 2;
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("membarriers %ld flushes %ld\n", barriers, flushes);
	return !flushes;
}
