/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * For rows that use libjumpfunc, before everything else. The programs that are
 * assembled use the engine, whose functions and structs have the same names: so
 * these rows do not see it, and bench.mk makes the library's names local to them.
 */
#ifndef JF_USER_BENCH_LIBRARY_H
#define JF_USER_BENCH_LIBRARY_H

#define BENCH_NO_ENGINE

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jumpfunc/branch.h>

static inline void stress_die(int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %s\n", what, strerror(-err));
	exit(1);
}

#endif /* JF_USER_BENCH_LIBRARY_H */
