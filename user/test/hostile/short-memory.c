// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * More threads than the library has words for from the start, and no memory any more
 * when the last ones have their first sections.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "hostile.h"

#define FIRST	1000
#define LATE	100

static _Atomic int inside, go;

static void *stays(void *arg)
{
	while (arg && !go)
		usleep(10000);
	jf_read_lock();
	inside++;
	pause();
	return arg;
}

int main(void)
{
	struct rlimit limit = { 1, 1 };
	pthread_attr_t attr;
	pthread_t t;
	int i;

	alarm(10);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < FIRST + LATE; i++)
		if (pthread_create(&t, &attr, stays, i < FIRST ? NULL : &go)) {
			printf("# only %d threads here\n", i);
			_exit(0);
		}
	while (inside < FIRST)
		usleep(1000);
	setrlimit(RLIMIT_AS, &limit);
	go = 1;
	for (i = 0; inside < FIRST + LATE; i++) {
		MUST(i < 3000, "%d threads wait for memory", FIRST + LATE - inside);
		usleep(1000);
	}
	_exit(0);
}
