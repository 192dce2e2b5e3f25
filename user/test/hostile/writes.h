/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Functions that stand in front of libc's, by which the library writes text. Each fails
 * where its argument, an expression that sets errno, is true. Linked with -rdynamic.
 */
#ifndef WRITES_H
#define WRITES_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>

#ifdef __cplusplus
#define OF_LIBC		extern "C"
#define OF_LIBC_END	noexcept
#else
#define OF_LIBC
#define OF_LIBC_END
#endif

#define FAILING_MREMAP(fails)						\
	OF_LIBC void *mremap(void *from, size_t size, size_t new_size,	\
			     int flags, ...) OF_LIBC_END		\
	{								\
		static void *(*real)(void *, size_t, size_t, int, ...);	\
		va_list l;						\
		void *to;						\
									\
		va_start(l, flags);					\
		to = va_arg(l, void *);					\
		va_end(l);						\
		if (!real)						\
			real = (void *(*)(void *, size_t, size_t, int, ...)) \
				dlsym(RTLD_NEXT, "mremap");		\
		return (fails) ? MAP_FAILED : real(from, size, new_size, flags, to); \
	}

/* This one does not always fail: its result then is @fd. */
#define OPEN_INSTEAD(when, fd)						\
	OF_LIBC int open(const char *path, int flags, ...)		\
	{								\
		static int (*real)(const char *, int, ...);		\
		va_list l;						\
		int mode;						\
									\
		va_start(l, flags);					\
		mode = flags & O_CREAT ? va_arg(l, int) : 0;		\
		va_end(l);						\
		if (!real)						\
			real = (int (*)(const char *, int, ...))	\
				dlsym(RTLD_NEXT, "open");		\
		return (when) ? (fd) : real(path, flags, mode);		\
	}

#endif /* WRITES_H */
