/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions in kernels without patching: a function pointer.
 * Included by dynfunc.h only.
 *
 * dynfunc_name is the first field of struct jf_func under a second name and
 * with its real type, so that a call needs no cast and an update is one store.
 */
#ifndef JUMPFUNC_DYNFUNC_GENERIC_H
#define JUMPFUNC_DYNFUNC_GENERIC_H

#ifndef JUMPFUNC_DYNFUNC_H
#error "include <jumpfunc/dynfunc.h>"
#endif

/* jf_nop() and jf_ret0() would be called as functions of other types. */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#error "jumpfunc calls through pointers on this architecture, and the kernel compares their types (CFI): not supported"
#endif

#define __JF_POINTER(name)	(dynfunc_##name)

#define __JF_DECLARE_CALL(name, func)					\
	extern typeof(func) *dynfunc_##name asm("__jf_func_" #name)

#define __JF_DEFINE_CALL(name, func, target)				\
	__JF_ENT_REC("__jf_func_" #name " + " __stringify(JF_FUNC_ENT),	\
		     "0", "1", "0")

#define __JF_DEFINE_CALL_LOCAL	__JF_DEFINE_CALL

struct __jf_section {
	enum jf_contract	contract;
	int			idx;
};

static inline void __jf_section_end(const struct __jf_section *s)
{
	__jf_leave(s->contract, s->idx);
}

/* The result may be void, so that no code to end the section can follow the call. */
#define dynfunc_call(name, ...)						\
({									\
	struct __jf_section __jf_s __maybe_unused			\
		__attribute__((__cleanup__(__jf_section_end))) = {	\
			__JF_CONTRACT(name),				\
			__jf_enter(__JF_CONTRACT(name)),		\
		};							\
									\
	(READ_ONCE(dynfunc_##name)(__VA_ARGS__));			\
})

#define __JF_EXPORT_CALL(exp, name)	exp(__jf_func_##name)
#define __JF_EXPORT_CALL_ONLY		__JF_EXPORT_CALL

#endif /* JUMPFUNC_DYNFUNC_GENERIC_H */
