// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A tracepoint of libjumpfunc without probes: jf_trace(), which evaluates no arguments. */
#include "library.h"
#include "row.h"

#include <jumpfunc/tracepoint.h>

#define DECLARE_OWN(name)						\
	DECLARE_JF_TRACE(name, JF_PROTO(int number, long length), JF_ARGS(number, length)); \
	DEFINE_JF_TRACE(name);						\
	static inline __attribute__((always_inline)) void trace_own(void) \
	{								\
		jf_trace(name, bench_arg1, bench_arg2);			\
	}
#define DECLARE_EXPANDED(name)	DECLARE_OWN(name)
DECLARE_EXPANDED(OWN(tp))

#define SITE(hi, lo)	trace_own()
#include "alu.h"

ALU_ROW("tracepoint", "jumpfunc tracepoint, off");
