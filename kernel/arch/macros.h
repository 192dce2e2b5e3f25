/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For code in assembly that is written at run time. Not for C.
 */
#ifndef JF_ARCH_MACROS_H
#define JF_ARCH_MACROS_H

#include <jumpfunc/detail/site_bug.h>

/* No kprobe can be set on \insn. */
.macro jf_no_kprobe insn
	.pushsection __bug_table, "aw", @progbits
	.balign 4
773:
#ifdef CONFIG_GENERIC_BUG_RELATIVE_POINTERS
	.long	\insn - 773b
#else
	.quad	\insn
#endif
	.org	773b + __JF_BUG_SIZE
	.popsection
.endm

#endif /* JF_ARCH_MACROS_H */
