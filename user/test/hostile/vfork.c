// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A thread's first section is in its child of vfork(), which has the thread's own data.
 * The word is the thread's: when it has ended, it is not waited for.
 */
#define _GNU_SOURCE
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <sys/wait.h>

#include "hostile.h"

static void *ends_inside(void *arg)
{
	pid_t p = vfork();
	int status;

	if (!p) {
		jf_read_lock();
		jf_read_unlock();
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "%#x", status);
	jf_read_lock();
	return arg;
}

int main(void)
{
	pthread_t t;
	int err;

	alarm(10);
	MUST(!pthread_create(&t, NULL, ends_inside, NULL), "thread");
	pthread_join(t, NULL);
	err = jf_quiesce_timeout(1000);
	MUST(!err, "quiesce: %s", strerror(-err));
	return 0;
}
