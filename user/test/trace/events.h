/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The events of the tests: every kind of field, and one whose records tell if they are whole. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM jftest

#if !defined(JF_TEST_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define JF_TEST_EVENTS_H

#include <jumpfunc/trace_event.h>

#ifndef JF_TEST_TYPES
#define JF_TEST_TYPES
enum jf_test_color { JF_TEST_RED, JF_TEST_GREEN = 7 };
struct jf_test_pair { u32 a; u64 b; };

/* From all of the others: one bit that is wrong is seen. */
static inline u64 jf_test_hash(u32 source, u64 nr, u32 len)
{
	u64 h = (nr + 1) * 0x9e3779b97f4a7c15ULL ^ ((u64)source << 32 | len);

	h ^= h >> 29;
	return h * 0xbf58476d1ce4e5b9ULL;
}

/* Called while a record is being written, if it is set. */
static void (*jf_test_in_record)(void);
#endif

/* @source counts with @nr from 0; @len bytes follow, each of which is @nr. */
JF_TRACE_EVENT(counted,
	TP_PROTO(u32 source, u64 nr, u32 len),
	TP_ARGS(source, nr, len),
	TP_STRUCT__entry(
		__field(u64, hash)
		__field(u64, nr)
		__field(u32, source)
		__dynamic_array(u8, data, len)
	),
	TP_fast_assign(
		__entry->source = source;
		__entry->nr = nr;
		memset(__get_dynamic_array(data), (int)(nr & 0xff), len);
		__entry->hash = jf_test_hash(source, nr, len);
		if (jf_test_in_record)
			jf_test_in_record();
	),
	TP_printk("source=%u nr=%llu", __entry->source, __entry->nr)
);

JF_TRACE_EVENT(small,
	TP_PROTO(u32 source, u64 nr),
	TP_ARGS(source, nr),
	TP_STRUCT__entry(
		__field(u64, nr)
		__field(u32, source)
	),
	TP_fast_assign(
		__entry->nr = nr;
		__entry->source = source;
	),
	TP_printk("source=%u nr=%llu", __entry->source, __entry->nr)
);

JF_TRACE_EVENT(kinds,
	TP_PROTO(const char *text, const u16 *list, int num, void *where),
	TP_ARGS(text, list, num, where),
	TP_STRUCT__entry(
		__field(u8, one)
		__string(text, text)
		__field(s64, negative)
		__array(char, name, 6)
		__dynamic_array(u16, list, num)
		__field(double, half)
		__field(float, third)
		__field(void *, where)
		__field(enum jf_test_color, color)
		__field(bool, yes)
		__array(s16, three, 3)
		__field_struct(struct jf_test_pair, pair)
		__string(tail, text ? text + 1 : NULL)
		__string_len(cut, text, 3)
		__dynamic_array(char, chars, 2)
	),
	TP_fast_assign(
		__entry->one = 1;
		__assign_str(text, text);
		__entry->negative = -5;
		memcpy(__entry->name, "abcde", 6);
		memcpy(__get_dynamic_array(list), list, (size_t)num * sizeof(*list));
		__entry->half = 0.5;
		__entry->third = 0.25f;
		__entry->where = where;
		__entry->color = JF_TEST_GREEN;
		__entry->yes = true;
		__entry->three[0] = -1;
		__entry->three[1] = 2;
		__entry->three[2] = -3;
		__entry->pair.a = 0x11;
		__entry->pair.b = 0x22;
		__assign_str(tail);
		memcpy(__get_str(cut), "xy", 3);
		memcpy(__get_dynamic_array(chars), "hi", 2);
	),
	TP_printk("%s", __get_str(text))
);

DECLARE_EVENT_CLASS(jf_test_class,
	TP_PROTO(int v),
	TP_ARGS(v),
	TP_STRUCT__entry(__field(int, v)),
	TP_fast_assign(__entry->v = v;),
	TP_printk("v=%d", __entry->v)
);
JF_DEFINE_EVENT(jf_test_class, first, TP_PROTO(int v), TP_ARGS(v));
JF_DEFINE_EVENT_CONDITION(jf_test_class, big, TP_PROTO(int v), TP_ARGS(v), TP_CONDITION(v > 100));
JF_TRACE_EVENT_CONDITION(odd,
	TP_PROTO(int v),
	TP_ARGS(v),
	TP_CONDITION(v & 1),
	TP_STRUCT__entry(__field(int, v)),
	TP_fast_assign(__entry->v = v;),
	TP_printk("v=%d", __entry->v)
);

/* Forgets its string. */
JF_TRACE_EVENT(forgets,
	TP_PROTO(const char *text),
	TP_ARGS(text),
	TP_STRUCT__entry(__string(text, text)),
	TP_fast_assign(if (*text == 'a') __assign_str(text);),
	TP_printk("%s", __get_str(text))
);

#endif /* JF_TEST_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events
#include <jumpfunc/define_trace.h>
