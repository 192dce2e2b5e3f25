// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Machines on which no text is made: no dispatch images, so that tracepoints call their
 * iterator, no changes of text that is no site, and no breakpoints of ours.
 */
#include "../lib.h"

#include "../text.h"
#include "../trace.h"

bool jf_trap_possible(void)
{
	return false;
}

bool jf_image_begin(void)
{
	return false;
}

/* The iterator calls all probes. */
struct jf_image *jf_image_create(const struct jf_probe *probes, size_t nr,
				 unsigned int nr_args, uintptr_t near)
{
	(void)probes, (void)nr, (void)nr_args, (void)near;
	return NULL;
}

void *jf_image_addr(const struct jf_image *image)
{
	return (void *)(uintptr_t)image;
}

void jf_image_free(struct jf_image *image)
{
	(void)image;
}

bool jf_image_leaves(uintptr_t addr, const struct jf_mod *mod)
{
	(void)addr, (void)mod;
	return false;
}

/* Calls change by one store here, or not at all. */
void jf_relays_free(struct jf_mod *m)
{
	(void)m;
}

int __jf_text_change(struct jf_text_change *change)
{
	(void)change;
	return -EOPNOTSUPP;
}

void __jf_text_forget(uintptr_t start, uintptr_t end)
{
	(void)start, (void)end;
}
