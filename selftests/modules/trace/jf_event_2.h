/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second header of events in the same source file, with the other contents of such headers:
 * classes, conditions, enumerators for tools, events that are left out, and tracepoints of the
 * kernel that are no events.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jf_event_2

#if !defined(JF_EVENT_2_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_EVENT_2_H

#include <jumpfunc/trace_event.h>

/* Other declarations than events are read once. */
#ifndef JF_EVENT_2_ONCE
#define JF_EVENT_2_ONCE
enum { JF_EVENT_EVEN, JF_EVENT_ODD };
extern unsigned int jf_event_asked;
#endif

DECLARE_EVENT_CLASS(jf_event_class,
	TP_PROTO(const char *s),
	TP_ARGS(s),
	TP_STRUCT__entry(__array(char, s, 8)),
	TP_fast_assign(strscpy(__entry->s, s, sizeof(__entry->s));),
	TP_printk("s=%s", __entry->s)
);

JF_DEFINE_EVENT(jf_event_class, jf_event_of, TP_PROTO(const char *s), TP_ARGS(s));
DEFINE_EVENT(jf_event_class, jf_event_of_plain, TP_PROTO(const char *s), TP_ARGS(s));
JF_DEFINE_EVENT_CONDITION(jf_event_class, jf_event_of_long,
	TP_PROTO(const char *s),
	TP_ARGS(s),
	TP_CONDITION(strlen(s) > 4)
);
DEFINE_EVENT_CONDITION(jf_event_class, jf_event_of_plain_long,
	TP_PROTO(const char *s),
	TP_ARGS(s),
	TP_CONDITION(strlen(s) > 4)
);

TRACE_DEFINE_ENUM(JF_EVENT_ODD);

JF_TRACE_EVENT_CONDITION(jf_event_odd,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_CONDITION((jf_event_asked++, a & 1)),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d %s", __entry->a,
		  __print_symbolic(__entry->a & 1, { JF_EVENT_ODD, "odd" }))
);

TRACE_EVENT_NOP(jf_event_nop,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);
DECLARE_TRACE(jf_event_bare, TP_PROTO(int a), TP_ARGS(a));

#endif /* JF_EVENT_2_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE jf_event_2
#include <jumpfunc/define_trace.h>
