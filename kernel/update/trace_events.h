/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the engine: events/jumpfunc/ in tracefs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jumpfunc

#if !defined(JF_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_TRACE_H

#include <linux/tracepoint.h>

#include "compat.h"

/* An entity got a new value: addresses of functions, or 0 and 1 for a key. */
TRACE_EVENT(jf_update,
	TP_PROTO(const char *name, void *from, void *to),
	TP_ARGS(name, from, to),
	TP_STRUCT__entry(
		__string(name, name)
		__field(void *, from)
		__field(void *, to)
	),
	TP_fast_assign(
		jf_assign_str(name, name);
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%s: %ps -> %ps", __get_str(name), __entry->from, __entry->to)
);

/*
 * A commit is over: it changed so many "entities" and wrote so many "sites", or has
 * failed with "error" and, but for -EIO, changed nothing. "begin" and "end" are
 * ktime_get_ns(), with the locks held.
 */
TRACE_EVENT(jf_batch,
	TP_PROTO(u64 begin, u64 end, unsigned int entities, unsigned int sites,
		 int error),
	TP_ARGS(begin, end, entities, sites, error),
	TP_STRUCT__entry(
		__field(u64, begin)
		__field(u64, end)
		__field(u64, ns)
		__field(unsigned int, entities)
		__field(unsigned int, sites)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->begin = begin;
		__entry->end = end;
		__entry->ns = end - begin;
		__entry->entities = entities;
		__entry->sites = sites;
		__entry->error = error;
	),
	TP_printk("begin=%llu end=%llu ns=%llu entities=%u sites=%u error=%d",
		  __entry->begin, __entry->end, __entry->ns, __entry->entities,
		  __entry->sites, __entry->error)
);

#endif /* JF_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH update
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace_events
#include <trace/define_trace.h>
