/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The search for circles of trampolines: for the kernel module (jf_core.c) and for
 * libjumpfunc (user/lib/check.c). No kernel header is needed.
 *
 * API:
 *   jf_in_circle(ctl)	true if the dynamic function @ctl would call itself
 *
 * The world. The source that includes this file defines, before it does so:
 *   struct jf_ctl			a dynamic function; of its members these are
 *					used here: @mark (64 bits), which starts as 0,
 *					and @todo (struct jf_ctl *)
 *   struct jf_ctl *jf_circle_next(c)	what @c will call: the dynamic function whose
 *					trampoline its value is, or NULL
 *   struct jf_ctl *jf_circle_back(c)	the same, if @c falls back to its initial
 *					target; NULL: it need not
 *
 * How it works: a trampoline may lead to another one, but not in a circle. The same must hold after
 * a function's target is unloaded: it then falls back to its initial target, and no combination of
 * such fall-backs may close a circle, since a fall-back cannot be refused. So each function has up
 * to two ways on. Each function is visited once for each search. The caller holds the lock of the
 * functions that are searched.
 */
#ifndef JF_CIRCLE_H
#define JF_CIRCLE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

/* Put @ctl, which may be NULL, on the list of those to be visited. */
static inline void jf_circle_visit(struct jf_ctl **todo, struct jf_ctl *ctl, uint64_t mark)
{
	if (!ctl || ctl->mark == mark)
		return;
	ctl->mark = mark;
	ctl->todo = *todo;
	*todo = ctl;
}

static inline bool jf_in_circle(struct jf_ctl *ctl)
{
	static uint64_t mark;
	struct jf_ctl *todo = NULL, *c = ctl;

	mark++;
	do {
		jf_circle_visit(&todo, jf_circle_next(c), mark);
		jf_circle_visit(&todo, jf_circle_back(c), mark);
		c = todo;
		if (c)
			todo = c->todo;
	} while (c && c != ctl);
	return c;
}

#endif /* JF_CIRCLE_H */
