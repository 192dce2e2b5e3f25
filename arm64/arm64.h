/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the parts of the architecture arm64.
 */
#ifndef JF_ARM64_H
#define JF_ARM64_H

#include "arm64/protocol/insn.h"
#include "arch/arch.h"
#include "arch/text.h"

/* In front of a trampoline's site in kernels with BTI. */
#ifdef CONFIG_ARM64_BTI_KERNEL
#define JF_BTI_LEN	4
#else
#define JF_BTI_LEN	0
#endif

/* arm64/write.c */

/* Carry out a transaction; see jf_arch_patch(). */
int jf_write(struct jf_poke *pokes, unsigned int num);
/* Is @have, which stands at a site, @want? 0, -EBUSY for a breakpoint, -EILSEQ. */
int jf_compare(u32 have, u32 want);

static inline u32 jf_text_load(unsigned long addr)
{
	return READ_ONCE(*(const u32 *)addr);
}

#endif /* JF_ARM64_H */
