/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Jump labels in programs on x86-64: the branch site. Included by branch.h only.
 *
 * As compiled, a site and its test:
 *
 *	site:	jmp	test		THE SITE: five bytes, jmp other or a nop: "test
 *		...			$imm32,%eax" with the same operand, for flags
 *					are not kept from here on, or nopl
 *	test:	load, compare, branch	by the compiler, wherever it likes
 *
 * The compiler knows both ways out of the site, so both are ordinary code of
 * this function: with its frame, its unwind information and its shadow stack.
 * "other" is in the record, and nothing has to be decoded.
 *
 * This is a macro down to the asm statement, and not a function, so that the
 * key is a constant also without optimisation. Wrappers that pass the key on
 * as an argument have to be always_inline, and optimised.
 */
#ifndef JUMPFUNC_BRANCH_USER_X86_H
#define JUMPFUNC_BRANCH_USER_X86_H

#ifndef JUMPFUNC_BRANCH_H
#error "include <jumpfunc/branch.h>"
#endif

/* @straight: what the branch is while nothing is in the way. */
#define __jf_branch_body(key, straight, result)				\
	__label__ __jf_test, __jf_other;				\
									\
	__asm__ goto("771:\n\t"						\
		     ".byte 0xe9\n\t"					\
		     ".long %l[__jf_test] - (. + 4)\n\t"		\
		     __JF_SITE_REC_USER("%l[__jf_other]",		\
					"%c[jf_key] + %c[jf_ent]",	\
					"%c[jf_flags]")			\
		     : : [jf_key] "i" (key),				\
			 [jf_ent] "i" (offsetof(struct jf_key, ent)),	\
			 [jf_flags] "i" (JF_SITE_BRANCH |		\
				((straight) ? JF_SITE_BRANCH_INV : 0))	\
		     : : __jf_test, __jf_other);			\
	result(straight);						\
__jf_test:								\
	if (!!__JF_LOAD((key)->enabled) == (straight))			\
		result(straight);					\
__jf_other:								\
	result(!(straight))

/*
 * clang before version 17 takes each asm goto of a function for one that may
 * jump to the labels of all others, which C++ forbids past an initialised
 * variable. A lambda is a function of its own.
 */
#if defined(__clang__) && defined(__cplusplus)
#define __jf_branch_return(is)	return is
#define __jf_branch(key, straight)					\
	([&]() __attribute__((__always_inline__)) -> bool {		\
		__jf_branch_body(key, straight, __jf_branch_return);	\
	}())
#else
#define __jf_branch_goto(is)						\
	do {								\
		__jf_is = (is);						\
		goto __jf_out;						\
	} while (0)
#define __jf_branch(key, straight)					\
__extension__ ({							\
	__label__ __jf_out;						\
	bool __jf_is;							\
									\
	{								\
		__jf_branch_body(key, straight, __jf_branch_goto);	\
	}								\
__jf_out:								\
	__jf_is;							\
})
#endif

#define __jf_branch_unlikely(key)	__jf_branch(key, false)
#define __jf_branch_likely(key)		__jf_branch(key, true)

#endif /* JUMPFUNC_BRANCH_USER_X86_H */
