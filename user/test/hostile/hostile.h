/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The common part of the hostile programs: an exit with an error. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST(condition, ...)						\
	do {								\
		if (!(condition)) {					\
			printf("# line %d: %s: ", __LINE__, #condition);\
			printf(__VA_ARGS__);				\
			putchar('\n');					\
			fflush(stdout);					\
			_exit(1);					\
		}							\
	} while (0)

#endif /* HOSTILE_H */
