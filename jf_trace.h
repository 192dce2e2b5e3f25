/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the engine: events/jumpfunc/ in tracefs.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jumpfunc

#if !defined(JF_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_TRACE_H

#include <linux/tracepoint.h>

#include "jf_compat.h"

/* A key got a new value: addresses of functions, or 0 and 1 for a key. */
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

/* A commit begins to look at its sites; "sites" is the most it may write. */
TRACE_EVENT(jf_batch_begin,
	TP_PROTO(unsigned int keys, unsigned int sites),
	TP_ARGS(keys, sites),
	TP_STRUCT__entry(
		__field(unsigned int, keys)
		__field(unsigned int, sites)
	),
	TP_fast_assign(
		__entry->keys = keys;
		__entry->sites = sites;
	),
	TP_printk("keys=%u sites=%u", __entry->keys, __entry->sites)
);

/* A commit is done, or has failed with "err" and changed nothing. */
TRACE_EVENT(jf_batch_end,
	TP_PROTO(unsigned int keys, unsigned int sites, u64 ns, int err),
	TP_ARGS(keys, sites, ns, err),
	TP_STRUCT__entry(
		__field(unsigned int, keys)
		__field(unsigned int, sites)
		__field(u64, ns)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->keys = keys;
		__entry->sites = sites;
		__entry->ns = ns;
		__entry->err = err;
	),
	TP_printk("keys=%u sites=%u ns=%llu err=%d", __entry->keys,
		  __entry->sites, __entry->ns, __entry->err)
);

#endif /* JF_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE jf_trace
#include <trace/define_trace.h>
