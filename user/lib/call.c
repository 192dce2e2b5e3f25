// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Where the compiler put the call that a dynfunc_call() is.
 *
 * The record says where the code begins that prepares the arguments. From there
 * on instructions are followed, one after the other and through jumps, until one
 * calls the trampoline, or jumps there: a tail call. What is found is thus an
 * instruction, and what it does is known. Of all others only the length matters.
 * Whatever this does not know, and a call that is not found within some dozens
 * of instructions, ends the search: that call stays as compiled.
 */
#include "lib.h"

/* Instructions, and bytes of one, at most. */
#define FAR	128
#define LONGEST	15

/* What follows an opcode: a ModRM byte, an operand of so many bytes. */
enum {
	MODRM	= 0x10,
	WORD	= 0x20,		/* an operand of four bytes, or of two after 0x66 */
	WIDE	= 0x40,		/* of eight with REX.W */
	TESTS	= 0x80,		/* only for the first two of the group */
	GROUP5	= 0x100,	/* but for jumps */
	UNKNOWN	= 0x200,
};

static unsigned int one_byte(uint8_t op)
{
	/* Arithmetic, in eight rows of eight. */
	if (op < 0x40) {
		if ((op & 7) < 4)
			return MODRM;
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? WORD : UNKNOWN;
	}
	if (op >= 0x50 && op < 0x60)		/* push, pop */
		return 0;
	if (op >= 0x70 && op < 0x80)		/* jcc */
		return 1;
	if (op >= 0x84 && op < 0x90)		/* test, xchg, mov, lea, pop */
		return MODRM;
	if (op >= 0x90 && op < 0x9a)		/* nop, xchg, cltq, cqto */
		return 0;
	if (op >= 0xb0 && op < 0xb8)		/* mov $imm8 */
		return 1;
	if (op >= 0xb8 && op < 0xc0)		/* mov $imm */
		return WORD | WIDE;
	if ((op >= 0xd0 && op < 0xd4) || (op >= 0xd8 && op < 0xe0))
		return MODRM;			/* shifts, x87 */
	switch (op) {
	case 0x63: case 0xfe:			/* movslq, inc, dec */
		return MODRM;
	case 0xff:				/* inc, dec, call, push; jmp ends it */
		return MODRM | GROUP5;
	case 0x68: case 0xa9:			/* push, test */
		return WORD;
	case 0x69: case 0x81: case 0xc7:	/* imul, arithmetic, mov */
		return MODRM | WORD;
	case 0x6a: case 0xa8:			/* push, test */
		return 1;
	case 0x6b: case 0x80: case 0x83:	/* imul, arithmetic */
	case 0xc0: case 0xc1: case 0xc6:	/* shifts, mov */
		return MODRM | 1;
	case 0xa4: case 0xa5: case 0xaa: case 0xab: case 0xc9:
		return 0;			/* movs, stos, leave */
	case 0xe8:				/* call; no prefix changes its size */
		return 4;
	case 0xf6:
		return MODRM | TESTS | 1;
	case 0xf7:
		return MODRM | TESTS | WORD;
	}
	return UNKNOWN;
}

/* Behind 0x0f, and in the first map of VEX and EVEX. */
static unsigned int two_bytes(uint8_t op)
{
	if (op >= 0x80 && op < 0x90)		/* jcc */
		return 4;
	if ((op >= 0x70 && op < 0x74) || op == 0xc2 || (op >= 0xc4 && op < 0xc7) ||
	    op == 0xa4 || op == 0xac || op == 0xba)
		return MODRM | 1;		/* shuffles, shifts, comparisons */
	if (op == 0x77 || (op >= 0xc8 && op < 0xd0))
		return 0;			/* vzeroupper, bswap */
	if ((op >= 0x10 && op < 0x20) || (op >= 0x28 && op < 0x30) ||
	    (op >= 0x40 && op < 0x80) || (op >= 0x90 && op < 0xa0) ||
	    op == 0x0d || op == 0xa3 || op == 0xa5 || op == 0xab || op == 0xad ||
	    op >= 0xae)
		return op == 0xb9 || op == 0xff ? UNKNOWN : MODRM;
	return UNKNOWN;
}

static unsigned int in_map(unsigned int map, uint8_t op)
{
	switch (map) {
	case 1:
		return two_bytes(op);
	case 2:
		return MODRM;
	case 3:
		return MODRM | 1;
	}
	return UNKNOWN;
}

/* The ModRM byte, and what it says that follows. */
static size_t modrm_size(const uint8_t *p)
{
	unsigned int mod = p[0] >> 6, rm = p[0] & 7;
	size_t size = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		size = 2;
		rm = p[1] & 7;
	} else if (rm == 5 && mod == 0) {
		return 5;
	}
	if (mod == 0)
		return rm == 5 ? size + 4 : size;
	return size + (mod == 1 ? 1 : 4);
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 ||
	       byte == 0x64 || byte == 0x65;
}

/* What @p's opcode is like, and in *size where it ends. */
static unsigned int opcode(const uint8_t *p, size_t *size)
{
	switch (p[0]) {
	case 0xc5:				/* VEX */
		*size += 3;
		return in_map(1, p[2]);
	case 0xc4:
		*size += 4;
		return in_map(p[1] & 0x1f, p[3]);
	case 0x62:				/* EVEX */
		*size += 5;
		return in_map(p[1] & 7, p[4]);
	case 0x0f:
		if (p[1] == 0x38 || p[1] == 0x3a) {
			*size += 3;
			return in_map(p[1] == 0x38 ? 2 : 3, p[2]);
		}
		*size += 2;
		return in_map(1, p[1]);
	}
	*size += 1;
	return one_byte(p[0]);
}

size_t jf_insn_length(const uint8_t *p)
{
	size_t size = 0, prefixes;
	bool two = false, rex_w;
	unsigned int is;

	for (; size < 14 && is_prefix(p[size]); size++)
		two |= p[size] == 0x66;
	prefixes = size;
	rex_w = (p[size] & 0xf8) == 0x48;
	size += (p[size] & 0xf0) == 0x40;
	is = opcode(p + size, &size);
	/* An operand size for what branches: CPUs do not agree on it. */
	if (is & UNKNOWN || (prefixes && two && is == 4))
		return 0;
	if (is & GROUP5 && (p[size] & 0x30) == 0x20)
		return 0;
	if (is & TESTS && p[size] & 0x30)
		is = MODRM;
	if (is & MODRM)
		size += modrm_size(p + size);
	if (is & WORD)
		size += is & WIDE && rex_w ? 8 : two && !rex_w ? 2 : 4;
	size += is & 0xf;
	return size <= LONGEST ? size : 0;
}

uintptr_t jf_call_find(uintptr_t from, uintptr_t to, uintptr_t start, uintptr_t end)
{
	uintptr_t at = from;
	int i;

	for (i = 0; i < FAR && at >= start && at < end && end - at > LONGEST; i++) {
		const uint8_t *p = (const uint8_t *)at;
		enum jf_insn_kind kind;
		uint64_t leads = 0;

		kind = jf_insn_decode(jf_insn_load(p), at, &leads);
		if ((kind == JF_INSN_CALL || kind == JF_INSN_JMP) && leads == to)
			return at;
		if (kind == JF_INSN_JMP) {
			at = leads;
		} else if (p[0] == 0xeb) {
			at += 2 + (uintptr_t)(intptr_t)(int8_t)p[1];
		} else {
			size_t size = jf_insn_length(p);

			if (!size)
				return 0;
			at += size;
		}
	}
	return 0;
}
