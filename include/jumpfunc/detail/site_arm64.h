/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What call sites and branch sites on arm64 have in common. Not for users.
 *
 * A site is one instruction. The kernel's kprobes also write text: register_kprobe()
 * calls find_bug(), and refuses an address that __bug_table lists. Each site and each
 * trampoline has a record there. Nothing else looks it up, as no BRK of a warning stands
 * there. The loader reads that table before it calls any notifier. A kprobe covers no
 * more than its own instruction here, so that sites need no more than that.
 */
#ifndef JUMPFUNC_SITE_ARM64_H
#define JUMPFUNC_SITE_ARM64_H

#include <linux/bug.h>
#include <linux/stringify.h>

#ifndef CONFIG_GENERIC_BUG
#error "jumpfunc keeps kprobes off its sites with CONFIG_GENERIC_BUG"
#endif

/* This has not been tried: trampolines would need a type in front, see dynfunc_x86.h. */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#error "this kernel compares the types of what is called through pointers (CFI): not supported on arm64"
#endif

#ifdef CONFIG_CPU_BIG_ENDIAN
#error "jumpfunc reads and writes instructions as data: CONFIG_CPU_LITTLE_ENDIAN is needed"
#endif

/* What an indirect branch may lead to, in kernels that check it. Otherwise it is a nop. */
#ifdef CONFIG_ARM64_BTI_KERNEL
#define __JF_BTI	"hint #34\n\t"		/* bti c */
#else
#define __JF_BTI
#endif

#ifdef CONFIG_GENERIC_BUG_RELATIVE_POINTERS
#define __JF_BUG_PTR		4
#define __JF_BUG_ADDR(site)	".long " site " - 773b\n\t"
#else
#define __JF_BUG_PTR		8
#define __JF_BUG_ADDR(site)	".quad " site "\n\t"
#endif

/* The size of struct bug_entry: assembly at file scope takes no operands. */
#ifdef CONFIG_DEBUG_BUGVERBOSE
#define __JF_BUG_VERBOSE	(__JF_BUG_PTR + 2)
#else
#define __JF_BUG_VERBOSE	0
#endif
#ifdef HAVE_ARCH_BUG_FORMAT
#define __JF_BUG_FORMAT		__JF_BUG_PTR
#else
#define __JF_BUG_FORMAT		0
#endif
#define __JF_BUG_SIZE							\
	((__JF_BUG_PTR + __JF_BUG_FORMAT + __JF_BUG_VERBOSE + 2 +	\
	  __JF_BUG_PTR - 1) / __JF_BUG_PTR * __JF_BUG_PTR)

static_assert(sizeof(struct bug_entry) == __JF_BUG_SIZE,
	      "jumpfunc does not know this kernel's struct bug_entry");

/* No kprobe can be set on @site. */
#define __JF_NO_KPROBE(site)						\
	".pushsection __bug_table, \"aw\", @progbits\n\t"		\
	".balign 4\n"							\
	"773:\n\t"							\
	__JF_BUG_ADDR(site)						\
	".org 773b + " __stringify(__JF_BUG_SIZE) "\n\t"		\
	".popsection\n\t"

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
