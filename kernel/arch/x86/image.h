/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes of the pools of dispatch images; for assembly and C.
 *
 * A tracepoint with probes holds one image, and for the time of a grace period
 * after each change another one.
 */
#ifndef JF_IMAGE_X86_H
#define JF_IMAGE_X86_H

/* Slots of a chain: JF_ARCH_IMAGE_CALLS of kernel/arch/image.h. */
#define JF_CHAIN_SLOTS		16

#define JF_IMAGES_SINGLE	256	/* one probe, any arguments */
#define JF_IMAGES_SMALL		64	/* chain, up to 3 arguments */
#define JF_IMAGES_REGS		32	/* chain, up to 5 arguments */
#define JF_IMAGES_STACK		16	/* chain, up to 12 arguments */

#endif /* JF_IMAGE_X86_H */
