/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Providers of LTTng-UST, recorded by libjumpfunc-trace: in the place of <lttng/tracepoint.h>, for sources
 * that stay as they are. Compile with -I.../include/jumpfunc-lttng before LTTng's own headers, and link with
 * -ljumpfunc-trace -ljumpfunc in the place of -llttng-ust.
 *
 * What is understood: LTTNG_UST_TRACEPOINT_EVENT(), _EVENT_CLASS(), _EVENT_INSTANCE(), lttng_ust_tracepoint(),
 * lttng_ust_do_tracepoint(), lttng_ust_tracepoint_enabled(), and the names that these had before 2.13; the fields
 * integer, integer_hex, float, string, array, array_text, sequence, sequence_text, enum (as its number), in
 * either spelling. Log levels, model URIs and _nowrite fields are dropped.
 *
 * What is not: arguments that are floating-point numbers or structures (fields may be made of what a pointer
 * leads to), integer_network, array_hex and sequence_hex and the like, LTTNG_UST_TRACEPOINT_ENUM(), providers in an object that is only
 * preloaded (PROBE_DYNAMIC_LINKAGE), tracef(), tracelog(), contexts, filters. A source file has either this
 * header or events of JF_TRACE_EVENT(), not both.
 */
#ifndef JF_LTTNG_TRACEPOINT_H
#define JF_LTTNG_TRACEPOINT_H

#include <string.h>

#include <jumpfunc/trace_event.h>

/* Of another meaning in these sources. */
#undef TP_ARGS
#define LTTNG_UST_TP_ARGS(...)		(__VA_ARGS__)
#define LTTNG_UST_TP_FIELDS(...)	__VA_ARGS__
#define TP_ARGS(...)			(__VA_ARGS__)
#define TP_FIELDS(...)			__VA_ARGS__

/* Types and names take turns, up to ten of each. */
#define __JF_LTTNG_NUM(...)						\
	__JF_LTTNG_NUM_(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, \
			10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define __JF_LTTNG_NUM_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, \
			_13, _14, _15, _16, _17, _18, _19, _20, n, ...) n
#define __JF_LTTNG_PROTO_2(t1, n1)	\
	t1 n1
#define __JF_LTTNG_NAMES_2(t1, n1)	\
	n1
#define __JF_LTTNG_PROTO_4(t1, n1, t2, n2)	\
	t1 n1, t2 n2
#define __JF_LTTNG_NAMES_4(t1, n1, t2, n2)	\
	n1, n2
#define __JF_LTTNG_PROTO_6(t1, n1, t2, n2, t3, n3)	\
	t1 n1, t2 n2, t3 n3
#define __JF_LTTNG_NAMES_6(t1, n1, t2, n2, t3, n3)	\
	n1, n2, n3
#define __JF_LTTNG_PROTO_8(t1, n1, t2, n2, t3, n3, t4, n4)	\
	t1 n1, t2 n2, t3 n3, t4 n4
#define __JF_LTTNG_NAMES_8(t1, n1, t2, n2, t3, n3, t4, n4)	\
	n1, n2, n3, n4
#define __JF_LTTNG_PROTO_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5)	\
	t1 n1, t2 n2, t3 n3, t4 n4, t5 n5
#define __JF_LTTNG_NAMES_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5)	\
	n1, n2, n3, n4, n5
#define __JF_LTTNG_PROTO_12(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6)	\
	t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6
#define __JF_LTTNG_NAMES_12(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6)	\
	n1, n2, n3, n4, n5, n6
#define __JF_LTTNG_PROTO_14(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7)	\
	t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7
#define __JF_LTTNG_NAMES_14(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7)	\
	n1, n2, n3, n4, n5, n6, n7
#define __JF_LTTNG_PROTO_16(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8)	\
	t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7, t8 n8
#define __JF_LTTNG_NAMES_16(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8)	\
	n1, n2, n3, n4, n5, n6, n7, n8
#define __JF_LTTNG_PROTO_18(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9)	\
	t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7, t8 n8, t9 n9
#define __JF_LTTNG_NAMES_18(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9)	\
	n1, n2, n3, n4, n5, n6, n7, n8, n9
#define __JF_LTTNG_PROTO_20(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, n10)	\
	t1 n1, t2 n2, t3 n3, t4 n4, t5 n5, t6 n6, t7 n7, t8 n8, t9 n9, t10 n10
#define __JF_LTTNG_NAMES_20(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, n10)	\
	n1, n2, n3, n4, n5, n6, n7, n8, n9, n10
