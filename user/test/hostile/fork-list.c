// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A thread forks while another one holds the list of readers. A handler for the child that is
 * older than the library's has the first section of the only thread that is left.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "hostile.h"

static _Atomic int armed, inside, over;
static int sections;

/* In front of libc's: the library calls it with the list's lock held. */
int pthread_setspecific(pthread_key_t key, const void *value)
{
	int (*real)(pthread_key_t, const void *) =
		(int (*)(pthread_key_t, const void *))dlsym(RTLD_NEXT, "pthread_setspecific");

	if (armed) {
		armed = 0;
		inside = 1;
		while (!over)
			usleep(1000);
	}
	return real(key, value);
}

static void *reads(void *arg)
{
	armed = 1;
	jf_read_lock();
	jf_read_unlock();
	return arg;
}

static void on_child(void)
{
	alarm(5);
	jf_read_lock();
	jf_read_unlock();
	sections++;
}

static void early(void)
{
	pthread_atfork(NULL, NULL, on_child);
}

/* Before all constructors of shared objects. */
__attribute__((__section__(".preinit_array"), __used__))
static void (*const before_all)(void) = early;

int main(void)
{
	pthread_t t;
	int status;
	pid_t p;

	alarm(20);
	MUST(!pthread_create(&t, NULL, reads, NULL), "thread");
	while (!inside)
		usleep(100);
	p = fork();
	if (!p)
		_exit(sections == 1 ? 0 : 1);
	over = 1;
	waitpid(p, &status, 0);
	MUST(!status, "%#x", status);
	pthread_join(t, NULL);
	return 0;
}
