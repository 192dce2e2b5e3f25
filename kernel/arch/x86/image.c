// SPDX-License-Identifier: GPL-2.0
/*
 * Dispatch images on x86-64: immutable code that calls one or more functions, each
 * with data of its own. See kernel/arch/x86/images.S for an example.
 *
 * The life of an image: free -> filled in (jf_image_get(), no CPU can reach it) ->
 * published by the updater that points a site at it -> unpublished -> after a grace
 * period free again (jf_arch_image_put()). Only in the second state are its bytes
 * written, through a writable alias like any other text.
 *
 * No CPU can run stale bytes of an image that is reused: after it has been
 * written, and before anything leads to it, all CPUs serialise. Our own protocol
 * does that anyway: nothing leads a CPU the new way before its first broadcast.
 * The kernel's protocol emulates the new instruction from its first INT3 on, so
 * a broadcast of ours goes before it, if there has been none since
 * (jf_arch_settle()). A handler that returns by IRET would serialise as well, but
 * with FRED it returns by ERETS, so the code does not rely on that.
 */
#include "arch/x86/x86.h"
#include "arch/x86/image.h"

#include "arch/image.h"
#include "arch/layout.h"

#include <linux/bitmap.h>
#include <linux/slab.h>
#include <linux/string.h>

static_assert(JF_CHAIN_SLOTS == JF_ARCH_IMAGE_CALLS);

/* Nops in front of each image. */
#define JF_IMAGE_PAD	16
/* mov $imm64, %rdi */
#define JF_MOV_RDI_LEN	10

static struct jf_pool jf_pools[] = {
	{ &jf_pool_single, 12, 1 },
	{ &jf_pool_small, 3, JF_CHAIN_SLOTS },
	{ &jf_pool_regs, 5, JF_CHAIN_SLOTS },
	{ &jf_pool_stack, 12, JF_CHAIN_SLOTS },
};

static int jf_fill_slot(u8 *buf, const u8 *entry, const struct jf_pool_layout *l,
			unsigned int slot, const struct jf_arch_call *c)
{
	unsigned int off = l->first + slot * l->slot_size;
	unsigned int call = off + l->call;
	jf_insn_t insn;
	int err;

	buf[off] = 0x48;
	buf[off + 1] = 0xbf;
	memcpy(buf + off + 2, &c->data, sizeof(c->data));

	if (buf[call] == JF_OPCODE_JMP)
		err = jf_insn_jmp(&insn, (unsigned long)entry + call,
				  c->func);
	else if (buf[call] == JF_OPCODE_CALL)
		err = jf_insn_call(&insn, (unsigned long)entry + call,
				   c->func);
	else
		err = -EILSEQ;
	if (!err)
		jf_insn_store(buf + call, insn);
	return err;
}

#include "arch/pool.h"
