/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Records in __bug_table that keep kprobes away; for the code of sites, of trampolines and of
 * images. Not for users.
 *
 * register_kprobe() calls find_bug(), and refuses an address that the table lists.
 */
#ifndef JUMPFUNC_SITE_BUG_H
#define JUMPFUNC_SITE_BUG_H

#ifdef __ASSEMBLER__
#include <asm/bug.h>
#else
#include <linux/bug.h>
#include <linux/stringify.h>
#endif

#ifndef CONFIG_GENERIC_BUG
#error "jumpfunc keeps kprobes off its sites with CONFIG_GENERIC_BUG"
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

#ifndef __ASSEMBLER__
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
#endif

#endif /* JUMPFUNC_SITE_BUG_H */
