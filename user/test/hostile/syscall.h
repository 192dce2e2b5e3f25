/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Stands in front of libc's syscall(). A program that includes this defines _GNU_SOURCE,
 * and lists the calls that are denied: by -EPERM.
 */
#ifndef HOSTILE_SYSCALL_H
#define HOSTILE_SYSCALL_H

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "hostile.h"

/* MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, and to register for it */
enum { SYNC_CORE = 1 << 5, REGISTER = 1 << 6 };

static int denied(long nr, const long *args);

long syscall(long nr, ...);
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
	if (denied(nr, a)) {
		errno = EPERM;
		return -1;
	}
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif /* HOSTILE_SYSCALL_H */