/* Nothing, or void. */
#define __JF_LTTNG_PROTO_1(none)	void
#define __JF_LTTNG_NAMES_1(none)
#define __JF_LTTNG_PROTO(...)						\
	__JF_CAT(__JF_LTTNG_PROTO_, __JF_LTTNG_NUM(__VA_ARGS__))(__VA_ARGS__)
#define __JF_LTTNG_NAMES(...)						\
	__JF_CAT(__JF_LTTNG_NAMES_, __JF_LTTNG_NUM(__VA_ARGS__))(__VA_ARGS__)
/* @m(...), or with another name if there are no arguments. */
#define __JF_LTTNG_PICK(m, ...)						\
	__JF_LTTNG_PICK_1(m, __JF_CAT(__JF_LTTNG_NONE_, __JF_LTTNG_NUM(__VA_ARGS__)))
#define __JF_LTTNG_PICK_1(m, which)	__JF_LTTNG_PICK_2(m, which)
#define __JF_LTTNG_PICK_2(m, which)	m##which
#define __JF_LTTNG_NONE_1	_none
#define __JF_LTTNG_NONE_2	_some
#define __JF_LTTNG_NONE_3	_some
#define __JF_LTTNG_NONE_4	_some
#define __JF_LTTNG_NONE_5	_some
#define __JF_LTTNG_NONE_6	_some
#define __JF_LTTNG_NONE_7	_some
#define __JF_LTTNG_NONE_8	_some
#define __JF_LTTNG_NONE_9	_some
#define __JF_LTTNG_NONE_10	_some
#define __JF_LTTNG_NONE_11	_some
#define __JF_LTTNG_NONE_12	_some
#define __JF_LTTNG_NONE_13	_some
#define __JF_LTTNG_NONE_14	_some
#define __JF_LTTNG_NONE_15	_some
#define __JF_LTTNG_NONE_16	_some
#define __JF_LTTNG_NONE_17	_some
#define __JF_LTTNG_NONE_18	_some
#define __JF_LTTNG_NONE_19	_some
#define __JF_LTTNG_NONE_20	_some

#define __JF_LTTNG_NAME(provider, name)	provider##___##name
#define __JF_LTTNG_DECLARE_some(name, ...)				\
	DECLARE_JF_TRACE(name, __JF_PARAMS(__JF_LTTNG_PROTO(__VA_ARGS__)), \
			 __JF_PARAMS(__JF_LTTNG_NAMES(__VA_ARGS__)))
#define __JF_LTTNG_DECLARE_none(name, ...)	DECLARE_JF_TRACE_NOARGS(name)
#define __JF_LTTNG_DECLARE(name, args)					\
	__JF_LTTNG_DECLARE_1(name, __JF_PARAMS args)
#define __JF_LTTNG_DECLARE_1(name, ...)					\
	__JF_LTTNG_PICK(__JF_LTTNG_DECLARE, __VA_ARGS__)(name, __VA_ARGS__);

/* As in LTTng-UST arguments are evaluated only while the event is on. */
#define lttng_ust_tracepoint(provider, name, ...)			\
	jf_trace(provider##___##name, ##__VA_ARGS__)
#define lttng_ust_do_tracepoint(provider, name, ...)			\
	__jf_trace_call_##provider##___##name(__VA_ARGS__)
#define lttng_ust_tracepoint_enabled(provider, name)			\
	jf_trace_##provider##___##name##_enabled()
#define tracepoint			lttng_ust_tracepoint
#define do_tracepoint			lttng_ust_do_tracepoint
#define tracepoint_enabled		lttng_ust_tracepoint_enabled

/* What an event is where its header is included; <lttng/tracepoint-event.h> has the other meanings. */
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields)	\
	__JF_LTTNG_DECLARE(provider##___##name, args)
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_, provider, name, args) \
	__JF_LTTNG_DECLARE(provider##___##name, args)
#define TRACEPOINT_EVENT(provider, name, args, fields)			\
	LTTNG_UST_TRACEPOINT_EVENT(provider, name, __JF_PARAMS(args), __JF_PARAMS(fields))
#define TRACEPOINT_EVENT_CLASS(provider, name, args, fields)		\
	LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, __JF_PARAMS(args), __JF_PARAMS(fields))
#define TRACEPOINT_EVENT_INSTANCE(provider, class_, name, args)		\
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, class_, provider, name, __JF_PARAMS(args))
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)
#define TRACEPOINT_LOGLEVEL(provider, name, level)
#define TRACEPOINT_MODEL_EMF_URI(provider, name, uri)

#endif /* JF_LTTNG_TRACEPOINT_H */
