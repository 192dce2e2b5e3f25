/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the quiescence (core/quiesce.c), what hands it code that nobody shall be
 * in any more, and the architecture that reads stacks (x86/stack.c).
 */
#ifndef JF_QUIESCE_H
#define JF_QUIESCE_H

#include <linux/types.h>

struct module;
struct task_struct;
struct workqueue_struct;

/* --- text to look for --------------------------------------------------- */

/**
 * struct jf_span - a piece of text
 * @start: its first byte
 * @end:   the byte behind its last one
 */
struct jf_span {
	unsigned long	start;
	unsigned long	end;
};

/**
 * struct jf_spans - pieces of text to look for on stacks
 * @span: they, once jf_spans_sort() has been called: in order, none overlapping
 * @num:  how many there are
 * @max:  for how many there is room
 */
struct jf_spans {
	struct jf_span	*span;
	unsigned int	num;
	unsigned int	max;
};

/* -ENOMEM. An empty span is not added. */
int jf_spans_add(struct jf_spans *s, unsigned long start, unsigned long end);
void jf_spans_sort(struct jf_spans *s);
void jf_spans_free(struct jf_spans *s);
/* Any context. Of spans that have been sorted. */
bool jf_spans_has(const struct jf_spans *s, unsigned long addr);

/* --- the architecture --------------------------------------------------- */

/* What became of a look at a task. */
enum jf_seen {
	JF_SEEN_CLEAN,		/* nothing on its stack leads into the spans */
	JF_SEEN_INSIDE,		/* something does */
	JF_SEEN_UNKNOWN,	/* its stack could not be read to the end */
};

/**
 * struct jf_sight - what a look at a task asks for, and what it found
 * @in:     text that the task must not be in, or return to
 * @calls:  return addresses of changed call sites
 * @tramps: trampolines that were changed, one byte each: a call of one of them
 *          must not be under way
 * @where:  an address of the text that the task is in, 0: not known
 *
 * @calls and @tramps only count for tasks that jf_arch_look() is told so of.
 */
struct jf_sight {
	struct jf_spans	in;
	struct jf_spans	calls;
	struct jf_spans	tramps;
	unsigned long	where;
};

/* Can stacks be read on this architecture, in this kernel? */
bool jf_arch_can_look(void);
/*
 * Look at the stack of a task that does not run, with all CPUs stopped.
 * @strict: heed the calls and trampolines of @sight as well.
 */
enum jf_seen jf_arch_look(struct task_struct *t, struct jf_sight *sight,
			  bool strict);

/* --- what was replaced --------------------------------------------------- */

/* jf_gone_prepare(): what kind of code it is. */
enum jf_gone_kind {
	JF_GONE_TARGET,		/* a target or a probe */
	JF_GONE_DISPATCH,	/* code that calls others: an image, an iterator */
};

/*
 * All of these with jf_mutex held.
 *
 * jf_gone_prepare(): @func is about to be replaced, and that must not fail for
 * want of memory. 0 or -ENOMEM. Then, exactly once, jf_gone_done(): it has been,
 * or (@replaced false) it has not.
 */
int jf_gone_prepare(void *func, enum jf_gone_kind kind);
void jf_gone_done(void *func, bool replaced);
/* The number of the latest replacement. */
u64 jf_gone_seq(void);
/* Nobody is in @func any more who came there before replacement @seq. */
void jf_gone_forget(void *func, u64 seq);

/* Add the text of a function to @s. 0 or -ENOMEM. May sleep. */
int jf_spans_add_func(struct jf_spans *s, void *func);

/* --- waiting ------------------------------------------------------------- */

/**
 * jf_quiesce_spans() - wait until nobody is in certain text
 * @who:     who wants to know, for the log
 * @spans:   the text; nothing may lead there any more
 * @timeout: jiffies, or MAX_SCHEDULE_TIMEOUT. 0: just one look
 *
 * Tells of code only: what it uses may still be in use by a function that it
 * jumped to as its last act. Context: may sleep, no locks of ours, not under
 * cpus_read_lock(). Return: 0, -ETIMEDOUT, or -ENOMEM with a timeout only.
 */
int jf_quiesce_spans(const char *who, struct jf_spans *spans, long timeout);
/*
 * The text of a module is about to be freed, and nothing leads into it any more:
 * wait until its callbacks have run and, if it has ever been a @target, until
 * nobody is in it. That nobody is in what was a target does not say so: a helper
 * of its own may have been called by a jump.
 */
void jf_quiesce_module(struct module *mod, bool target);

/* For work that waits for others. */
extern struct workqueue_struct *jf_wq;

int jf_quiesce_init(void);
void jf_quiesce_exit(void);

#endif /* JF_QUIESCE_H */
