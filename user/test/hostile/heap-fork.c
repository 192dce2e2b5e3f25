// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The program's malloc() has a lock, and takes it around a fork, before the library's
 * handler waits for a change that is under way.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "toggles.h"

static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int waits;

static void heap_enter(void)
{
	if (changes)
		waits = 1;
	pthread_mutex_lock(&heap);
	if (changes)
		waits = 0;
}

static void heap_leave(void)
{
	pthread_mutex_unlock(&heap);
}

/* With the lock: until the other thread wants it, if it ever does. */
static void before_fork(void)
{
	int i;

	pthread_mutex_lock(&heap);
	for (i = 0; i < 20 && !waits; i++)
		usleep(1000);
}

__attribute__((__constructor__)) static void begin(void)
{
	pthread_atfork(before_fork, heap_leave, heap_leave);
}

int main(void)
{
	pthread_t t;
	int status, i;

	alarm(40);
	pthread_create(&t, NULL, toggle, NULL);
	for (i = 0; i < 50; i++) {
		pid_t p = fork();

		if (!p) {
			MUST(!jf_key_enable(&key) && is_on(), "in the child");
			_exit(0);
		}
		waitpid(p, &status, 0);
		MUST(!status, "%#x", status);
	}
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
