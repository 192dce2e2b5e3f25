/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of jf_event_host, beside one that is the kernel's alone. They are
 * read by two source files, and by another module.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jf_event

#if !defined(JF_EVENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_EVENT_TRACE_H

#include <jumpfunc/trace_event.h>

JF_TRACE_EVENT(jf_event_one,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);

/* As many as there may be; most of them are passed on the stack. */
JF_TRACE_EVENT(jf_event_many,
	TP_PROTO(u64 a, int b, u8 c, bool d, void *e, long f, u16 g, u64 h,
		 int i, short j, u32 k, const char *l),
	TP_ARGS(a, b, c, d, e, f, g, h, i, j, k, l),
	TP_STRUCT__entry(__field(u64, sum) __array(char, l, 8)),
	TP_fast_assign(
		__entry->sum = a + b + c + d + (unsigned long)e + f + g + h +
			       i + j + k;
		strscpy(__entry->l, l, sizeof(__entry->l));
	),
	TP_printk("sum=%llu l=%s", __entry->sum, __entry->l)
);

TRACE_EVENT(jf_event_plain,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);

#endif /* JF_EVENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE jf_event_trace
#include <jumpfunc/define_trace.h>
