/* SPDX-License-Identifier: GPL-2.0 */
/* The text that the stack of a task leads into (see kernel/arch/arch.h). */
#ifndef JF_ARCH_STACK_H
#define JF_ARCH_STACK_H

#include <linux/types.h>

#include "index/spans.h"

struct task_struct;

/**
 * struct jf_scan - the search of a task's stack, and its result
 * @in:     text that the task must not be in, or return to. With a tag: a
 *          function that may have other callers as well. A task that was called
 *          there directly is not meant
 * @where:  an address of the text that the task is in, 0: not known
 */
struct jf_scan {
	struct jf_spans	in;
	unsigned long	where;
};

/* True if stacks can be read on this architecture, in this kernel. */
bool jf_arch_can_scan(void);
/* The option whose lack has words of former calls count as return addresses; NULL: none lacks. */
const char *jf_arch_unwind_lacks(void);
/*
 * Scan the stack of a task that is not running, with all CPUs stopped. True: something on it leads
 * into the spans, or may, where it could not be unwound.
 * @strict: it may have been interrupted anywhere.
 */
bool jf_arch_scan(struct task_struct *t, struct jf_scan *scan, bool strict);

#endif /* JF_ARCH_STACK_H */
