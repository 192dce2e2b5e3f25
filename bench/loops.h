/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The loops that are measured. All begin at the start of a cache line, so that
 * two rows differ in their body alone.
 */
#ifndef JFB_LOOPS_H
#define JFB_LOOPS_H

#include "bench.h"
#include "repeat.h"

#define __JFB_LOOP(name, step, body)					\
static noinline notrace __aligned(64) unsigned long			\
name(const struct jfb_row *row, unsigned long n, unsigned long x)	\
{									\
	unsigned long taken = 0;					\
									\
	for (; n; n -= (step)) {					\
		body							\
	}								\
	return x + (taken << 32);					\
}

/*
 * name_1() and name_64(): do body(i) n times, at one site and at 64 different
 * ones. The body may change x, and taken, which ends up in x's upper half; i is
 * one of t00 to t77.
 */
#define JFB_LOOPS(name, body)						\
	__JFB_LOOP(name##_1, 1, body(t00))				\
	__JFB_LOOP(name##_64, JFB_SITES, JFB_REP64(body, t))

#endif /* JFB_LOOPS_H */
