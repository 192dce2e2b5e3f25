/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sites as the architecture sees them: addresses, instructions, and the look-up
 * by address. kernel/index/index.h, which an architecture does not include, has their
 * owners.
 */
#ifndef JF_SITE_H
#define JF_SITE_H

#include <linux/list.h>
#include <linux/types.h>

#include <jumpfunc/detail/types.h>

#include "index/state.h"

struct jf_ctl;
struct jf_mod;

/* Bytes that a site takes. */
#ifdef CONFIG_ARM64
#define JF_ARCH_SITE_SIZE	4
#else
#define JF_ARCH_SITE_SIZE	5
#endif

/* So far in front of a function a call of it may lead. */
#ifdef CONFIG_CALL_PADDING
#define JF_ARCH_CALL_PAD	16
#else
#define JF_ARCH_CALL_PAD	0
#endif

/* The instruction for a site, without opcodes. */
enum jf_op {
	JF_OP_NOP,		/* fall through */
	JF_OP_RET0,		/* fall through with a return value of zero */
	JF_OP_CALL,		/* call the target */
	JF_OP_JMP,		/* jump to the target */
};

/* jf_site.flags, beside JF_SITE_* of jumpfunc/detail/table.h */
#define JF_SITE_TRAMP	0x0100	/* the jump of a trampoline */

/**
 * struct jf_site - an instruction that belongs to jumpfunc
 * @addr:  where they are; 0 once the text is unloaded
 * @insn:  the instruction that stands there, or that the running transaction
 *         puts there. Written under jf_mutex, read by the INT3 handler
 * @asked: the instruction that was asked for: @insn, but where the kernel wrote
 *         another one that does the same
 * @compiled: branch sites: the jump to the test, which was there at first
 * @label: branch sites: where the taken branch leads
 * @mod:   the module whose text it is in
 * @ctl:   the entity whose value it follows
 * @list:  on @ctl->sites
 * @flags: JF_SITE_*
 */
struct jf_site {
	unsigned long		addr;
	u64			insn;
	u64			asked;
	u64			compiled;
	unsigned long		label;
	struct jf_mod		*mod;
	struct jf_ctl		*ctl;
	struct list_head	list;
	u32			flags;
};

/**
 * struct jf_poke - one site's part in a transaction
 * @site:  the site
 * @old:   the instruction that stands there
 * @new:   the new one
 * @alias: where the site can be written, while the transaction runs
 */
struct jf_poke {
	struct jf_site	*site;
	u64		old;
	u64		new;
	u8		*alias;
};

/* Any context, NMI included: the site at @addr or NULL. */
struct jf_site *jf_site_find(unsigned long addr);
/* The first one at @addr or after it, before @end; or NULL. With jf_mutex held. */
struct jf_site *jf_site_next(unsigned long addr, unsigned long end);
/* True if @addr is in the same module as the site. */
bool jf_site_is_near(const struct jf_site *site, unsigned long addr);

#endif /* JF_SITE_H */
