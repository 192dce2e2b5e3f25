/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracepoint that jf_trace_host.ko hits all the time.
 */
#ifndef JF_TRACE_HOST_H
#define JF_TRACE_HOST_H

#include <jumpfunc/tracepoint.h>

DECLARE_JF_TRACE(th2, JF_PROTO(u64 a, u64 b), JF_ARGS(a, b));

/* What @b is, for a given @a. */
#define TH_ARG(a)	((a) * 3 + 1)

#endif /* JF_TRACE_HOST_H */
