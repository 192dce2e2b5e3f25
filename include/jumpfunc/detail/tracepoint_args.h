/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The call of a tracepoint's probes, and the check of its arguments, by their number.
 * Included by tracepoint.h only.
 */
#ifndef JUMPFUNC_TRACEPOINT_ARGS_H
#define JUMPFUNC_TRACEPOINT_ARGS_H

#ifndef JUMPFUNC_TRACEPOINT_H
#error "include <jumpfunc/tracepoint.h>"
#endif

#define __JF_PARAMS(...)	__VA_ARGS__

/*
 * Five arguments and the data fit into registers, and the call is an inline
 * site. More arguments are on the stack, and the call goes through the
 * trampoline.
 */
#define __JF_TRACE_CALL(...)	/* the name, and the arguments */	\
	__JF_CAT(__JF_TRACE_CALL_, __JF_MORE(__VA_ARGS__))(__VA_ARGS__)
#define __JF_TRACE_CALL_0(name)		dynfunc_call(__jf_tp_##name, (void *)NULL)
#define __JF_TRACE_CALL_1(name, ...)					\
	dynfunc_call(__jf_tp_##name, (void *)NULL, __VA_ARGS__)
#define __JF_TRACE_CALL_2	__JF_TRACE_CALL_1
#define __JF_TRACE_CALL_3	__JF_TRACE_CALL_1
#define __JF_TRACE_CALL_4	__JF_TRACE_CALL_1
#define __JF_TRACE_CALL_5	__JF_TRACE_CALL_1
#define __JF_TRACE_CALL_6(name, ...)	dynfunc___jf_tp_##name(NULL, __VA_ARGS__)
#define __JF_TRACE_CALL_7	__JF_TRACE_CALL_6
#define __JF_TRACE_CALL_8	__JF_TRACE_CALL_6
#define __JF_TRACE_CALL_9	__JF_TRACE_CALL_6
#define __JF_TRACE_CALL_10	__JF_TRACE_CALL_6
#define __JF_TRACE_CALL_11	__JF_TRACE_CALL_6
#define __JF_TRACE_CALL_12	__JF_TRACE_CALL_6
#define __JF_TRACE_CALL_13(...)						\
	static_assert(0, "a tracepoint has at most 12 arguments: pass a pointer to a structure")
#define __JF_TRACE_CALL_14	__JF_TRACE_CALL_13
#define __JF_TRACE_CALL_15	__JF_TRACE_CALL_13
#define __JF_TRACE_CALL_16	__JF_TRACE_CALL_13

/*
 * A declaration can have others, which a chain would not keep from one probe to the next. The
 * numbers come from gcc's typeclass.h, from real_type_class on.
 */
#define __JF_TRACE_CHECK(...)	/* the name, and the arguments */	\
	__JF_CAT(__JF_TRACE_CHECK_, __JF_MORE(__VA_ARGS__))(__VA_ARGS__)
#define __JF_TRACE_CHECK_0(name)
#define __JF_TRACE_CHECK_1(name, a)	__JF_TRACE_CHECK_ARG(a)
#define __JF_TRACE_CHECK_2(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_1(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_3(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_2(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_4(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_3(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_5(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_4(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_ARG(a)						\
	__JF_ASSERT(__builtin_classify_type(a) < 8 && sizeof(a) <= 8,	\
		"a tracepoint's arguments are integers, enums and pointers");

#ifdef __KERNEL__
/* On the stack, a chain hands on one word for each of them. */
#define __JF_TRACE_CHECK_6(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_5(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_7(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_6(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_8(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_7(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_9(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_8(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_10(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_9(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_11(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_10(name, __VA_ARGS__)
#define __JF_TRACE_CHECK_12(name, a, ...)				\
	__JF_TRACE_CHECK_ARG(a) __JF_TRACE_CHECK_11(name, __VA_ARGS__)
#else
/* More are not kept in registers. */
#define __JF_TRACE_CHECK_6(...)
#define __JF_TRACE_CHECK_7(...)
#define __JF_TRACE_CHECK_8(...)
#define __JF_TRACE_CHECK_9(...)
#define __JF_TRACE_CHECK_10(...)
#define __JF_TRACE_CHECK_11(...)
#define __JF_TRACE_CHECK_12(...)
#endif

#endif /* JUMPFUNC_TRACEPOINT_ARGS_H */
