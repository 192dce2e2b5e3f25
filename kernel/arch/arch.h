/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of an architecture, which is jf_x86.c with x86/, arm64/, or
 * kernel/arch/generic.c. It is given addresses and values. It does not know
 * entities, tables or tracepoints, and calls nothing above kernel/index/site.h.
 *
 * This header opens and closes it. Its work is in three tables:
 *   kernel/arch/text.h	sites, other instructions in text, and how sites are changed
 *   kernel/arch/image.h	code that it makes: images, and stubs with a type
 *   kernel/arch/stack.h	the code that the stack of a task leads into
 */
#ifndef JF_ARCH_H
#define JF_ARCH_H

#include <linux/types.h>

/* @backend: as the module parameter names it. */
int jf_arch_init(const char *backend);
void jf_arch_exit(void);
/* Name of the back end in force. */
const char *jf_arch_backend(void);
/* True if the back end writes text at all. */
bool jf_arch_patches(void);
/* True if text has sites, whether they are written or not. */
bool jf_arch_has_sites(void);

/**
 * struct jf_arch_stats - what `stats` shows of an architecture
 * @int3_hits:    breakpoints of ours that CPUs ran into so far
 * @images_used:  images that were given out
 * @images_total: all there are
 */
struct jf_arch_stats {
	u64		int3_hits;
	unsigned int	images_used, images_total;
};

void jf_arch_stats_get(struct jf_arch_stats *stats);

#endif /* JF_ARCH_H */
