// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A tracepoint of libjumpfunc with a probe that does nothing: its read section, and the call. */
#include "library.h"
#include "row.h"

#include <jumpfunc/tracepoint.h>

#define DECLARE_OWN(name)						\
	DECLARE_JF_TRACE(name, JF_PROTO(int number, long length), JF_ARGS(number, length)); \
	DEFINE_JF_TRACE(name);						\
	static inline __attribute__((always_inline)) void trace_own(int number, long length) \
	{								\
		jf_trace_##name(number, length);			\
	}								\
	static int register_own(void (*probe)(void *, int, long))	\
	{								\
		return register_jf_trace_##name(probe, NULL);		\
	}
#define DECLARE_EXPANDED(name)	DECLARE_OWN(name)
DECLARE_EXPANDED(OWN(tp))

#define BODY
#define SITE(hi, lo)	trace_own(bench_arg1, bench_arg2)
#include "loops.h"

static void probe(void *data, int number, long length)
{
	(void)data;
	(void)number;
	(void)length;
}

static void enable(void)
{
	stress_die(register_own(probe), "register_jf_trace");
}

BENCH_ROWS("call", "tracepoint", "jumpfunc tracepoint, one probe", enable);
