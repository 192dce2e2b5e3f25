/* SPDX-License-Identifier: GPL-2.0 */
/* What the stack of a task leads into (see arch/arch.h). */
#ifndef JF_ARCH_STACK_H
#define JF_ARCH_STACK_H

#include <linux/hash.h>
#include <linux/types.h>

#include "index/spans.h"

struct task_struct;

/* The result of a task's stack scan. */
enum jf_seen {
	JF_SEEN_CLEAN,		/* nothing on its stack leads into the spans */
	JF_SEEN_INSIDE,		/* something does */
	JF_SEEN_UNKNOWN,	/* something may, where it could not be unwound */
	/* it is in a function that has other callers, too; the ways say how it got there */
	JF_SEEN_SHARED,
};

/* So many ways are told apart. */
#define JF_WAYS	4

/**
 * struct jf_way - how a task entered a function that the scan searches for
 * @tag: that of the function's span
 * @to:  the function that was called in its place, which may have jumped there
 */
struct jf_way {
	unsigned long	tag;
	unsigned long	to;
};

/* So many answers about ways are remembered, by a hash of the way. */
#define JF_WAY_BITS	6

/**
 * struct jf_way_memo - what was found out about a way
 * @way:   which one
 * @other: it does not lead through what changed
 */
struct jf_way_memo {
	struct jf_way	way;
	bool		other;
};

/**
 * struct jf_scan - what the scan of a task's stack searches for, and what it found
 * @in:     text that the task must not be in, or return to. With a tag: a
 *          function that may have other callers as well. A task that was called
 *          there directly, or by what leads there now, is not meant
 * @calls:  return addresses of changed call sites, one byte each; the tag is
 *          what they call now
 * @tramps: trampolines that were changed, one byte each, with the same tag: a
 *          call of one of them must not be under way
 * @fresh:  what is called now instead, by its tag
 * @tail:   where functions begin to which code that a key led to jumps; in @in.
 *          Sorted, once it is made
 * @num_tails: how many these are
 * @max_tails: for how many there is room
 * @memo:   ways that were asked for last
 * @above:  what functions that the task has called since have of its stack ends here:
 *          they do not count; 0: all count
 * @where:  an address of the text that the task is in, 0: not known
 * @back:   where the function there returns to, 0: not known
 * @more:   there are more ways than have been told: the task has to be scanned again,
 *          once these are remembered
 * @num_ways: how many ways there are
 * @way:    for JF_SEEN_SHARED: the task is inside by each of these, unless it
 *          turns out that what was called jumps there by itself
 *
 * That a task returns to one of @calls, or from one of @tramps, and neither from
 * @in nor from @fresh, counts only where jf_arch_scan() is asked to heed calls.
 */
struct jf_scan {
	struct jf_spans	in;
	struct jf_spans	calls;
	struct jf_spans	tramps;
	struct jf_spans	fresh;
	unsigned long	*tail;
	unsigned int	num_tails, max_tails;
	struct jf_way_memo memo[1 << JF_WAY_BITS];
	unsigned long	above;
	unsigned long	where;
	unsigned long	back;
	bool		more;
	unsigned int	num_ways;
	struct jf_way	way[JF_WAYS];
};

static inline unsigned int jf_way_hash(unsigned long tag, unsigned long to)
{
	return hash_long(tag ^ to, JF_WAY_BITS);
}

/* Can stacks be read on this architecture, in this kernel? */
bool jf_arch_can_scan(void);
/*
 * Scan the stack of a task that is not running, with all CPUs stopped.
 * @strict: it may have been interrupted anywhere. @calls: heed the calls and
 * trampolines of @scan as well.
 */
enum jf_seen jf_arch_scan(struct task_struct *t, struct jf_scan *scan,
			  bool strict, bool calls);

/* Tasks that are found inside although they may have left meanwhile (x86/watch.c). */
struct jf_watch;
/*
 * Note it when @t executes one of @num instructions, of which none is in what is
 * searched for. *@watch: NULL at first. @num is not 0. 0; -EOPNOTSUPP, -ENOSPC, -ENOMEM,
 * or why no kprobe can be set. Process context, with no lock held.
 */
int jf_arch_watch(struct jf_watch **watch, struct task_struct *t,
		  const unsigned long *place, unsigned int num);
/* For jf_scan.above. With all CPUs stopped. @w may be NULL. */
unsigned long jf_arch_watch_top(struct jf_watch *w, const struct task_struct *t);
/* Takes the kprobes away. @w may be NULL. */
void jf_arch_watch_end(struct jf_watch *w);

#endif /* JF_ARCH_STACK_H */
