// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A function with two arguments, whose entry is the tracepoint. */
#include "ust.h"

void bench_two(unsigned int nr, unsigned long value);

__attribute__((__noipa__, __noinline__))
void bench_two(unsigned int nr, unsigned long value)
{
	__asm__ volatile("" : : "r" (nr), "r" (value) : "memory");
}

__attribute__((__noinline__))
void loop(long n)
{
	long i;

	for (i = 0; i < n; i++)
		bench_two((unsigned int)i, (unsigned long)n);
}
