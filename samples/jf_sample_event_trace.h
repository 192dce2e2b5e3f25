/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sample: a header of events. Their place in tracefs is events/jf_sample.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jf_sample

#if !defined(JF_SAMPLE_EVENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_SAMPLE_EVENT_TRACE_H

#include <jumpfunc/trace_event.h>

struct jf_sample_packet;

/* A packet was received. */
JF_TRACE_EVENT(jf_sample_rx,
	TP_PROTO(const struct jf_sample_packet *p, unsigned int queue),
	TP_ARGS(p, queue),
	TP_STRUCT__entry(
		__array(char, dev, 8)
		__field(u32, id)
		__field(u32, len)
		__field(unsigned int, queue)
	),
	TP_fast_assign(
		memcpy(__entry->dev, p->dev, sizeof(p->dev));
		__entry->id = p->id;
		__entry->len = p->len;
		__entry->queue = queue;
	),
	TP_printk("dev=%s id=%u len=%u queue=%u", __entry->dev, __entry->id,
		  __entry->len, __entry->queue)
);

/* Two events with the same arguments share a class. */
DECLARE_EVENT_CLASS(jf_sample_verdict,
	TP_PROTO(u32 id, int reason),
	TP_ARGS(id, reason),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(int, reason)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->reason = reason;
	),
	TP_printk("id=%u reason=%d", __entry->id, __entry->reason)
);

/* It was passed on, or dropped. */
JF_DEFINE_EVENT(jf_sample_verdict, jf_sample_pass,
	TP_PROTO(u32 id, int reason), TP_ARGS(id, reason));
JF_DEFINE_EVENT(jf_sample_verdict, jf_sample_drop,
	TP_PROTO(u32 id, int reason), TP_ARGS(id, reason));

#endif /* JF_SAMPLE_EVENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE jf_sample_event_trace
#include <jumpfunc/define_trace.h>
