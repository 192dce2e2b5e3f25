/* SPDX-License-Identifier: GPL-2.0 */
/* What the text of a function leads to (see arch/arch.h). */
#ifndef JF_ARCH_REACH_H
#define JF_ARCH_REACH_H

#include <linux/bits.h>
#include <linux/types.h>

#include "index/site.h"
#include "index/spans.h"

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

/*
 * Instructions that kprobes hide. On x86 most of a jump is still there beside the
 * breakpoint, and arch/reach.c guesses the rest.
 */
#ifdef CONFIG_ARM64
/**
 * struct jf_hidden_insn - an instruction that a kprobe hides
 * @addr: where it is
 * @insn: what it was, once that has been found out; 0: it cannot be told
 * @told: it has been found out
 */
struct jf_hidden_insn {
	unsigned long	addr;
	u32		insn;
	bool		told;
};

/**
 * struct jf_hidden - all that a search has met
 * @at:     in no order
 * @num:    how many these are
 * @max:    for how many there is room
 * @untold: one of them has yet to be found out
 * @err:    0, or -ENOMEM: one was left out
 */
struct jf_hidden {
	struct jf_hidden_insn	*at;
	unsigned int		num, max;
	bool			untold;
	int			err;
};

#define JF_ARCH_HIDES	1
/*
 * After a search with the result *@err. True: that was -EAGAIN, what kprobes hide has been
 * found out, and the search must be repeated. False: the result is *@err, or -ENOMEM is
 * stored there; and @h is empty. May sleep. Without jf_mutex, as kprobes take
 * cpus_read_lock().
 */
bool jf_arch_uncover(struct jf_hidden *h, int *err);
#else
struct jf_hidden { };

#define JF_ARCH_HIDES	0
static inline bool jf_arch_uncover(struct jf_hidden *h, int *err)
{
	return false;
}
#endif

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
 * @hidden: empty at first; for jf_arch_uncover() after the search
 */
struct jf_text_ask {
	const struct jf_spans	*text;
	const struct jf_kept	*kept;
	unsigned int		(*ways)(const struct jf_site *site, void *arg);
	enum jf_callee		(*callee)(unsigned long func);
	bool			(*begins)(unsigned long addr);
	int			(*left)(unsigned long to, void *arg);
	void			*arg;
	struct jf_hidden	hidden;
};

/* Of a branch site: it goes straight on or to its label; it went there before. */
#define JF_WAY_STRAIGHT	BIT(0)
#define JF_WAY_LABEL	BIT(1)
#define JF_WAY_WAS_STRAIGHT	BIT(2)
#define JF_WAY_WAS_LABEL	BIT(3)

/*
 * Add what in the text is not executed as its sites go; what cannot be told is added.
 * @left is called for jumps that leave the text from where sites went before, and where
 * that cannot be followed, for all that may be such a jump. With jf_mutex held. 0,
 * -ENOMEM, or -EAGAIN for jf_arch_uncover().
 */
int jf_arch_add_former(struct jf_spans *s, struct jf_text_ask *ask);
/*
 * Tell @left of all jumps that leave the function, and of what may be one. 0; -ENOENT
 * if there are others, -EAGAIN for jf_arch_uncover(), -ENOMEM, or the error of @left.
 * With jf_mutex held.
 */
int jf_arch_jumps(struct jf_text_ask *ask);
/*
 * Some instructions of the text from which @to is reached, the nearest ones first. How
 * many, at most @max; or -ENOMEM. With jf_mutex held.
 */
int jf_arch_leading(struct jf_text_ask *ask, unsigned long to,
		    unsigned long *from, unsigned int max);

#endif /* JF_ARCH_REACH_H */
