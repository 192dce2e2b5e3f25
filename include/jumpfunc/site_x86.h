/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What call sites and branch sites on x86-64 have in common. Not for users.
 */
#ifndef JUMPFUNC_SITE_X86_H
#define JUMPFUNC_SITE_X86_H

#include <linux/bug.h>
#if __has_include(<linux/objtool.h>)
#include <linux/objtool.h>
#endif
#include <asm/asm.h>

#ifndef CONFIG_GENERIC_BUG
#error "jumpfunc keeps kprobes off its sites with CONFIG_GENERIC_BUG"
#endif

/* Tells objtool that the table's reference to a site is no indirect call. */
#ifdef ANNOTATE_NOENDBR
#define __JF_NOENDBR	ANNOTATE_NOENDBR "\n\t"
#else
#define __JF_NOENDBR
#endif

#ifdef CONFIG_X86_KERNEL_IBT
#define __JF_ENDBR	".byte 0xf3, 0x0f, 0x1e, 0xfa\n\t"	/* endbr64 */
#else
#define __JF_ENDBR
#endif

#if defined(CONFIG_RETPOLINE) || defined(CONFIG_MITIGATION_RETPOLINE)
#define __JF_JMP_R11	"jmp __x86_indirect_thunk_r11\n\t"
#else
#define __JF_JMP_R11	"jmp *%r11\n\t"
#endif

#ifdef CONFIG_GENERIC_BUG_RELATIVE_POINTERS
#define __JF_BUG_ADDR(site)	".long " site " - 773b\n\t"
#else
#define __JF_BUG_ADDR(site)	".quad " site "\n\t"
#endif

/* A struct jf_site_rec, and the record that keeps kprobes off. */
#define __JF_SITE_REC(site, ent, flags)					\
	__JF_SECTION("__jf_sites", 1)					\
	".balign 8\n\t"							\
	".long " site " - .\n\t"					\
	".long " flags "\n\t"						\
	".quad " ent "\n\t"						\
	".popsection\n\t"						\
	".pushsection __bug_table, \"aw\", @progbits\n\t"		\
	".balign 4\n"							\
	"773:\n\t"							\
	__JF_BUG_ADDR(site)						\
	".org 773b + %c[jf_bug_size]\n\t"				\
	".popsection\n\t"

#define __JF_SITE_REC_IN						\
	[jf_bug_size] "i" (sizeof(struct bug_entry))

#endif /* JUMPFUNC_SITE_X86_H */
