/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of a subsystem: jf_trace_set.ko hits them, and it and
 * jf_trace_set_guest.ko switch all their probes on and off in batches.
 */
#ifndef JF_TRACE_SET_H
#define JF_TRACE_SET_H

#include <jumpfunc/tracepoint.h>

#define NSET	20
#define EACH_SET(m)							\
	m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9)		\
	m(10) m(11) m(12) m(13) m(14) m(15) m(16) m(17) m(18) m(19)

#define SET_DECLARE(n)							\
	DECLARE_JF_TRACE(set##n, JF_PROTO(u64 a, u64 b), JF_ARGS(a, b));
EACH_SET(SET_DECLARE)

/* What @b is, for a given @a. */
#define SET_ARG(a)	((a) * 5 + 3)

#endif /* JF_TRACE_SET_H */
