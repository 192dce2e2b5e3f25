/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Tracepoints in programs alone: a section around the probes, probe points for debuggers, exports
 * to other objects. Included by tracepoint.h only.
 */
#ifndef JUMPFUNC_TRACEPOINT_USER_H
#define JUMPFUNC_TRACEPOINT_USER_H

#ifndef JUMPFUNC_TRACEPOINT_H
#error "include <jumpfunc/tracepoint.h>"
#endif

/* In a program there are no contracts. */
#define DECLARE_JF_TRACE(name, proto, args)				\
	__DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args),	\
			   __JF_PARAMS(name, args),			\
			   __JF_PARAMS(void *__jf_data, proto),		\
			   __JF_PARAMS(__jf_data, args))

#define DECLARE_JF_TRACE_NOARGS(name)					\
	__DECLARE_JF_TRACE(name, void, , name, void *__jf_data, __jf_data)

/*
 * The section and the call are a function of their own, once in each source file: around
 * the site there is nothing of them, neither registers to save nor another record. gcc saves
 * registers that live across the call of it beside that call. clang does so where the caller
 * begins; so there the function itself saves registers, but not where exceptions may pass through
 * it, since unwinders do not put all of them back.
 */
#ifndef __OPTIMIZE__
/*
 * Nothing is inlined; a function that is only static is emitted, though no code calls it: see
 * __JF_ITER.
 */
#define __JF_TRACE_FAR		inline __attribute__((__cold__, __unused__))
#elif defined(__clang__) && defined(__x86_64__) && !defined(__EXCEPTIONS)
#define __JF_TRACE_FAR							\
	__attribute__((__noinline__, __cold__, __unused__, __preserve_most__))
#else
#define __JF_TRACE_FAR							\
	__attribute__((__noinline__, __cold__, __unused__))
#endif
#define __JF_TRACE_ENTER(name)		__JF_READ_SECTION;
#define __JF_TRACE_LEAVE(name)
#define __JF_TRACE_FLAGS(name)		0

/*
 * Inline: compilers that do not optimise emit static functions that are not inline, and these name
 * the tracepoint.
 */
#define __JF_ITER		inline __JF_UNUSED
#ifdef __x86_64__
#include <jumpfunc/detail/sdt_x86.h>
#ifndef JF_TRACE_PROVIDER
/**
 * JF_TRACE_PROVIDER - the provider's name of the probe points that debuggers find
 *
 * A word, in programs only; define it before including this header.
 */
#define JF_TRACE_PROVIDER	jumpfunc
#endif
#define __JF_TRACE_SDT(...)	__JF_SDT(JF_TRACE_PROVIDER, __VA_ARGS__);
#else
#define __JF_TRACE_SDT(...)
#endif
#define __JF_TRACE_END		NULL, NULL

#define __JF_DECLARE_TRACE_PARTS(name)					\
	__JF_HINT("__jf_on_" #name, "DEFINE_JF_TRACE() or IMPORT_JF_TRACE()") \
	__JF_HINT("__jf_trace_" #name, "DEFINE_JF_TRACE() or IMPORT_JF_TRACE()") \
	__DECLARE_JF_KEY(__jf_on_##name, __JF_KEY_FALSE, 0);		\
	__DECLARE_DYNFUNC(extern, __jf_tp_##name, __jf_iter_##name)

#define EXPORT_JF_TRACE_CALL(name)					\
	EXPORT_JF_KEY(__jf_on_##name);					\
	EXPORT_DYNFUNC(__jf_tp_##name)
#define EXPORT_JF_TRACE(name)						\
	EXPORT_JF_TRACE_CALL(name);					\
	__JF_IMPORT_TRACE(name);					\
	struct jf_tracepoint *const __jf_export_trace_##name __JF_USED = \
		&__jf_trace_##name
#define EXPORT_JF_TRACE_GPL(name)	EXPORT_JF_TRACE(name)
#define EXPORT_JF_TRACE_CALL_GPL(name)	EXPORT_JF_TRACE_CALL(name)
#define IMPORT_JF_TRACE_CALL(name)					\
	IMPORT_JF_KEY(__jf_on_##name);					\
	IMPORT_DYNFUNC(__jf_tp_##name, __jf_iter_##name)
/* The structure only leads to the exporter's. */
#define IMPORT_JF_TRACE(name)						\
	IMPORT_JF_TRACE_CALL(name);					\
	__JF_IMPORT_TRACE(name);					\
	struct jf_tracepoint __jf_trace_##name __JF_USED = {		\
		#name, __JF_THIS, &__jf_on_##name,			\
		&__jf_func___jf_tp_##name, NULL, __jf_nargs_##name,	\
		NULL, NULL, NULL, &__jf_export_trace_##name		\
	}
#define __JF_IMPORT_TRACE(name)						\
	extern struct jf_tracepoint *const __jf_export_trace_##name	\
		__asm__("__jf_export_trace_" #name)			\
		__attribute__((__visibility__("default")))

#endif /* JUMPFUNC_TRACEPOINT_USER_H */
