/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of replaced code. jf_core.c and kernel/tracepoint/probes.c make them when
 * they replace something, and a quiesce searches stacks for all of them.
 */
#ifndef JF_RETIRED_H
#define JF_RETIRED_H

#include <linux/types.h>

struct jf_span;
struct jf_spans;
struct module;

/* jf_retire_prepare(): the kind of code. */
enum jf_retired_kind {
	JF_RETIRED_TARGET,	/* a target or a probe */
	JF_RETIRED_DISPATCH,	/* code that calls others: an image, an iterator */
};

/*
 * All of these with jf_mutex held.
 *
 * jf_retire_prepare(): @func is about to be replaced, and that must not fail for want
 * of memory. 0 or -ENOMEM. Then, exactly once, jf_retire_done(): it has been, or
 * (@replaced false) it has not.
 */
int jf_retire_prepare(void *func, enum jf_retired_kind kind);
void jf_retire_done(void *func, bool replaced);
/*
 * Between the two: @func calls @addr, or uses this data. So the unload of the module that
 * this is in, if any, waits until no task is in @func. 0 or -ENOMEM.
 */
int jf_retire_into(void *func, const void *addr);
/*
 * An entity leads to @func now, or has led there until now and is forgotten: waits that are under
 * way are told.
 */
void jf_retired_again(void *func);
/* Between the two above: @func is the probe of so many more (or fewer) arrays. */
void jf_retired_use(void *func, int more);
/* The number of the latest replacement, of code that is in use again, or forgotten. */
u64 jf_retired_seq(void);
/*
 * True if @s, of jf_spans_add_retired(), must be searched for by a wait that began with @seq. Not
 * if its record is gone, or if its code can be in use (it has a tag) and has been since.
 */
bool jf_retired_is_meant(const struct jf_span *s, u64 seq);
/* No task is in @func any more that entered it before replacement @seq. */
void jf_retired_forget(void *func, u64 seq);

/*
 * All below take jf_mutex. A search for tasks in replaced code begins; @seq: the latest
 * replacement that it covers. 0, or -EBUSY: a CPU may still be led there, by a site that could
 * not be taken back (jf_arch_is_stuck()), nor can it be now.
 */
int jf_retired_begin(u64 *seq);
/*
 * The same; and add all replaced code that is not in use, or only code elsewhere that leads @into
 * this module, in use or not. Each span names its record. Targets and probes are tagged with the
 * function's address if that can excuse them. 0, -EBUSY or -ENOMEM.
 */
int jf_spans_add_retired(struct jf_spans *s, const struct module *into,
			 u64 *seq);
/* No task is in any that was searched for: forget them, except records outside the search. */
void jf_retired_forget_all(u64 seq);
/* The same for code that leads into @mod, to which no new call comes any more. */
void jf_retired_forget_into(const struct module *mod, u64 seq);
/* No task is in the text of an earlier module where @mod is now. */
void jf_retired_forget_module(const struct module *mod);

#endif /* JF_RETIRED_H */
