// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A direct call of the only subscriber. */
#include "row.h"

int OWN(data)[FEW][CACHE_LINE / sizeof(int)];

static __attribute__((noinline)) void subscriber(void *data, int number, long length)
{
	(void)length;
	*(volatile int *)data = number;
}

#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	subscriber(OWN(data)[SITE_INDEX(hi, lo)], bench_arg1, bench_arg2)
#include "loops.h"

BENCH_ROW_OF("subscribers", "direct", "direct call of the probe", NULL, 1);
