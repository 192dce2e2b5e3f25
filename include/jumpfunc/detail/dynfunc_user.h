/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions in programs whose text is patched: the trampoline and the call site.
 * Included by dynfunc.h only. site_user_x86.h and site_user_arm64.h have the code of a
 * trampoline: a landing pad of indirect branches, THE SITE, and a jump through the pointer.
 * The site leads to that jump as compiled, and for targets that are out of reach: those in
 * other shared objects, most of the time.
 *
 * dynfunc_call() is a call of the trampoline that the compiler makes, with a
 * record of where its code begins. The library finds the instruction from there,
 * and patches it. A call in an asm statement would be easier to find. But the
 * compiler would not know of it: it may keep data below the stack pointer (the
 * red zone), where a call writes; the stack may not be aligned; exceptions would
 * not come through; and arguments would be integers, up to six. At a call of its
 * own none of that is a question. A call that is not found stays as it is.
 */
#ifndef JUMPFUNC_DYNFUNC_USER_H
#define JUMPFUNC_DYNFUNC_USER_H

#ifndef JUMPFUNC_DYNFUNC_H
#error "include <jumpfunc/dynfunc.h>"
#endif

#include <jumpfunc/detail/site_user.h>

#define __JF_POINTER(name)	(&dynfunc_##name)

#define __JF_DECLARE_CALL(name, func)					\
	extern __typeof__(func) dynfunc_##name __JF_SYMBOL("dynfunc_" #name)

#define __JF_DEFINE_CALL(name, func, target)				\
	__JF_TRAMPOLINE(name, NULL)

/* @origin: as in struct jf_ent_rec. */
#define __JF_TRAMPOLINE(name, origin)					\
	__asm__(".pushsection .text.jumpfunc, \"ax\", @progbits\n\t"	\
	    ".p2align 4\n\t"						\
	    ".globl dynfunc_" #name "\n\t"				\
	    ".hidden dynfunc_" #name "\n\t"				\
	    ".type dynfunc_" #name ", @function\n"			\
	    "dynfunc_" #name ":\n\t"					\
	    ".cfi_startproc\n\t"					\
	    __JF_LANDING							\
	    __JF_TRAMPOLINE_CODE("__jf_func_" #name)			\
	    ".cfi_endproc\n\t"						\
	    ".size dynfunc_" #name ", . - dynfunc_" #name "\n\t"	\
	    __JF_SITE_REC_USER("__jf_sites_now", "772b",		\
			       "__jf_func_" #name " + " __JF_STR(JF_FUNC_ENT), \
			       __JF_STR(JF_SITE_TRAMP))			\
	    ".popsection\n\t");					\
	__JF_ENT_REC_USER(func_##name, &__jf_func_##name.ent, origin, 1, \
			  sizeof(struct jf_func))

/*
 * The target of an imported function's pointer until the library knows its object: the present
 * target, by way of the exporter's pointer, which relocations lead to.
 */
#define __JF_FIRST(name)						\
	extern struct jf_ent *const *const __jf_from_##name		\
		__JF_SYMBOL("__jf_from_" #name);			\
	struct jf_ent *const *const __jf_from_##name __JF_USED =	\
		&__jf_export_func_##name;				\
	extern __typeof__(jf_nop) __jf_first_##name			\
		__JF_SYMBOL("__jf_first_" #name);			\
	__asm__(".pushsection .text.jumpfunc, \"ax\", @progbits\n\t"	\
	    ".globl __jf_first_" #name "\n\t"				\
	    ".hidden __jf_first_" #name "\n\t"			\
	    ".type __jf_first_" #name ", @function\n"			\
	    "__jf_first_" #name ":\n\t"				\
	    ".cfi_startproc\n\t"					\
	    __JF_LANDING							\
	    __JF_FIRST_CODE("__jf_from_" #name)				\
	    ".cfi_endproc\n\t"					\
	    ".size __jf_first_" #name ", . - __jf_first_" #name "\n\t" \
	    ".popsection\n\t")

#ifdef __code_model_large__
/* gcc's asm statements cannot name symbols there, and calls are indirect. */
#define __jf_call_1(name)		dynfunc_##name()
#define __jf_call_2(name, ...)		dynfunc_##name(__VA_ARGS__)
#else
/* The call is in no statement, so that temporary arguments live as in any call. */
#define __jf_call_1(name)		(__JF_CALL_REC(name), dynfunc_##name())
#define __jf_call_2(name, ...)						\
	(__JF_CALL_REC(name), dynfunc_##name(__VA_ARGS__))

#define __JF_CALL_REC(name)						\
__extension__ ({							\
	__asm__ __volatile__("771:\n\t"					\
		__JF_SITE_REC_USER("__jf_sites", "%c[jf_tramp]",	\
				   "%c[jf_func] + " __JF_STR(JF_FUNC_ENT), \
				   __JF_STR(JF_SITE_CALL))		\
		: : [jf_tramp] __JF_SITE_SYMBOL (&dynfunc_##name),			\
		    [jf_func] __JF_SITE_SYMBOL (&__jf_func_##name));			\
})
#endif
/* The name, and the arguments. */
#define dynfunc_call(...)		__JF_BY_NUMBER(__jf_call_, __VA_ARGS__)

#endif /* JUMPFUNC_DYNFUNC_USER_H */
