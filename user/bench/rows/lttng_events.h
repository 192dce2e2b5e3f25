/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* 64 events of LTTng-UST with two arguments each; included several times by its headers. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER jfbench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "rows/lttng_events.h"

#if !defined(JFBENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define JFBENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

#define JFBENCH_EVENT(lo)						\
	LTTNG_UST_TRACEPOINT_EVENT(jfbench, site_##lo,			\
		LTTNG_UST_TP_ARGS(int, number, long, length),		\
		LTTNG_UST_TP_FIELDS(					\
			lttng_ust_field_integer(int, number, number)	\
			lttng_ust_field_integer(long, length, length)))
#define JFBENCH_EVENT_OF(hi, lo) JFBENCH_EVENT(lo)
FOR_64(JFBENCH_EVENT_OF, 0)

#endif /* JFBENCH_LTTNG_EVENTS_H */

#include <lttng/tracepoint-event.h>
