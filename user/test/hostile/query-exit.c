// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * exit() while threads ask for the target of a dynamic function of a library: the library's
 * destructors are over, and the threads run on.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "hostile.h"

#define THREADS	64
#define TIMES	6

int library_query(void);

static void *queries(void *arg)
{
	for (;;)
		library_query();
	return arg;
}

int main(void)
{
	int i, status;
	pthread_t t;
	pid_t p;

	alarm(20);
	for (i = 0; i < TIMES; i++) {
		p = fork();
		if (!p)
			break;
		waitpid(p, &status, 0);
		MUST(!status, "%d: status %#x", i, status);
	}
	if (i == TIMES)
		return 0;
	for (i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t, NULL, queries, NULL), "thread");
	usleep(20000);
	exit(0);
}
