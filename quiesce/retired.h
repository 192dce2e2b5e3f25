/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of what was replaced. jf_core.c and tracepoint/probes.c make them when
 * they replace something, and a quiesce searches stacks for all of them.
 */
#ifndef JF_RETIRED_H
#define JF_RETIRED_H

#include <linux/types.h>

struct jf_spans;
struct module;

/* jf_retire_prepare(): what kind of code it is. */
enum jf_retired_kind {
	JF_RETIRED_TARGET,	/* a target or a probe */
	/* code that calls others (an image, an iterator), or needs their data */
	JF_RETIRED_DISPATCH,
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
/* The number of the latest replacement. */
u64 jf_retired_seq(void);
/* Number one that has no record: code that only a branch led to. */
u64 jf_retire_number(void);
/* No task is in @func any more that entered it before replacement @seq. */
void jf_retired_forget(void *func, u64 seq);
/* True if a quiesce has found no task in what was replaced up to @seq. */
bool jf_retired_is_settled(u64 seq);

/*
 * All below take jf_mutex. A search for tasks in what was replaced begins; @seq: the latest
 * replacement that it covers. 0, or -EBUSY: a CPU may still be led there, by a site that could
 * not be taken back (jf_arch_is_stuck()), nor can it be now.
 */
int jf_retired_begin(u64 *seq);
/*
 * The same; and add what was replaced, or only the code that calls others. Targets and
 * probes are tagged with the function's address. 0, -EBUSY or -ENOMEM.
 */
int jf_spans_add_retired(struct jf_spans *s, bool dispatch_only, u64 *seq);
/* No task is in any of these any more: forget them. */
void jf_retired_forget_all(u64 seq, bool dispatch_only);
/* No task is in what an earlier module had where @mod is now. */
void jf_retired_forget_module(const struct module *mod);

#endif /* JF_RETIRED_H */
