/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For code in assembly that is written at run time. Not for C.
 */
#ifndef JF_MACROS_X86_H
#define JF_MACROS_X86_H

#ifdef CONFIG_X86_KERNEL_IBT
#include <linux/objtool.h>
#endif

#include <jumpfunc/detail/site_x86.h>

#include "arch/macros.h"

/* Mark functions that only data refers to, and that no code calls through a pointer. */
.macro jf_noendbr
#ifdef CONFIG_X86_KERNEL_IBT
	ANNOTATE_NOENDBR
#endif
.endm

/* No kprobe in the function that begins at \entry is ever made a jump. */
.macro jf_no_optprobe entry
	.subsection 2
774:
	ud2
	.previous
	_ASM_EXTABLE(\entry, 774b)
.endm

#endif /* JF_MACROS_X86_H */
