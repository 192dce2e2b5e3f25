/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of the test modules.
 */
#ifndef JF_TRACE_TEST_H
#define JF_TRACE_TEST_H

#include <jumpfunc/tracepoint.h>

/* Argument @i of a call whose first argument is @seed: all bits differ. */
#define TT_ARG(seed, i)	\
	((((u64)(seed) ^ (i) * 0x9e3779b97f4a7c15UL) * 0xbf58476d1ce4e5b9UL) >> ((i) & 3))

DECLARE_JF_TRACE_NOARGS(tt0);
DECLARE_JF_TRACE(tt1, JF_PROTO(int a), JF_ARGS(a));
DECLARE_JF_TRACE(tt3, JF_PROTO(u64 seed, void *b, s8 c), JF_ARGS(seed, b, c));
DECLARE_JF_TRACE(tt5, JF_PROTO(u64 seed, short b, bool c, long d, const char *e),
		 JF_ARGS(seed, b, c, d, e));
DECLARE_JF_TRACE(tt6, JF_PROTO(u64 seed, int b, int c, int d, int e, int f),
		 JF_ARGS(seed, b, c, d, e, f));
DECLARE_JF_TRACE(tt12,
		 JF_PROTO(u64 seed, u64 b, u64 c, int d, void *e, u64 f, s8 g, u16 h,
		       long i, bool j, void *k, u64 l),
		 JF_ARGS(seed, b, c, d, e, f, g, h, i, j, k, l));

#endif /* JF_TRACE_TEST_H */
