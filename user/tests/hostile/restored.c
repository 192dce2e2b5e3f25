// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A process of several threads is restored from a file by somebody who does not know of
 * membarrier(): it is registered no more. Changes register it again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

/* MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, and to register for it */
enum { SYNC_CORE = 1 << 5, REGISTER = 1 << 6 };

static int forgotten;

/* Stands in front of libc's. */
long syscall(long nr, ...)
{
	static long (*real)(long, ...);
	va_list l;
	long a[6];
	int i;

	va_start(l, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(l, long);
	va_end(l);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (nr == SYS_membarrier && a[0] == REGISTER)
		forgotten = 0;
	if (nr == SYS_membarrier && a[0] == SYNC_CORE && forgotten) {
		errno = EPERM;
		return -1;
	}
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void *waits(void *arg)
{
	pause();
	return arg;
}

int main(void)
{
	pthread_t t;
	int err;

	pthread_create(&t, NULL, waits, NULL);
	MUST(!jf_key_enable(&key), "enable");
	forgotten = 1;
	err = jf_key_disable(&key);
	MUST(!err && !jf_branch_unlikely(&key), "disable: %s", strerror(-err));
	return 0;
}
