/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of an architecture, which is jf_x86.c with x86/, or
 * generic/generic.c. It is given addresses and values. It does not know
 * entities, tables or tracepoints, and calls nothing above index/site.h.
 */
#ifndef JF_ARCH_H
#define JF_ARCH_H

#include <linux/bits.h>
#include <linux/types.h>

#include "index/site.h"
#include "index/spans.h"

struct seq_file;
struct task_struct;

/* --- life ---------------------------------------------------------------- */

/* @backend: as the module parameter names it. */
int jf_arch_init(const char *backend);
void jf_arch_exit(void);
/* Name of the back end in force. */
const char *jf_arch_backend(void);
/* Does the back end write text at all? */
bool jf_arch_patches(void);
/* Are there sites in text, whether they are written or not? */
bool jf_arch_has_sites(void);

/* --- sites --------------------------------------------------------------- */

/*
 * Check a new site: are these the bytes that the macros emit? Fills in @insn
 * and @label. For a trampoline, @addr is that of the function and
 * becomes that of its jump. @tramp: the trampoline of a call site's function.
 * -EILSEQ if they are not.
 */
int jf_arch_adopt(struct jf_site *site, unsigned long tramp);
/* Encode an operation for a site; -ERANGE. */
int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn);
/*
 * Do the old instructions of these pokes stand there? Else *@bad is the index of
 * the first that does not: -EBUSY for a breakpoint, -EILSEQ for other bytes.
 */
int jf_arch_verify(const struct jf_poke *pokes, unsigned int num, size_t *bad);
/*
 * Carry out a transaction: @pokes sorted by address, all verified. @live: the
 * text may be executing. 0, or an error with no byte changed (but see -EIO of
 * jf_batch_commit()).
 */
int jf_arch_patch(struct jf_poke *pokes, unsigned int num, bool live);
/* The present bytes of a site, decoded for humans. */
void jf_arch_show(struct seq_file *m, const struct jf_site *site);

/* --- images: code that calls several functions ---------------------------- */

/* As many calls an image makes at most. */
#define JF_ARCH_IMAGE_CALLS	16

/**
 * struct jf_arch_call - one call of an image
 * @func: what is called
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
/* Is this an image? Then where it begins and ends. */
bool jf_arch_image_span(const void *image, unsigned long *start,
			unsigned long *end);

/* --- types ---------------------------------------------------------------- */

/*
 * What may be called through a pointer to a function of the type of @like, and
 * leads to @func, which has another one: @func itself, unless indirect calls
 * compare types in this kernel. The same for the same two, as long as jumpfunc is
 * loaded. The caller serialises this, and does not hold jf_lock().
 * 0, -EOPNOTSUPP: the type of @like is not known, -ENOSPC, or an error of the
 * attempt.
 */
int jf_arch_typed(void *func, const void *like, void **typed);

/* --- stacks --------------------------------------------------------------- */

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

/* So many answers about ways are remembered. */
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
 * @where:  an address of the text that the task is in, 0: not known
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
	unsigned long	where;
	unsigned int	num_ways;
	struct jf_way	way[JF_WAYS];
};

/* Can stacks be read on this architecture, in this kernel? */
bool jf_arch_can_scan(void);
/*
 * Add code that belongs to the branches in this text and stands elsewhere, if it may
 * be executed. 0 or -ENOMEM.
 */
int jf_arch_add_tests(struct jf_spans *s, unsigned long start, unsigned long end);
/* Is there nothing in this text that a task stays in: padding, traps? */
bool jf_arch_is_padding(unsigned long start, unsigned long end);
/* Does something that is, or looks like, a jump lead from this text to that? */
bool jf_arch_leads_into(unsigned long start, unsigned long end,
			unsigned long to_start, unsigned long to_end);
/* What a jump to a function, or a call of it, does. */
enum jf_callee {
	JF_CALLEE_PLAIN,	/* it is executed, and returns from a call */
	JF_CALLEE_ENDS,		/* a jump there is a return, a call does not return */
	JF_CALLEE_AWAY,		/* it jumps to where a register says */
};

/**
 * struct jf_fork - a place in text where the kernel's own keys branch
 * @addr: it goes on after the instruction here
 * @to:   or there
 */
struct jf_fork {
	unsigned long	addr;
	unsigned long	to;
};

/**
 * struct jf_kept - text of a module as it was when it was loaded (quiesce/text.c)
 * @text:  pieces of it, sorted; the tag of each is where it begins in @bytes
 * @bytes: what stood there
 * @fork:  the kernel's own keys in it, sorted by address
 * @num_forks: how many these are
 */
struct jf_kept {
	struct jf_spans	text;
	u8		*bytes;
	struct jf_fork	*fork;
	unsigned int	num_forks;
};

/**
 * struct jf_text_ask - what the search in a function's text is given
 * @ways:   which ways does a branch site go: JF_WAY_*. NULL: both
 * @text:   the function and its parts, as jf_spans_add_func() tells them, sorted
 * @kept:   read this text instead of what stands there, where it has it; or NULL
 * @callee: tells what a function is
 * @begins: does one begin there, as far as is known? For what may be a jump
 * @left:   called with each jump that leaves the text; 0, or an error, which ends
 *          the search
 * @arg:    for @ways and @left
 */
struct jf_text_ask {
	const struct jf_spans	*text;
	const struct jf_kept	*kept;
	unsigned int		(*ways)(const struct jf_site *site, void *arg);
	enum jf_callee		(*callee)(unsigned long func);
	bool			(*begins)(unsigned long addr);
	int			(*left)(unsigned long to, void *arg);
	void			*arg;
};

/* Of a branch site: it goes straight on or to its label; it went there before. */
#define JF_WAY_STRAIGHT	BIT(0)
#define JF_WAY_LABEL	BIT(1)
#define JF_WAY_WAS_STRAIGHT	BIT(2)
#define JF_WAY_WAS_LABEL	BIT(3)

/*
 * Add what in the text is not executed as its sites go; what cannot be told is added.
 * @left is called for jumps that leave the text from where sites went before, and where
 * that cannot be followed, for all that may be such a jump. With jf_mutex held. 0 or
 * -ENOMEM.
 */
int jf_arch_add_former(struct jf_spans *s, const struct jf_text_ask *ask);
/*
 * Tell @left of all jumps that leave the function, and of what may be one. 0; -ENOENT
 * if there are others, -ENOMEM, or the error of @left. With jf_mutex held.
 */
int jf_arch_jumps(const struct jf_text_ask *ask);
/* May the kernel execute what is at this address? True if it cannot be told. */
bool jf_arch_is_text(unsigned long addr);
/* Is it in the kernel's own image, which is never freed? True if it cannot be told. */
bool jf_arch_is_image(unsigned long addr);
/*
 * Scan the stack of a task that is not running, with all CPUs stopped.
 * @strict: it may have been interrupted anywhere. @calls: heed the calls and
 * trampolines of @scan as well.
 */
enum jf_seen jf_arch_scan(struct task_struct *t, struct jf_scan *scan,
			  bool strict, bool calls);

/* --- statistics ------------------------------------------------------------ */

/**
 * struct jf_arch_stats - what `stats` shows of an architecture
 * @int3_hits:    breakpoints of ours that CPUs ran into so far
 * @images_used:  images that were given out
 * @images_total: all there are
 */
struct jf_arch_stats {
	u64		int3_hits;
	unsigned int	images_used, images_total;
};

void jf_arch_stats_get(struct jf_arch_stats *stats);

#endif /* JF_ARCH_H */
