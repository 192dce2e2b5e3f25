/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * mmap(), by which the library gets memory, in front of libc's: it fails where the argument
 * is true. Linked with -rdynamic, and with a library that maps each block (-DSMALL_MAX=16).
 */
#ifndef MAPS_H
#define MAPS_H

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAILING_MMAP(fails)						\
	void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t from) \
	{								\
		if (fails) {						\
			errno = ENOMEM;					\
			return MAP_FAILED;				\
		}							\
		return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, from); \
	}

#endif /* MAPS_H */
