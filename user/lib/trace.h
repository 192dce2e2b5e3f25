/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Dispatch images, for trace.c. With the lock held. */
#ifndef JF_LIB_TRACE_H
#define JF_LIB_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jf_image;
struct jf_probe;

/* Before the images of a change. False: there can be none. */
bool jf_image_begin(void);
/*
 * NULL: there is no memory, or no writer, or a probe needs too much. All cores
 * have to serialise before anything leads there.
 */
struct jf_image *jf_image_create(const struct jf_probe *probes, size_t nr,
				 unsigned int nr_args, uintptr_t near);
void *jf_image_addr(const struct jf_image *image);
/* No thread is in it, and nothing leads there. */
void jf_image_free(struct jf_image *image);

#endif /* JF_LIB_TRACE_H */
