// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* LTTng-UST while no tracer runs: each event's state is loaded and tested. */
#include "row.h"

#if VARIANT == 0
#define LTTNG_UST_TRACEPOINT_DEFINE
/* The recorder of the events is not linked: no tracer runs here. */
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#endif
#include "rows/lttng_events.h"

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	lttng_ust_tracepoint(jfbench, site_##lo, bench_arg1, bench_arg2)
#include "loops.h"

static void flush_states(void)
{
#define FLUSH(hi, lo)	flush_lines(&lttng_ust_tracepoint_jfbench___site_##lo, 1, \
				    sizeof(lttng_ust_tracepoint_jfbench___site_##lo));
	FOR_64(FLUSH, 0)
}

BENCH_ROWS("branch", "lttng-ust", "LTTng-UST, off, 2 arguments", NULL);
BENCH_ROW_COLD("branch-cold", "lttng-ust", "LTTng-UST, off, its states flushed", flush_states);
