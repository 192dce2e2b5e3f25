/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Jump labels in programs whose text is patched: the branch site. Included by branch.h only.
 *
 * As compiled, a site stands for the first value of its key:
 *
 *	site:	nop		THE SITE, or a jump to other; site_user_x86.h and
 *		...		site_user_arm64.h have both. While it changes flags may
 *	other:	...		not be kept
 *
 * The key's type says which value that is (branch.h). Where it does not, for a key that a
 * function has as a parameter, and everywhere with -DJF_TESTED, a site leads to a test:
 *
 *	site:	jump to test
 *		...
 *	test:	load, compare, branch	by the compiler, wherever it likes
 *
 * The compiler knows all ways out of the site, so all are ordinary code of
 * this function: with its frame, its unwind information and its shadow stack.
 * "other" is in the record, and nothing has to be decoded.
 *
 * A nop says neither of which key it is nor where "other" is. Linkers that look for
 * functions that are the same (--icf) compare relocations, so there are two for that,
 * which change nothing.
 *
 * This is a macro down to the asm statement, and not a function, so that the
 * key is a constant also without optimisation. Wrappers that pass the key on
 * as an argument have to be always_inline, and optimised.
 */
#ifndef JUMPFUNC_BRANCH_USER_H
#define JUMPFUNC_BRANCH_USER_H

#ifndef JUMPFUNC_BRANCH_H
#error "include <jumpfunc/branch.h>"
#endif

#include <jumpfunc/detail/site_user.h>

#ifdef JF_TESTED
#define __JF_KEY_KNOWN(key)	false
#else
#define __JF_KEY_KNOWN(key)	(__JF_KEY_ALIGN(key) >= __JF_ALIGN_FALSE)
#endif
/* Of one that is known. */
#define __JF_KEY_FIRST(key)	(__JF_KEY_ALIGN(key) >= __JF_ALIGN_TRUE)

#define __JF_BRANCH_FLAGS(straight)					\
	(JF_SITE_BRANCH | __JF_SITE_PREFIX_FLAG | ((straight) ? JF_SITE_BRANCH_INV : 0))

/* @straight: the branch's result if its instruction is a nop. */
#define __jf_branch_body(key, straight, result)				\
	__label__ __jf_test, __jf_other;				\
									\
	if (__JF_KEY_KNOWN(key)) {					\
		__asm__ __inline__ goto(__JF_SITE_PREFIX "771:\n\t"			\
			     ".if %c[jf_first] == %c[jf_straight]\n\t"	\
			     __JF_SITE_NOP				\
			     ".else\n\t"				\
			     __JF_SITE_JUMP("%l[__jf_other]")		\
			     ".endif\n\t"				\
			     ".reloc 771b, " __JF_SITE_NONE ", %c[jf_key]\n\t" \
			     ".reloc 771b, " __JF_SITE_NONE ", %l[__jf_other]\n\t" \
			     ".if %c[jf_first]\n\t"			\
			     __JF_SITE_REC_USER("__jf_sites_on",	\
						"%l[__jf_other]",	\
						"%c[jf_key] + %c[jf_ent]", \
						"%c[jf_flags]")		\
			     ".else\n\t"				\
			     __JF_SITE_REC_USER("__jf_sites",		\
						"%l[__jf_other]",	\
						"%c[jf_key] + %c[jf_ent]", \
						"%c[jf_flags]")		\
			     ".endif\n\t"				\
			     : : [jf_key] __JF_SITE_SYMBOL (key),			\
				 [jf_ent] "i" (offsetof(struct jf_key, ent)), \
				 [jf_first] "i" ((int)__JF_KEY_FIRST(key)), \
				 [jf_straight] "i" ((int)(straight)),	\
				 [jf_flags] "i" (__JF_BRANCH_FLAGS(straight) | \
					(__JF_KEY_FIRST(key) ? JF_SITE_ON : 0)) \
			     : "cc" : __jf_other);			\
		result(straight);					\
	}								\
	__asm__ __inline__ goto(__JF_SITE_PREFIX "771:\n\t"				\
		     __JF_SITE_JUMP("%l[__jf_test]")			\
		     __JF_SITE_REC_USER("__jf_sites_now",		\
					"%l[__jf_other]",		\
					"%c[jf_key] + %c[jf_ent]",	\
					"%c[jf_flags]")			\
		     : : [jf_key] __JF_SITE_SYMBOL (key),				\
			 [jf_ent] "i" (offsetof(struct jf_key, ent)),	\
			 [jf_flags] "i" (__JF_BRANCH_FLAGS(straight) |	\
					 JF_SITE_TESTED)		\
		     : "cc" : __jf_test, __jf_other);			\
	result(straight);						\
__jf_test:								\
	if (!!__JF_SITE_LOAD((key)->enabled) == (straight))			\
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

#endif /* JUMPFUNC_BRANCH_USER_H */
