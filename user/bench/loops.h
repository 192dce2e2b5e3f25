/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The programs of a row, made of its SITE() and BODY: one site alone, 64 sites in straight
 * line, and 1024 functions on cache lines of their own, called in an order that
 * has nothing to do with their addresses. The rows that go from one site to the next one in a line
 * are in "chain".
 */
#include "order.h"

#define __BLOCK(hi, lo)		do { SITE(hi, lo); BODY; } while (0);
#define __FUNCTION(hi, lo)						\
	static __attribute__((noinline, aligned(64))) void function_##hi##lo(void) \
	{								\
		/* Each another one, or the compiler makes one of equal ones. */ \
		__asm__ volatile("" :: "i" (SITE_INDEX(hi, lo)));	\
		__BLOCK(hi, lo)						\
	}
#define __CALL(hi, lo)		function_##hi##lo();

static __attribute__((noinline, aligned(64))) uint64_t run_straight(uint64_t rounds)
{
	long chain = 0;

	do {
		FOR_64(__BLOCK, 0)
	} while (--rounds);
	return (uint64_t)chain;
}

#ifdef NO_RANDOM
static __attribute__((noinline, aligned(64), unused)) uint64_t run_one(uint64_t rounds)
{
	long chain __attribute__((unused)) = 0;

	do {
		__BLOCK(0, 00)
		__asm__ volatile("" ::: "memory");
	} while (--rounds);
	return 0;
}
#else
FOR_ALL(__FUNCTION)

static __attribute__((noinline, aligned(64))) uint64_t run_random(uint64_t rounds)
{
	do {
		BENCH_ORDER(__CALL)
	} while (--rounds);
	return 0;
}
#endif
