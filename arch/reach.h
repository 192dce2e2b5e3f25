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

#endif /* JF_ARCH_REACH_H */
