/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The common part of call sites and branch sites on arm64. Not for users.
 *
 * A site is one instruction. The kernel's kprobes also write text: register_kprobe()
 * calls find_bug(), and refuses an address that __bug_table lists. Each site and each
 * trampoline has a record there. Nothing else looks it up, as no BRK of a warning stands
 * there. The loader reads that table before it calls any notifier. A kprobe covers no
 * more than its own instruction here, so that sites need no more than that.
 */
#ifndef JUMPFUNC_SITE_ARM64_H
#define JUMPFUNC_SITE_ARM64_H

#include <jumpfunc/detail/site_bug.h>

/* This has not been tried: trampolines would need a type in front, see dynfunc_x86.h. */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#error "this kernel compares the types of what is called through pointers (CFI): not supported on arm64"
#endif

#ifdef CONFIG_CPU_BIG_ENDIAN
#error "jumpfunc reads and writes instructions as data: CONFIG_CPU_LITTLE_ENDIAN is needed"
#endif

/* A landing pad of indirect branches, in kernels that check it. Otherwise it is a nop. */
#ifdef CONFIG_ARM64_BTI_KERNEL
#define __JF_BTI	"hint #34\n\t"		/* bti c */
#else
#define __JF_BTI
#endif

/* A struct jf_site_rec for 771, and the record against kprobes. */
#define __JF_SITE_REC(ent, flags)					\
	__JF_SECTION("__jf_sites", 1)					\
	".balign 8\n\t"							\
	".long 771b - .\n\t"						\
	".long " flags "\n\t"						\
	".quad " ent "\n\t"						\
	".popsection\n\t"						\
	__JF_NO_KPROBE("771b")

#endif /* JUMPFUNC_SITE_ARM64_H */
