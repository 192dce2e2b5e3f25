/* SPDX-License-Identifier: GPL-2.0 */
/* A second header of events in the same source file. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jf_event_2

#if !defined(JF_EVENT_2_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_EVENT_2_H

#include <jumpfunc/trace_event.h>

DECLARE_EVENT_CLASS(jf_event_class,
	TP_PROTO(const char *s),
	TP_ARGS(s),
	TP_STRUCT__entry(__array(char, s, 8)),
	TP_fast_assign(strscpy(__entry->s, s, sizeof(__entry->s));),
	TP_printk("s=%s", __entry->s)
);

JF_DEFINE_EVENT(jf_event_class, jf_event_of, TP_PROTO(const char *s), TP_ARGS(s));
DEFINE_EVENT(jf_event_class, jf_event_of_plain, TP_PROTO(const char *s), TP_ARGS(s));

#endif /* JF_EVENT_2_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE jf_event_2
#include <jumpfunc/define_trace.h>
