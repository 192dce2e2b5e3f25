/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Providers of LTTng-UST, recorded by libjumpfunc-trace: in the place of <lttng/tracepoint.h>, for
 * sources that stay as they are. Compile with -I.../include/jumpfunc-lttng before LTTng's own
 * headers, and link with -ljumpfunc-trace -ljumpfunc in the place of -llttng-ust.
 *
 * Supported: all words of LTTng-UST 2.13 for events, classes, instances, enumerations, fields and
 * log levels, and the names that these had before. Model URIs and _nowrite fields are dropped.
 *
 * Programs whose provider comes by LD_PRELOAD or dlopen() (PROBE_DYNAMIC_LINKAGE) are linked with
 * the libraries, too. tracef() and tracelog() are in <lttng/tracef.h> and <lttng/tracelog.h>, of
 * this folder.
 *
 * Not supported: contexts, filters.
 * A source file has either this header or events of JF_TRACE_EVENT(), not both.
 */
#ifndef JF_LTTNG_TRACEPOINT_H
#define JF_LTTNG_TRACEPOINT_H

/* LTTng's header has them, and sources rely on it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

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
/* True if a chain of probes can pass arguments of all these types on. */
#define __JF_LTTNG_PLAIN_2(t1, n1)	\
	(__JF_LTTNG_PLAIN(t1))
#define __JF_LTTNG_PLAIN_4(t1, n1, t2, n2)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2))
#define __JF_LTTNG_PLAIN_6(t1, n1, t2, n2, t3, n3)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3))
#define __JF_LTTNG_PLAIN_8(t1, n1, t2, n2, t3, n3, t4, n4)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3) && __JF_LTTNG_PLAIN(t4))
#define __JF_LTTNG_PLAIN_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3) && __JF_LTTNG_PLAIN(t4) && __JF_LTTNG_PLAIN(t5))
#define __JF_LTTNG_PLAIN_12(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3) && __JF_LTTNG_PLAIN(t4) && __JF_LTTNG_PLAIN(t5) && __JF_LTTNG_PLAIN(t6))
#define __JF_LTTNG_PLAIN_14(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3) && __JF_LTTNG_PLAIN(t4) && __JF_LTTNG_PLAIN(t5) && __JF_LTTNG_PLAIN(t6) && __JF_LTTNG_PLAIN(t7))
#define __JF_LTTNG_PLAIN_16(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3) && __JF_LTTNG_PLAIN(t4) && __JF_LTTNG_PLAIN(t5) && __JF_LTTNG_PLAIN(t6) && __JF_LTTNG_PLAIN(t7) && __JF_LTTNG_PLAIN(t8))
#define __JF_LTTNG_PLAIN_18(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3) && __JF_LTTNG_PLAIN(t4) && __JF_LTTNG_PLAIN(t5) && __JF_LTTNG_PLAIN(t6) && __JF_LTTNG_PLAIN(t7) && __JF_LTTNG_PLAIN(t8) && __JF_LTTNG_PLAIN(t9))
#define __JF_LTTNG_PLAIN_20(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, n10)	\
	(__JF_LTTNG_PLAIN(t1) && __JF_LTTNG_PLAIN(t2) && __JF_LTTNG_PLAIN(t3) && __JF_LTTNG_PLAIN(t4) && __JF_LTTNG_PLAIN(t5) && __JF_LTTNG_PLAIN(t6) && __JF_LTTNG_PLAIN(t7) && __JF_LTTNG_PLAIN(t8) && __JF_LTTNG_PLAIN(t9) && __JF_LTTNG_PLAIN(t10))
#define __JF_LTTNG_PLAINS(...)						\
	__JF_CAT(__JF_LTTNG_PLAIN_, __JF_LTTNG_NUM(__VA_ARGS__))(__VA_ARGS__)
#ifdef __cplusplus
extern "C++" {
template <typename T> struct __jf_lttng_plain {
	enum { value = __builtin_classify_type(*(T *)0) < 8 && sizeof(T) <= 8 };
};
/* Handed on as pointers. */
template <typename T> struct __jf_lttng_plain<T &> { enum { value = 1 }; };
template <typename T> struct __jf_lttng_plain<T &&> { enum { value = 1 }; };
}
#define __JF_LTTNG_PLAIN(type)	(__jf_lttng_plain<type>::value != 0)
#else
#define __JF_LTTNG_PLAIN(type)						\
	(__builtin_classify_type(*(type *)0) < 8 && sizeof(type) <= 8)
#endif
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
/*
 * Floating-point numbers and structures are in other registers, or on the stack: no chain of probes
 * hands them on.
 */
#define __JF_LTTNG_DECLARE_some(name, ...)				\
	__JF_LTTNG_DECLARE_OF(name, __JF_PARAMS(__JF_LTTNG_PROTO(__VA_ARGS__)), \
			      __JF_PARAMS(__JF_LTTNG_NAMES(__VA_ARGS__)), \
			      __JF_LTTNG_PLAINS(__VA_ARGS__))
