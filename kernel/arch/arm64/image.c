// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch images on arm64: immutable code that calls one or more functions, each
 * with data of its own. See kernel/arch/arm64/images.S for an example.
 *
 * The life of an image is that of kernel/arch/x86/image.c: free -> filled in (no CPU can
 * reach it) -> published by the updater that points a site at it -> unpublished -> after a
 * grace period free again. Only in the second state are its bytes written, through a
 * writable alias, and cleaned to where instructions are fetched from.
 *
 * No CPU can run stale instructions of an image that is reused, or load stale literals: after
 * it has been written, and before a site leads to it, each CPU has taken part in a
 * broadcast (jf_arch_settle()). It takes the interrupt, which orders its loads, and
 * executes an ISB, which has it drop the instructions that it has fetched.
 *
 * A branch reaches 128 MiB. Where a probe is further away, it is called by way of a
 * veneer of the slot, which loads the address. The literal is filled in in any case:
 * kernel/arch/arm64/stack.c reads it there.
 */
#include "arch/arm64/arm64.h"
#include "arch/arm64/image.h"

#include "arch/image.h"
#include "arch/layout.h"

#include <linux/bitmap.h>
#include <linux/slab.h>
#include <linux/string.h>

static_assert(JF_CHAIN_SLOTS == JF_ARCH_IMAGE_CALLS);

#define jf_insn_t	u32

#define JF_IMAGE_PAD	0
#define JF_VENEER_SIZE	(2 * JF_INSN_SIZE)
#define JF_LITERALS	(2 * sizeof(u64))

static struct jf_pool jf_pools[] = {
	{ &jf_pool_single, 12, 1 },
	{ &jf_pool_small, 3, JF_CHAIN_SLOTS },
	{ &jf_pool_regs, 7, JF_CHAIN_SLOTS },
	{ &jf_pool_stack, 12, JF_CHAIN_SLOTS },
};

static int jf_fill_slot(u8 *buf, const u8 *entry, const struct jf_pool_layout *l,
			unsigned int slot, const struct jf_arch_call *c)
{
	unsigned int off = l->first + slot * l->slot_size;
	unsigned int literal = l->literals + slot * JF_LITERALS;
	unsigned long call = (unsigned long)entry + off + l->call, to = c->func;
	u64 func = c->func;
	u32 insn;
	int err;

	/* It may have been a branch to the end. */
	jf_insn_store(buf + off, jf_insn_load_x0(literal - off));
	memcpy(buf + literal, &c->data, sizeof(c->data));
	memcpy(buf + literal + sizeof(u64), &func, sizeof(func));
	if (!jf_insn_reaches(call, to))
		to = (unsigned long)entry + l->veneers + slot * JF_VENEER_SIZE;
	/* The last word leads to one probe, all others are called. */
	err = l->first + l->slot_size == l->exit ?
		jf_insn_jmp(&insn, call, to) : jf_insn_call(&insn, call, to);
	if (!err)
		jf_insn_store(buf + off + l->call, insn);
	return err;
}

#include "arch/pool.h"
