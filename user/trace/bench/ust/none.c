// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The loop without a tracepoint. */
#include "ust.h"

__attribute__((__noinline__))
void loop(long n)
{
	long i;

	for (i = 0; i < n; i++)
		__asm__ volatile("" : : "r" ((unsigned int)i), "r" (n) : "memory");
}
