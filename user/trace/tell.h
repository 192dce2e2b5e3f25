/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A library's message on stderr must not end the program: where that is a file which has grown to
 * RLIMIT_FSIZE, a write brings SIGXFSZ.
 */
#ifndef JF_TELL_H
#define JF_TELL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* No line that is told is longer. */
#define JF_TELL_MAX	1024

/**
 * jf_may_tell() - may a line be written to stderr
 *
 * Context: any but signal handlers.
 */
static inline bool jf_may_tell(void)
{
	struct rlimit limit;
	struct stat st;
	off_t at;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    fstat(STDERR_FILENO, &st) || !S_ISREG(st.st_mode))
		return true;
	at = lseek(STDERR_FILENO, 0, SEEK_CUR);
	if (at < st.st_size)
		at = st.st_size;
	return (rlim_t)at + JF_TELL_MAX <= limit.rlim_cur;
}

#endif /* JF_TELL_H */
