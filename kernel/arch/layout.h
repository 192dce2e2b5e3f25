/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where things are in a pool of dispatch images: written by an architecture's images.S, read by its
 * image.c and kernel/arch/pool.h.
 */
#ifndef JF_ARCH_LAYOUT_H
#define JF_ARCH_LAYOUT_H

#ifdef __ASSEMBLY__
/*
 * The pool of \count images that begins at \begin. The labels are those of its last image, and of
 * the pool's end:
 *
 *	760 entry	761 first slot	764 where the last slot's end leads
 *	771 slot	772 its call	763 its end
 *	765 end of the pool
 *
 * They have numbers because every image has them, and clang's assembler redefines no symbol.
 */
.macro jf_layout name, begin, count, veneers=760b, literals=760b
	.pushsection .rodata, "a", @progbits
	.balign	8
	.globl	jf_pool_\name
jf_pool_\name:
	.quad	\begin
	.long	\count
	.long	(765b - \begin) / \count
	.long	761b - 760b
	.long	763b - 771b
	.long	772b - 771b
	.long	764b - 760b
	.long	\veneers - 760b
	.long	\literals - 760b
	.popsection
.endm
#else
#include <linux/types.h>

/**
 * struct jf_pool_layout - where things are in the images of a pool
 * @base:      the pool
 * @count:     its images
 * @stride:    bytes from one to the next
 * @first:     offset of the first slot from an image's entry
 * @slot_size: bytes of a slot
 * @call:      offset of the call or jump in a slot
 * @exit:      offset of the code after the last slot from the entry
 * @veneers:   offset of the first slot's veneer from the entry; 0: there are none
 * @literals:  offset of the first slot's literals, the data and the function; 0: none
 */
struct jf_pool_layout {
	u8	*base;
	u32	count;
	u32	stride;
	u32	first;
	u32	slot_size;
	u32	call;
	u32	exit;
	u32	veneers;
	u32	literals;
};

/**
 * struct jf_pool - images of one kind
 * @layout:    where things are in them
 * @max_args:  arguments of a probe, without its data, that they can pass on
 * @max_calls: slots of each
 * @used:      a bit for each image
 */
struct jf_pool {
	const struct jf_pool_layout *layout;
	unsigned int	max_args;
	unsigned int	max_calls;
	unsigned long	*used;
};

extern const struct jf_pool_layout jf_pool_single, jf_pool_small, jf_pool_regs,
	jf_pool_stack;
#endif

#endif /* JF_ARCH_LAYOUT_H */
