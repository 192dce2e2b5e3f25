// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * SUBSCRIBERS of an event in an array, which a loop calls by their pointers, as tracepoints
 * of the kernel do.
 */
#include "row.h"

struct subscriber {
	bench_probe_fn *func;
	void *data;
};

#ifndef ARRAY_ROW
#define ARRAY_ROW	"array-plain", "array, plain indirect"
#endif

struct subscriber OWN(arrays)[FEW][SUBSCRIBERS + 1];
int OWN(data)[FEW][SUBSCRIBERS][CACHE_LINE / sizeof(int)];

static __attribute__((noinline)) void iterate(const struct subscriber *s, int number, long length)
{
	do {
		s->func(s->data, number, length);
	} while ((++s)->func);
}

#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	iterate(OWN(arrays)[SITE_INDEX(hi, lo)], bench_arg1, bench_arg2)
#include "loops.h"

static void fill(void)
{
	unsigned int i, n;

	for (i = 0; i < FEW; i++)
		for (n = 0; n < SUBSCRIBERS; n++)
			OWN(arrays)[i][n] = (struct subscriber){ bench_probes[n], OWN(data)[i][n] };
}

#define ROW_OF(...)	BENCH_ROW_OF(__VA_ARGS__)
ROW_OF("subscribers", ARRAY_ROW, fill, SUBSCRIBERS);
