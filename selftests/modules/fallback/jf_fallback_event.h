/* SPDX-License-Identifier: GPL-2.0 */
/* The events of jf_fallback.h; the two modules have them in one system each. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM JF_FALLBACK_SYSTEM

#if !defined(JF_FALLBACK_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_FALLBACK_EVENT_H

#if __has_include(<jumpfunc/trace_event.h>)
#include <jumpfunc/trace_event.h>
#else
#include "fallback.h"
#endif

DECLARE_EVENT_CLASS(jf_fb_class,
	TP_PROTO(int a, int b),
	TP_ARGS(a, b),
	TP_STRUCT__entry(__field(int, a) __field(int, b)),
	TP_fast_assign(__entry->a = a; __entry->b = b;),
	TP_printk("a=%d b=%d", __entry->a, __entry->b)
);

JF_TRACE_EVENT(jf_fb_one,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);

JF_TRACE_EVENT_CONDITION(jf_fb_odd,
	TP_PROTO(int a),
	TP_ARGS(a),
	TP_CONDITION(a & 1),
	TP_STRUCT__entry(__field(int, a)),
	TP_fast_assign(__entry->a = a;),
	TP_printk("a=%d", __entry->a)
);

JF_DEFINE_EVENT(jf_fb_class, jf_fb_two,
	TP_PROTO(int a, int b),
	TP_ARGS(a, b)
);

JF_DEFINE_EVENT_CONDITION(jf_fb_class, jf_fb_less,
	TP_PROTO(int a, int b),
	TP_ARGS(a, b),
	TP_CONDITION(a < b)
);
#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE jf_fallback_event
#if __has_include(<jumpfunc/define_trace.h>)
#include <jumpfunc/define_trace.h>
#else
#include <trace/define_trace.h>
#endif
