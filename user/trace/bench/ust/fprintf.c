// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A line of text with a time stamp for each event, each thread into a stream of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ust.h"

static __thread FILE *to;

__attribute__((__noinline__))
void loop(long n)
{
	const char *name = getenv("JF_BENCH_TEXT");
	struct timespec t;
	long i;

	if (!to)
		to = fopen(name ? name : "/dev/null", "ae");
	if (!to)
		exit(1);
	for (i = 0; i < n; i++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		fprintf(to, "%ld.%09ld two: nr=%u value=%ld\n", (long)t.tv_sec, t.tv_nsec, (unsigned int)i, n);
	}
	fflush(to);
}
