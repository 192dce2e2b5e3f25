/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the parts of the architecture arm64.
 */
#ifndef JF_ARM64_H
#define JF_ARM64_H

#include "common/arm64/insn.h"
#include "arch/arch.h"
#include "arch/text.h"

struct jf_arch_call;

/* In front of a trampoline's site in kernels with BTI. */
#ifdef CONFIG_ARM64_BTI_KERNEL
#define JF_BTI_LEN	4
#else
#define JF_BTI_LEN	0
#endif

static inline u32 jf_text_load(unsigned long addr)
{
	return READ_ONCE(*(const u32 *)addr);
}

/* kernel/arch/arm64/write.c */
int jf_write_idle(u8 *dst, const u8 *was, const u8 *src, size_t len);
/* When it returns, no CPU holds an instruction that it fetched before. With jf_lock() held. */
void jf_sync_all(void);

/* kernel/arch/arm64/image.c */
int jf_images_init(void);
void jf_images_exit(void);
int jf_image_get(const struct jf_arch_call *calls, unsigned int num,
		 unsigned int nargs, void **image);
void jf_images_count(unsigned int *used, unsigned int *total);

#endif /* JF_ARM64_H */
