/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* libc's pthread_create(), for programs that have one in its place. _GNU_SOURCE. */
#ifndef HOSTILE_LIBC_THREADS_H
#define HOSTILE_LIBC_THREADS_H

#include <dlfcn.h>
#include <pthread.h>

static inline int libc_pthread_create(pthread_t *t, const pthread_attr_t *attr,
				      void *(*start)(void *), void *arg)
{
	int (*libc)(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
		    void *arg);

	*(void **)&libc = dlsym(RTLD_NEXT, "pthread_create");
	return libc(t, attr, start, arg);
}

#endif /* HOSTILE_LIBC_THREADS_H */
