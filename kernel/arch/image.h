/* SPDX-License-Identifier: GPL-2.0 */
/* Code that an architecture makes (see kernel/arch/arch.h). */
#ifndef JF_ARCH_IMAGE_H
#define JF_ARCH_IMAGE_H

#include <linux/types.h>

/* --- images: code that calls several functions ---------------------------- */

/* As many calls an image makes at most. */
#define JF_ARCH_IMAGE_CALLS	16

/**
 * struct jf_arch_call - one call of an image
 * @func: the called function
 * @data: its first argument
 */
struct jf_arch_call {
	unsigned long	func;
	unsigned long	data;
};

/*
 * An image that makes @num calls one after the other, and passes on @nargs
 * arguments after the first one. The caller serialises these calls.
 * 0, -ENOSPC: all are taken, -EOPNOTSUPP: the back end writes no text, or an
 * error of the attempt.
 */
int jf_arch_image_get(const struct jf_arch_call *calls, unsigned int num,
		      unsigned int nargs, void **image);
/* Give one back, after a grace period. */
void jf_arch_image_put(void *image);
/* True for an image; fills in its begin and end. */
bool jf_arch_image_span(const void *image, unsigned long *start,
			unsigned long *end);

/* --- stubs with a type ---------------------------------------------------- */

/*
 * An address that can be called through a pointer to a function of the type of @like, and leads to
 * @func, which has another one: @func itself, unless indirect calls compare types in this kernel.
 * The same for the same two, as long as jumpfunc is loaded. The caller does not hold jf_lock(). 0,
 * -EOPNOTSUPP: the type of @like is not known, -ENOSPC, or an error of the attempt.
 */
int jf_arch_typed(void *func, const void *like, void **typed);

#endif /* JF_ARCH_IMAGE_H */
