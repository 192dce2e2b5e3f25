/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The description of dispatch images for unwinders, debuggers and profilers; see frames.c. */
#ifndef JF_LIB_FRAMES_H
#define JF_LIB_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jf_unwind;

/**
 * struct jf_frame - how an image uses the stack
 * @addr:     where it is
 * @size:     its code
 * @nr_args:  registers that it pushes, in the order of image.h; 0 and no @pad for one
 *            that pushes nothing
 * @pad:      8 more bytes after them
 * @epilogue: offset of the first instruction that takes something off the stack
 */
struct jf_frame {
	uintptr_t	addr;
	size_t		size;
	unsigned int	nr_args;
	int		pad;
	size_t		epilogue;
};

/* Before the image is executed. NULL: unwinders are not told, and nothing else is wrong. */
struct jf_unwind *jf_unwind_add(const struct jf_frame *frame);
/* When no thread can be in it any more. NULL: nothing is done. */
void jf_unwind_remove(struct jf_unwind *unwind);
/* There are, or will be, images from @addr on. False: perf does not know it. */
bool jf_perf_tell(uintptr_t addr, size_t size);

#endif /* JF_LIB_FRAMES_H */
