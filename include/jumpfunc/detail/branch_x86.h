/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Jump labels on x86-64: the branch site. Included by branch.h only.
 *
 * As compiled, a site and its out-of-line test:
 *
 *	site:	jmp	test		THE SITE: five bytes, nop or jmp other
 *	next:	...
 *
 *		ud2
 *	test:	cmpb	$0, enabled(%rip)
 *		jne	other		(je for jf_branch_likely())
 *		jmp	next
 *
 * All three branches have 32-bit displacements, in bytes, so that the layout is
 * fixed: the core finds "other" in the test's code and needs no record of it.
 * To objtool this is a branch like any other; both sides are reachable.
 *
 * A subsection places the test after all functions of the section that the site
 * is in. So a test for a site in __init or __exit text is freed together with
 * the site, modpost sees no reference between sections, and objtool gives the
 * test unwind data: a stack trace that begins in it is as reliable as any.
 *
 * The ud2 never runs. The site's entry in the exception table leads to it (see
 * site_x86.h). An optimised kprobe cannot cover a ud2, so one in the function
 * before cannot cover the test either.
 */
#ifndef JUMPFUNC_BRANCH_X86_H
#define JUMPFUNC_BRANCH_X86_H

#ifndef JUMPFUNC_BRANCH_H
#error "include <jumpfunc/branch.h>"
#endif

#include <jumpfunc/detail/site_x86.h>

/*
 * The other side begins with this. The compiler may put that side into cold
 * text, which is a symbol of its own, without a site. The kernel's kprobe
 * optimiser looks for jumps into the bytes that it covers only in the probe's
 * own symbol, and the site's jump comes from outside.
 */
#define __JF_LANDING()							\
	asm volatile("771:\n\t"						\
		     "nop\n\t"						\
		     __JF_UD2						\
		     __JF_NO_OPTPROBE)

#define __JF_BRANCH_ASM(jcc)						\
	"771:\n\t"							\
	__JF_NOENDBR							\
	".byte 0xe9\n\t"						\
	".long 772f - (. + 4)\n\t"					\
	".subsection 1\n"						\
	"774:\n\t"							\
	"ud2\n"								\
	"772:\n\t"							\
	"cmpb $0, %c[jf_key](%%rip)\n\t"				\
	".byte 0x0f, " jcc "\n\t"					\
	".long %l[jf_other] - (. + 4)\n\t"				\
	".byte 0xe9\n\t"						\
	".long (771b + 5) - (. + 4)\n\t"				\
	".previous\n\t"						\
	__JF_SITE_REC("%c[jf_key] + %c[jf_ent]", "%c[jf_flags]")

/* jne */
#define __JF_BRANCH(key)						\
	asm goto(__JF_BRANCH_ASM("0x85")				\
		 : : [jf_key] "i" (key),				\
		     [jf_ent] "i" (offsetof(struct jf_key, ent)),	\
		     [jf_flags] "i" (JF_SITE_BRANCH)			\
		 : : jf_other)

/* je */
#define __JF_BRANCH_INV(key)						\
	asm goto(__JF_BRANCH_ASM("0x84")				\
		 : : [jf_key] "i" (key),				\
		     [jf_ent] "i" (offsetof(struct jf_key, ent)),	\
		     [jf_flags] "i" (JF_SITE_BRANCH | JF_SITE_BRANCH_INV) \
		 : : jf_other)

static __always_inline bool __jf_branch_unlikely(struct jf_key * const key)
{
	__JF_BRANCH(key);
	return false;
jf_other:
	__JF_LANDING();
	return true;
}

static __always_inline bool __jf_branch_likely(struct jf_key * const key)
{
	__JF_BRANCH_INV(key);
	return true;
jf_other:
	__JF_LANDING();
	return false;
}

#endif /* JUMPFUNC_BRANCH_X86_H */
