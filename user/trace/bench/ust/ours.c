// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* JF_TRACE_EVENT() of libjumpfunc-trace. */
#define CREATE_TRACE_POINTS
#include "../events.h"
#include "ust.h"

__attribute__((__noinline__))
void loop(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		jf_trace_two((u32)i, (u64)n);
		__asm__ volatile("" ::: "memory");
	}
}
