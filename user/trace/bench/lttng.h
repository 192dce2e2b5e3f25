/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The same event for LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER jfbench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng.h"

#if !defined(JF_TRACE_BENCH_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define JF_TRACE_BENCH_LTTNG_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(jfbench, two,
	LTTNG_UST_TP_ARGS(uint32_t, nr, uint64_t, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, value, value)
		lttng_ust_field_integer(uint32_t, nr, nr)
	)
)

#endif /* JF_TRACE_BENCH_LTTNG_H */

#include <lttng/tracepoint-event.h>
