/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The common part of call sites and branch sites on x86-64. Not for users.
 *
 * The kernel's kprobes also write text, under a lock that modules cannot take.
 * Before they write, they consult two tables, in which jumpfunc enters its
 * sites:
 *
 *   register_kprobe()	calls find_bug() and refuses an address that __bug_table
 *			lists. Each site and each trampoline has a record there.
 *			Nothing else looks it up, as no ud2 stands there. The
 *			loader reads that table before it calls any notifier.
 *   can_optimize()	calls search_exception_tables() for each instruction of
 *			the symbol that the probe is in. If one is listed, the
 *			probe stays a breakpoint: it is never replaced by a jump,
 *			which would cover the four bytes that follow. Each site
 *			has an entry.
 *   can_boost()	calls search_exception_tables() for the one instruction
 *			that is to run from a copy.
 *
 * The loader sorts a module's exception table before it calls any notifier, and
 * drops the entries of __init text together with that text.
 *
 * An entry needs a fix-up address, and it is a ud2: a fault at a site would
 * kill the task or the machine as it would without the entry. Each entry has a
 * ud2 of its own, since objtool compares the stack states that lead there. The
 * ud2 must not be shared, nor be reached in any other way. Only instructions
 * that cannot fault by themselves may be listed.
 */
#ifndef JUMPFUNC_SITE_X86_H
#define JUMPFUNC_SITE_X86_H

#ifndef __ASSEMBLER__
#include <linux/objtool.h>
#endif
#include <asm/asm.h>

#include <jumpfunc/detail/site_bug.h>

/* Tells objtool that nothing calls a site through the table's reference. */
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

/* Indirect calls compare a type. The option's second name is the later one. */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#define __JF_KCFI		1
#endif

/*
 * With FineIBT a function may be entered by an indirect branch only 16 bytes in
 * front of it, where it checks its type; the target of a dynamic function may lack this check
 * (jf_nop(), an image).
 */
#ifdef CONFIG_FINEIBT
#define __JF_JMP_R11	"jmp jf_jump_r11\n\t"
#elif defined(CONFIG_RETPOLINE) || defined(CONFIG_MITIGATION_RETPOLINE)
#define __JF_JMP_R11	"jmp __x86_indirect_thunk_r11\n\t"
#else
#define __JF_JMP_R11	"jmp *%r11\n\t"
#endif

#ifndef __ASSEMBLER__
/* 774, for the entry below: after all functions and tests of the section. */
#define __JF_UD2							\
	".subsection 2\n"						\
	"774:\n\t"							\
	"ud2\n\t"							\
	".previous\n\t"

/* No kprobe in the symbol that 771 is in is optimised. Needs 774, a ud2. */
#define __JF_NO_OPTPROBE						\
	_ASM_EXTABLE(771b, 774b)

/* A struct jf_site_rec for 771, and the entries against kprobes. Needs 774. */
#define __JF_SITE_REC(ent, flags)					\
	__JF_SECTION("__jf_sites", 1)					\
	".balign 8\n\t"							\
	".long 771b - .\n\t"						\
	".long " flags "\n\t"						\
	".quad " ent "\n\t"						\
	".popsection\n\t"						\
	__JF_NO_KPROBE("771b")						\
	__JF_NO_OPTPROBE

#endif /* __ASSEMBLER__ */
#endif /* JUMPFUNC_SITE_X86_H */