#define __JF_LTTNG_DECLARE_OF(name, proto, args, plain)			\
	__DECLARE_JF_TRACE_OF(name, __JF_PARAMS(proto), __JF_PARAMS(args), \
			      __JF_PARAMS(name, args),			\
			      __JF_PARAMS(void *__jf_data, proto),	\
			      __JF_PARAMS(__jf_data, args),		\
			      (plain ? __JF_MORE(name, args) : 16), )
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

/*
 * A provider's words; they stay, and the four of them that do the work change:
 * <lttng/tracepoint-event.h>.
 */
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields)	\
	LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, __JF_PARAMS(args), __JF_PARAMS(fields)) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, name, provider, name, __JF_PARAMS(args))
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)	\
	__jf_lttng_class(provider, name, __JF_PARAMS(args), __JF_PARAMS(fields))
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_, provider, name, args) \
	__jf_lttng_instance(class_provider, class_, provider, name, __JF_PARAMS(args))
#define LTTNG_UST_TRACEPOINT_ENUM(provider, name, values)		\
	__jf_lttng_enum(provider, name, __JF_PARAMS(values))
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, level)		\
	__jf_lttng_level(provider, name, level)
#define LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(provider, name, uri)
#define LTTNG_UST_TP_ENUM_VALUES(...)	__VA_ARGS__
#define TRACEPOINT_EVENT		LTTNG_UST_TRACEPOINT_EVENT
#define TRACEPOINT_EVENT_CLASS		LTTNG_UST_TRACEPOINT_EVENT_CLASS
#define TRACEPOINT_EVENT_INSTANCE(provider, class_, name, args)		\
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, class_, provider, name, __JF_PARAMS(args))
#define TRACEPOINT_ENUM			LTTNG_UST_TRACEPOINT_ENUM
#define TRACEPOINT_LOGLEVEL		LTTNG_UST_TRACEPOINT_LOGLEVEL
#define TRACEPOINT_MODEL_EMF_URI	LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#define TP_ENUM_VALUES			LTTNG_UST_TP_ENUM_VALUES

/* Their expansion where the header is included. */
#define __jf_lttng_class(provider, name, args, fields)
#define __jf_lttng_instance(class_provider, class_, provider, name, args) \
	__JF_LTTNG_DECLARE(provider##___##name, args)			\
	__jf_lttng_place(provider, name, args)
#define __jf_lttng_enum(provider, name, values)
#define __jf_lttng_level(provider, name, level)

/* Numbers of a trace. */
enum {
	LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG		= 0,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT		= 1,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT		= 2,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR		= 3,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING		= 4,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE		= 5,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO		= 6,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM	= 7,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM	= 8,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS	= 9,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE	= 10,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT	= 11,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION	= 12,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE	= 13,
	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG		= 14
};

#define TRACE_EMERG		LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG
#define TRACE_ALERT		LTTNG_UST_TRACEPOINT_LOGLEVEL_ALERT
#define TRACE_CRIT		LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT
#define TRACE_ERR		LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR
#define TRACE_WARNING		LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING
#define TRACE_NOTICE		LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE
#define TRACE_INFO		LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO
#define TRACE_DEBUG_SYSTEM	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_SYSTEM
#define TRACE_DEBUG_PROGRAM	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROGRAM
#define TRACE_DEBUG_PROCESS	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_PROCESS
#define TRACE_DEBUG_MODULE	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_MODULE
#define TRACE_DEBUG_UNIT	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_UNIT
#define TRACE_DEBUG_FUNCTION	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION
#define TRACE_DEBUG_LINE	LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE
#define TRACE_DEBUG		LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG

#endif /* JF_LTTNG_TRACEPOINT_H */

/*
 * Each object, a program or a shared one, has tracepoints of its own, in the one source file that
 * defines TRACEPOINT_DEFINE. The library joins them with the event, which may be in another object
 * that comes later, by its name.
 */
#undef __jf_lttng_place
#if defined(LTTNG_UST_TRACEPOINT_DEFINE) || defined(TRACEPOINT_DEFINE)
#define __jf_lttng_place(provider, name, args)				\
	DEFINE_JF_TRACE(provider##___##name);				\
	static struct jf_place __jf_place_##provider##___##name = {	\
		JF_EVENT_VERSION, #provider, #name, __JF_STR(args),	\
		&__jf_trace_##provider##___##name, NULL			\
	};								\
	__attribute__((__constructor__, __used__))			\
	static void __jf_place_load_##provider##___##name(void)		\
	{								\
		__jf_place_register(&__jf_place_##provider##___##name);	\
	}								\
	__attribute__((__destructor__, __used__))			\
	static void __jf_place_unload_##provider##___##name(void)	\
	{								\
		__jf_place_unregister(&__jf_place_##provider##___##name);	\
	}
#else
#define __jf_lttng_place(provider, name, args)
#endif
