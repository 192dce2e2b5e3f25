/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Jump labels on arm64: the branch site. Included by branch.h only.
 *
 * As compiled, a site and its out-of-line test:
 *
 *	site:	b	test		THE SITE: nop or b other
 *	next:	...
 *
 *	test:	adrp	x16, enabled
 *		ldrb	w16, [x16, #:lo12:enabled]
 *		cbz	w16, 1f		(cbnz for jf_branch_likely())
 *		b	other
 *	1:	b	next
 *
 * The core finds "other" in the test's code, by its fixed layout, and needs no record of
 * it. (The loader may make something else of the adrp, for an erratum of Cortex-A53.)
 *
 * A subsection places the test after all functions of the section that the site
 * is in. So a test for a site in __init or __exit text is freed together with
 * the site, and modpost sees no reference between sections. It is far enough for any
 * module's text: each way is a B, which reaches 128 MiB.
 */
#ifndef JUMPFUNC_BRANCH_ARM64_H
#define JUMPFUNC_BRANCH_ARM64_H

#ifndef JUMPFUNC_BRANCH_H
#error "include <jumpfunc/branch.h>"
#endif

#include <jumpfunc/detail/site_arm64.h>

#define __JF_BRANCH_ASM(cbz)						\
	"771:\n\t"							\
	"b 772f\n\t"							\
	".subsection 1\n"						\
	"772:\n\t"							\
	"adrp x16, %c[jf_key]\n\t"					\
	"ldrb w16, [x16, #:lo12:%c[jf_key]]\n\t"			\
	cbz " w16, 774f\n\t"						\
	"b %l[jf_other]\n"						\
	"774:\n\t"							\
	"b 771b + 4\n\t"						\
	".previous\n\t"							\
	__JF_SITE_REC("%c[jf_key] + %c[jf_ent]", "%c[jf_flags]")

#define __JF_BRANCH_AS(key, cbz, flags)					\
	asm goto(__JF_BRANCH_ASM(cbz)					\
		 : : [jf_key] "i" (key),				\
		     [jf_ent] "i" (offsetof(struct jf_key, ent)),	\
		     [jf_flags] "i" (flags)				\
		 : "x16" : jf_other)

static __always_inline bool __jf_branch_unlikely(struct jf_key * const key)
{
	__JF_BRANCH_AS(key, "cbz", JF_SITE_BRANCH);
	return false;
jf_other:
	return true;
}

static __always_inline bool __jf_branch_likely(struct jf_key * const key)
{
	__JF_BRANCH_AS(key, "cbnz", JF_SITE_BRANCH | JF_SITE_BRANCH_INV);
	return true;
jf_other:
	return false;
}

#endif /* JUMPFUNC_BRANCH_ARM64_H */
