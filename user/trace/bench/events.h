/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The event of the benchmark: two arguments, as LTTng-UST's in lttng.h. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jfbench

#if !defined(JF_TRACE_BENCH_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_TRACE_BENCH_EVENTS_H

#include <jumpfunc/trace_event.h>

JF_TRACE_EVENT(two,
	TP_PROTO(u32 nr, u64 value),
	TP_ARGS(nr, value),
	TP_STRUCT__entry(
		__field(u64, value)
		__field(u32, nr)
	),
	TP_fast_assign(
		__entry->value = value;
		__entry->nr = nr;
	),
	TP_printk("nr=%u value=%llu", __entry->nr, __entry->value)
);

#endif /* JF_TRACE_BENCH_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events
#include <jumpfunc/define_trace.h>
