/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Programs that start themselves again: the library reads the environment before main(). */
#ifndef HOSTILE_AGAIN_H
#define HOSTILE_AGAIN_H

#include <sys/wait.h>

#include "hostile.h"

/* @name is @value in the environment, or this does not return. */
static inline void must_have(char **argv, const char *name, const char *value)
{
	if (getenv(name))
		return;
	setenv(name, value, 1);
	execv(argv[0], argv);
}

/* The same program in a child, with @how as its argument; @writer may be NULL. */
static inline void must_run(const char *program, const char *how, const char *writer)
{
	pid_t p = fork();
	int status;

	if (!p) {
		if (writer)
			setenv("JUMPFUNC_WRITER", writer, 1);
		execl("/proc/self/exe", program, how, NULL);
		_exit(127);
	}
	waitpid(p, &status, 0);
	MUST(!status, "%s: status %#x", how, status);
}

#endif /* HOSTILE_AGAIN_H */
