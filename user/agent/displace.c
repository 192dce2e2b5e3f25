// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Copies of instructions that have the same effect at another place. Zydis takes them apart.
 *
 *   relative to the instruction pointer	another displacement
 *   branches	with a distance of 32 bits; loop and jrcxz around one
 *   calls	push the address that they would have pushed, and jump: so nothing returns to the
 *		copy, and unwinders and exceptions find the addresses that they know
 *   all else	as it is
 *
 * A branch leads where it led, also into the replaced bytes, where there is a breakpoint then.
 *
 * Only a copy of syscall leaves an address of its own place, in %rcx, and no program has a use for
 * that value. With a shadow stack a call would miss its entry there: the agent does nothing in such
 * a process (request.c).
 */
#include "displace.h"

#include <string.h>
#include <Zydis/Zydis.h>

/**
 * jf_code_put() - add bytes @code: the new code; too many are counted on, and seen at the end
 * @bytes: to be added
 * @num:   of them
 */
void jf_code_put(struct jf_code *code, const void *bytes, size_t num)
{
	if (code->used + num <= code->size)
		memcpy(code->bytes + code->used, bytes, num);
	code->used += num;
}

static void put1(struct jf_code *code, unsigned int byte)
{
	uint8_t b = (uint8_t)byte;

	jf_code_put(code, &b, 1);
}

/* The distance from the end of itself, after @opcode. */
static int put_rel32(struct jf_code *code, const void *opcode, size_t num, uintptr_t to)
{
	int64_t rel = (int64_t)(to - (code->at + code->used + num + 4));
	int32_t rel32 = (int32_t)rel;

	jf_code_put(code, opcode, num);
	jf_code_put(code, &rel32, sizeof(rel32));
	return rel == rel32 ? 0 : -ERANGE;
}

/**
 * jf_code_jmp() - add a jump @code: the new code
 * @to:   where to
 *
 * Return: 0, -ERANGE
 */
int jf_code_jmp(struct jf_code *code, uintptr_t to)
{
	return put_rel32(code, "\xe9", 1, to);
}

/* Flags and all registers stay. */
static void push_address(struct jf_code *code, uintptr_t value)
{
	uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);

	jf_code_put(code, "\x48\x8d\x64\x24\xf8", 5);		/* lea -8(%rsp),%rsp */
	jf_code_put(code, "\xc7\x04\x24", 3);			/* movl $low,(%rsp) */
	jf_code_put(code, &low, 4);
	jf_code_put(code, "\xc7\x44\x24\x04", 4);		/* movl $high,4(%rsp) */
	jf_code_put(code, &high, 4);
}

static int put_branch(struct jf_code *code, const uint8_t *insn, const ZydisDecodedInstruction *d,
		      uintptr_t next)
{
	uintptr_t to = next + (uintptr_t)d->raw.imm[0].value.s;
	uint8_t op[2] = { 0x0f, (uint8_t)(0x80 | (d->opcode & 15)) };

	switch (d->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		push_address(code, next);
		return jf_code_jmp(code, to);
	case ZYDIS_CATEGORY_UNCOND_BR:
		return jf_code_jmp(code, to);
	case ZYDIS_CATEGORY_COND_BR:
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (d->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && d->opcode >= 0xe0 && d->opcode <= 0xe3) {
		/* As it was, with its prefixes, but around a jump. */
		jf_code_put(code, insn, d->length - 1U);
		put1(code, 2);
		jf_code_put(code, "\xeb\x05", 2);
		return jf_code_jmp(code, to);
	}
	/* All that are left have the condition in their last four bits. */
	if ((d->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && d->opcode >> 4 == 7) ||
	    (d->opcode_map == ZYDIS_OPCODE_MAP_0F && d->opcode >> 4 == 8))
		return put_rel32(code, op, 2, to);
	return -EOPNOTSUPP;
}

static bool uses_ip(const ZydisDecodedInstruction *d)
{
	return d->attributes & ZYDIS_ATTRIB_HAS_MODRM && !d->raw.modrm.mod && d->raw.modrm.rm == 5;
}

static bool uses_stack_pointer(const ZydisDecodedInstruction *d, const ZydisDecodedOperand *o)
{
	int i;

	for (i = 0; i < d->operand_count_visible; i++) {
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER && o[i].reg.value == ZYDIS_REGISTER_RSP)
			return true;
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY && (o[i].mem.base == ZYDIS_REGISTER_RSP ||
							       o[i].mem.index == ZYDIS_REGISTER_RSP))
			return true;
	}
	return false;
}

static int put_copy(struct jf_code *code, const uint8_t *insn, const ZydisDecodedInstruction *d,
		    const ZydisDecodedOperand *operands, uintptr_t next)
{
	uint8_t copy[ZYDIS_MAX_INSTRUCTION_LENGTH];
	int err = 0;

	memcpy(copy, insn, d->length);
	if (d->meta.category == ZYDIS_CATEGORY_CALL) {
		/* By a register or by memory: call is /2, jmp is /4. A far one is no compiler's. */
		if (d->opcode != 0xff || d->raw.modrm.reg != 2 || uses_stack_pointer(d, operands))
			return -EOPNOTSUPP;
		push_address(code, next);
		copy[d->raw.modrm.offset] ^= (0x2 ^ 0x4) << 3;
	}
	if (uses_ip(d)) {
		int64_t disp = (int64_t)(next + (uintptr_t)d->raw.disp.value -
					 (code->at + code->used + d->length));
		int32_t disp32 = (int32_t)disp;

		/* With addresses of 32 bits it is cut off: no compiler's either. */
		if (d->raw.disp.size != 32 || d->address_width != 64)
			return -EOPNOTSUPP;
		if (disp != disp32)
			err = -ERANGE;
		memcpy(copy + d->raw.disp.offset, &disp32, sizeof(disp32));
	}
	jf_code_put(code, copy, d->length);
	return err;
}

static bool ends(const ZydisDecodedInstruction *d)
{
	return d->meta.category == ZYDIS_CATEGORY_UNCOND_BR || d->meta.category == ZYDIS_CATEGORY_RET ||
	       d->mnemonic == ZYDIS_MNEMONIC_UD2 || d->mnemonic == ZYDIS_MNEMONIC_HLT;
}

/**
 * jf_displace() - copy an instruction
 * @code:  where to; what is there already stays
 * @insn:  the instruction
 * @avail: bytes that are there
 * @at:    where it stands
 * @moved: is filled in, with @len also for -ERANGE
 *
 * Return: 0; -EILSEQ: these bytes are no instruction; -EOPNOTSUPP: it cannot be moved; -ERANGE: not
 * so far
 */
int jf_displace(struct jf_code *code, const uint8_t *insn, size_t avail, uintptr_t at,
		struct jf_moved *moved)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, insn, avail, &d, operands)))
		return -EILSEQ;
	moved->len = d.length;
	moved->ends = ends(&d);
	/* An instruction that traps, or asks for its place, cannot be made to find the old one. */
	if (d.meta.category == ZYDIS_CATEGORY_INTERRUPT || d.mnemonic == ZYDIS_MNEMONIC_XBEGIN)
		return -EOPNOTSUPP;
	if (d.attributes & ZYDIS_ATTRIB_IS_RELATIVE && d.raw.imm[0].is_relative)
		return put_branch(code, insn, &d, at + d.length);
	return put_copy(code, insn, &d, operands, at + d.length);
}
