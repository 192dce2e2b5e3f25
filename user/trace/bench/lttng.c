// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The loop of LTTng-UST, in a file of its own since its headers and ours have names in common. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng.h"

void lttng_loop(long n);

__attribute__((__noinline__))
void lttng_loop(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		lttng_ust_tracepoint(jfbench, two, (uint32_t)i, (uint64_t)n);
		__asm__ volatile("" ::: "memory");
	}
}
