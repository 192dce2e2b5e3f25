// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Tracepoints of libjumpfunc with SUBSCRIBERS each: read section, and an image of direct calls. */
#include "library.h"
#include "row.h"

#include <jumpfunc/tracepoint.h>

int OWN(data)[FEW][SUBSCRIBERS][CACHE_LINE / sizeof(int)];

#define DEFINE_OWN(name)						\
	DECLARE_JF_TRACE(name, JF_PROTO(int number, long length), JF_ARGS(number, length)); \
	DEFINE_JF_TRACE(name);
#define DEFINE_EXPANDED(name)	DEFINE_OWN(name)
#define DEFINE_ONE(hi, lo)	DEFINE_EXPANDED(OWN(tp##hi##lo))
FOR_64(DEFINE_ONE, 0)

#define EVENT_OWN(name)		jf_trace_##name(bench_arg1, bench_arg2)
#define EVENT(name)		EVENT_OWN(name)
#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	EVENT(OWN(tp##hi##lo))
#include "loops.h"

static void subscribe(void)
{
	unsigned int n;

	for (n = 0; n < SUBSCRIBERS; n++) {
#define ADD_OWN(name, data)	stress_die(register_jf_trace_##name(bench_probes[n], data), "register_jf_trace");
#define ADD(name, data)		ADD_OWN(name, data)
#define ADD_ONE(hi, lo)		ADD(OWN(tp##hi##lo), OWN(data)[SITE_INDEX(hi, lo)][n])
		FOR_64(ADD_ONE, 0)
	}
}

BENCH_ROW_OF("subscribers", "chain", "jumpfunc tracepoint", subscribe, SUBSCRIBERS);
