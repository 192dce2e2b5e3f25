/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The end of a header with events: each JF_TRACE_EVENT() becomes code. It stands
 * where <trace/define_trace.h> would in a header with TRACE_EVENT(): see
 * trace_event.h. It reads that header once more than the kernel's does, and
 * therefore has no include guard.
 *
 * TRACE_INCLUDE_PATH must be given, relative to a folder where the compiler
 * looks for headers (-I). In this pass it is not relative to the kernel's
 * include/trace.
 */
#ifdef CREATE_TRACE_POINTS

#ifndef TRACE_INCLUDE_PATH
#error "define TRACE_INCLUDE_PATH: the folder of the header, as the compiler's -I sees it"
#endif
#ifndef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE TRACE_SYSTEM
#define __JF_EVENT_UNDEF_FILE
#endif

#define __JF_EVENT_HEADER_1(path, file)	<path/file.h>
#define __JF_EVENT_HEADER(path, file)	__JF_EVENT_HEADER_1(path, file)
/* sparse expands no macro there. */
#ifndef __CHECKER__
#if !__has_include(__JF_EVENT_HEADER(TRACE_INCLUDE_PATH, TRACE_INCLUDE_FILE))
#ifdef __KERNEL__
#error "TRACE_INCLUDE_PATH: no such file; in a Kbuild: ccflags-y += -I$(src)"
#else
#error "TRACE_INCLUDE_PATH: no such file; the compiler needs -I with the folder that the path begins in"
#endif
#endif
#endif

#ifndef __KERNEL__
#include <jumpfunc/detail/define_trace_user.h>
#else
/*
 * Our pass. The kernel's macros for events do nothing in it;
 * <trace/define_trace.h> gives all of these a new meaning before it reads the
 * header again.
 */
#undef CREATE_TRACE_POINTS
#define TRACE_HEADER_MULTI_READ
#define __JF_EVENT_PASS
#undef JF_TRACE_EVENT
#define JF_TRACE_EVENT		__JF_EVENT_CONNECT
#undef JF_DEFINE_EVENT
#define JF_DEFINE_EVENT		__JF_EVENT_CONNECT_OF
#undef JF_TRACE_EVENT_CONDITION
#define JF_TRACE_EVENT_CONDITION	__JF_EVENT_CONNECT_COND
#undef JF_DEFINE_EVENT_CONDITION
#define JF_DEFINE_EVENT_CONDITION	__JF_EVENT_CONNECT_OF_COND
#undef TRACE_EVENT
#define TRACE_EVENT(...)
#undef TRACE_EVENT_FN
#define TRACE_EVENT_FN(...)
#undef TRACE_EVENT_FN_COND
#define TRACE_EVENT_FN_COND(...)
#undef TRACE_EVENT_CONDITION
#define TRACE_EVENT_CONDITION(...)
#undef DEFINE_EVENT
#define DEFINE_EVENT(...)
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(...)
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(...)
#undef DEFINE_EVENT_CONDITION
#define DEFINE_EVENT_CONDITION(...)
#undef TRACE_EVENT_SYSCALL
#define TRACE_EVENT_SYSCALL(...)
#undef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT(...)
#undef DECLARE_TRACE_EVENT_CONDITION
#define DECLARE_TRACE_EVENT_CONDITION(...)
#undef TRACE_EVENT_NOP
#define TRACE_EVENT_NOP(...)
#undef DEFINE_EVENT_NOP
#define DEFINE_EVENT_NOP(...)
#undef DECLARE_TRACE
#define DECLARE_TRACE(...)
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(...)
/* The kernel's first pass does not define this one: it relies on us. */
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(...)

#include __JF_EVENT_HEADER(TRACE_INCLUDE_PATH, TRACE_INCLUDE_FILE)
#undef TRACE_HEADER_MULTI_READ
/* Kernels that do not have these must not get them from us. */
#undef TRACE_EVENT_SYSCALL
#undef DECLARE_TRACE_EVENT
#undef DECLARE_TRACE_EVENT_CONDITION

/* The kernel's passes. */
#define CREATE_TRACE_POINTS
#undef JF_TRACE_EVENT
#define JF_TRACE_EVENT		__JF_EVENT_DEFINE
#undef JF_DEFINE_EVENT
#define JF_DEFINE_EVENT		__JF_EVENT_DEFINE_OF
#undef JF_TRACE_EVENT_CONDITION
#define JF_TRACE_EVENT_CONDITION	__JF_EVENT_DEFINE_COND
#undef JF_DEFINE_EVENT_CONDITION
#define JF_DEFINE_EVENT_CONDITION	__JF_EVENT_DEFINE_OF_COND
#include <trace/define_trace.h>
#endif /* __KERNEL__ */
#undef __JF_EVENT_HEADER
#undef __JF_EVENT_HEADER_1

/* The next header begins as this one did. */
#undef JF_TRACE_EVENT
#define JF_TRACE_EVENT		__JF_EVENT_DECLARE
#undef JF_DEFINE_EVENT
#define JF_DEFINE_EVENT		__JF_EVENT_DECLARE_OF
#undef JF_TRACE_EVENT_CONDITION
#define JF_TRACE_EVENT_CONDITION	__JF_EVENT_DECLARE_COND
#undef JF_DEFINE_EVENT_CONDITION
#define JF_DEFINE_EVENT_CONDITION	__JF_EVENT_DECLARE_OF_COND
#undef __JF_EVENT_PASS
#ifdef __JF_EVENT_UNDEF_FILE
#undef TRACE_INCLUDE_FILE
#undef __JF_EVENT_UNDEF_FILE
#endif

#endif /* CREATE_TRACE_POINTS */
