// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Tracepoints of libjumpfunc without probes, with two arguments. */
#include "library.h"
#include "row.h"

#include <jumpfunc/tracepoint.h>

#define DECLARE_OWN(name)						\
	DECLARE_JF_TRACE(name, JF_PROTO(int number, long length), JF_ARGS(number, length)); \
	DEFINE_JF_TRACE(name);						\
	static inline __attribute__((always_inline)) void trace_own(int number, long length) \
	{								\
		jf_trace_##name(number, length);			\
	}
#define DECLARE_EXPANDED(name)	DECLARE_OWN(name)
DECLARE_EXPANDED(OWN(tp))

#define BODY		BRANCH_BODY
#define SITE(hi, lo)	trace_own(bench_arg1, bench_arg2)
#include "loops.h"

BENCH_ROWS("branch", "tracepoint", "jumpfunc tracepoint, off, 2 arguments", NULL);
