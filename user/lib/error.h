/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The meaning of an error number, in English, for threads and moments in which strerror() must
 * not be called.
 */
#ifndef JF_LIB_ERROR_H
#define JF_LIB_ERROR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#include <jumpfunc/batch.h>

/*
 * strerror() may translate. For that it reads the environment, which the program may be writing
 * over, and opens a converter: a shared object, with the lock of the dynamic linker, which a thread
 * has that waits for ours in a constructor.
 */
static inline const char *jf_error(int err)
{
#ifndef __GLIBC__
	return strerror(err);
#elif __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(err);

	return text ? text : "an unknown error";
#else
	static __thread char text[32] __JF_OF_THREAD;

	snprintf(text, sizeof(text), "error %d", err);
	return text;
#endif
}

#endif /* JF_LIB_ERROR_H */
