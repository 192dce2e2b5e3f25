/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * How long an x86-64 instruction is, and where it leads.
 *
 * API:
 *   jf_insn_length(p)			bytes of the instruction at p; 0: not known
 *   jf_insn_flow(p, ip, &target)	its successor
 *
 * How it works: an instruction is prefixes, an opcode of one to three bytes, and the operands that
 * the opcode is known to have. Tables of rows of opcodes tell that; they have the opcodes that
 * compilers and the kernel's assembly write. An opcode that is not in them has no length here, and
 * the caller stops there.
 *
 * Caveats: it reads up to fifteen bytes. No kernel call and no libc call is made
 * here. user/test/lengths.sh compares it
 * with objdump.
 */
#ifndef JF_FLOW_X86_H
#define JF_FLOW_X86_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

/* Bytes of one instruction, at most. */
#define JF_INSN_LONGEST	15

/* The bytes after an opcode: a ModRM byte, an operand of so many bytes. */
enum {
	JF_OP_HAS_MODRM	= 0x10,
	JF_OP_HAS_WORD	= 0x20,		/* an operand of four bytes, or of two after 0x66 */
	JF_OP_HAS_WIDE	= 0x40,		/* of eight with REX.W */
	JF_OP_HAS_TESTS	= 0x80,		/* only for the first two of the group */
	JF_OP_MOFFS	= 0x100,	/* an address of eight bytes, or four after 0x67 */
	JF_OP_UNKNOWN	= 0x200,
};

/* An opcode of one byte, with nothing but its own operand. */
static inline bool __jf_is_bare(uint8_t op)
{
	return (op >= 0x50 && op < 0x60) ||	/* push, pop */
	       (op >= 0x6c && op < 0x70) ||	/* ins, outs */
	       (op >= 0x90 && op < 0xa0) ||	/* nop, xchg, cltq, cqto; wait, pushf to lahf */
	       (op >= 0xa4 && op < 0xa8) ||	/* movs, cmps */
	       (op >= 0xaa && op < 0xb0) ||	/* stos to scas */
	       (op >= 0xec && op < 0xf0) ||	/* in, out */
	       (op >= 0xf8 && op < 0xfe) ||	/* flags */
	       op == 0xc3 || op == 0xc9 || op == 0xcb || op == 0xcc ||
	       op == 0xcf || op == 0xf1 || op == 0xf4 || op == 0xf5;
}

static inline unsigned int __jf_one_byte(uint8_t op)
{
	/* Arithmetic, in eight rows of eight. */
	if (op < 0x40) {
		if ((op & 7) < 4)
			return JF_OP_HAS_MODRM;
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? JF_OP_HAS_WORD : JF_OP_UNKNOWN;
	}
	if (op == 0x9a)				/* a far call, which does not exist */
		return JF_OP_UNKNOWN;
	if (__jf_is_bare(op))
		return 0;
	/* jcc, mov $imm8, loop, jrcxz, in, out */
	if ((op >= 0x70 && op < 0x80) || (op >= 0xb0 && op < 0xb8) ||
	    (op >= 0xe0 && op < 0xe8))
		return 1;
	/* test, xchg, mov, lea, pop; shifts, x87 */
	if ((op >= 0x84 && op < 0x90) || (op >= 0xd0 && op < 0xd4) ||
	    (op >= 0xd8 && op < 0xe0))
		return JF_OP_HAS_MODRM;
	if (op >= 0xb8 && op < 0xc0)		/* mov $imm */
		return JF_OP_HAS_WORD | JF_OP_HAS_WIDE;
	if (op >= 0xa0 && op < 0xa4)		/* mov by an address */
		return JF_OP_MOFFS;
	switch (op) {
	case 0x63: case 0xfe: case 0xff:	/* movslq, inc, dec, call, jmp, push */
		return JF_OP_HAS_MODRM;
	case 0x68: case 0xa9:			/* push, test */
		return JF_OP_HAS_WORD;
	case 0x69: case 0x81: case 0xc7:	/* imul, arithmetic, mov */
		return JF_OP_HAS_MODRM | JF_OP_HAS_WORD;
	case 0x6a: case 0xa8: case 0xeb: case 0xcd:	/* push, test, jmp, int */
		return 1;
	case 0x6b: case 0x80: case 0x83:	/* imul, arithmetic */
	case 0xc0: case 0xc1: case 0xc6:	/* shifts, mov */
		return JF_OP_HAS_MODRM | 1;
	case 0xc2: case 0xca:			/* ret */
		return 2;
	case 0xc8:				/* enter */
		return 3;
	case 0xe8: case 0xe9:			/* call, jmp; no prefix changes their size */
		return 4;
	case 0xf6:
		return JF_OP_HAS_MODRM | JF_OP_HAS_TESTS | 1;
	case 0xf7:
		return JF_OP_HAS_MODRM | JF_OP_HAS_TESTS | JF_OP_HAS_WORD;
	}
	return JF_OP_UNKNOWN;
}

/* After 0x0f, and in the first map of VEX and EVEX. */
static inline unsigned int __jf_two_bytes(uint8_t op)
{
	if (op >= 0x80 && op < 0x90)		/* jcc */
		return 4;
	if ((op >= 0x70 && op < 0x74) || op == 0xc2 || (op >= 0xc4 && op < 0xc7) ||
	    op == 0xa4 || op == 0xac || op == 0xba)
		return JF_OP_HAS_MODRM | 1;		/* shuffles, shifts, comparisons */
	if (op == 0x77 || (op >= 0xc8 && op < 0xd0))
		return 0;			/* vzeroupper, bswap */
	/* syscall to wbinvd, ud2; wrmsr to sysexit; segments, cpuid, rsm */
	if ((op >= 0x05 && op < 0x0c) || (op >= 0x30 && op < 0x38) ||
	    (op >= 0xa0 && op < 0xa3) || (op >= 0xa8 && op < 0xab))
		return 0;
	/* Descriptor tables and their neighbours; control registers. */
	if (op < 0x04 || (op >= 0x20 && op < 0x24))
		return JF_OP_HAS_MODRM;
	if ((op >= 0x10 && op < 0x20) || (op >= 0x28 && op < 0x30) ||
	    (op >= 0x40 && op < 0x80) || (op >= 0x90 && op < 0xa0) ||
	    op == 0x0d || op == 0xa3 || op == 0xa5 || op == 0xab || op == 0xad ||
	    op >= 0xae)
		return JF_OP_HAS_MODRM;
	return JF_OP_UNKNOWN;
}

static inline unsigned int __jf_in_map(unsigned int map, uint8_t op)
{
	switch (map) {
	case 1:
		return __jf_two_bytes(op);
	case 2:
		return JF_OP_HAS_MODRM;
	case 3:
		return JF_OP_HAS_MODRM | 1;
	}
	return JF_OP_UNKNOWN;
}

/* The ModRM byte, and the bytes that it announces. */
static inline size_t __jf_modrm_size(const uint8_t *p)
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

static inline bool __jf_is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 ||
	       byte == 0x64 || byte == 0x65;
}

/* What @p's opcode is like, and in *size where it ends. */
static inline unsigned int __jf_opcode(const uint8_t *p, size_t *size)
{
	switch (p[0]) {
	case 0xc5:				/* VEX */
		*size += 3;
		return __jf_in_map(1, p[2]);
	case 0xc4:
		*size += 4;
		return __jf_in_map(p[1] & 0x1f, p[3]);
	case 0x62:				/* EVEX */
		*size += 5;
		return __jf_in_map(p[1] & 7, p[4]);
	case 0x0f:
		if (p[1] == 0x38 || p[1] == 0x3a) {
			*size += 3;
			return __jf_in_map(p[1] == 0x38 ? 2 : 3, p[2]);
		}
		*size += 2;
		return __jf_in_map(1, p[1]);
	}
	*size += 1;
	return __jf_one_byte(p[0]);
}

static inline size_t jf_insn_length(const uint8_t *p)
{
	size_t size = 0, prefixes;
	bool two = false, short_address = false, rex_w;
	unsigned int is;

	for (; size < 14 && __jf_is_prefix(p[size]); size++) {
		two |= p[size] == 0x66;
		short_address |= p[size] == 0x67;
	}
	prefixes = size;
	rex_w = (p[size] & 0xf8) == 0x48;
	size += (p[size] & 0xf0) == 0x40;
	is = __jf_opcode(p + size, &size);
	/* An operand size for a branch: CPUs do not agree on it. */
	if (is & JF_OP_UNKNOWN || (prefixes && two && is == 4))
		return 0;
	if (is & JF_OP_HAS_TESTS && p[size] & 0x30)
		is = JF_OP_HAS_MODRM;
	if (is & JF_OP_HAS_MODRM)
		size += __jf_modrm_size(p + size);
	if (is & JF_OP_MOFFS)
		size += short_address ? 4 : 8;
	if (is & JF_OP_HAS_WORD)
		size += is & JF_OP_HAS_WIDE && rex_w ? 8 : two && !rex_w ? 2 : 4;
	size += is & 0xf;
	return size <= JF_INSN_LONGEST ? size : 0;
}

/**
 * enum jf_insn_flow - successor of an instruction
 * @JF_FLOW_NEXT:	the next one, after a function that it calls by a pointer
 *			has returned
 * @JF_FLOW_CALL:	the same, after a function that it names
 * @JF_FLOW_BRANCH:	the next one, or its target
 * @JF_FLOW_JUMP:	its target
 * @JF_FLOW_AWAY:	an address in a register or in memory
 * @JF_FLOW_END:	nothing here: it returns, or traps
 * @JF_FLOW_UNKNOWN:	that is not known
 */
enum jf_insn_flow {
	JF_FLOW_NEXT,
	JF_FLOW_CALL,
	JF_FLOW_BRANCH,
	JF_FLOW_JUMP,
	JF_FLOW_AWAY,
	JF_FLOW_END,
	JF_FLOW_UNKNOWN,
};

static inline uint64_t __jf_disp8(const uint8_t *p)
{
	return ((uint64_t)p[0] ^ 0x80) - 0x80;
}

static inline uint64_t __jf_disp32(const uint8_t *p)
{
	uint64_t u = (uint64_t)p[0] | (uint64_t)p[1] << 8 |
		     (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;

	return (u ^ 0x80000000ULL) - 0x80000000ULL;
}

/**
 * jf_insn_flow() - find the successor of an instruction
 * @p:      its bytes, fifteen of which can be read
 * @ip:     the address at which it stands
 * @target: receives the address that it names, for a call, branch or jump that does
 *
 * Context: any. Return: see the enum.
 */
static inline enum jf_insn_flow jf_insn_flow(const uint8_t *p, uint64_t ip,
					     uint64_t *target)
{
	size_t size = jf_insn_length(p), at = 0;
	const uint8_t *op;

	if (!size)
		return JF_FLOW_UNKNOWN;
	while (at < size && __jf_is_prefix(p[at]))
		at++;
	if ((p[at] & 0xf0) == 0x40)
		at++;
	op = p + at;
	if (op[0] == 0xe8 || op[0] == 0xe9) {
		*target = ip + size + __jf_disp32(op + 1);
		return op[0] == 0xe8 ? JF_FLOW_CALL : JF_FLOW_JUMP;
	}
	if (op[0] == 0x0f && (op[1] & 0xf0) == 0x80) {
		*target = ip + size + __jf_disp32(op + 2);
		return JF_FLOW_BRANCH;
	}
	if (op[0] == 0xeb || (op[0] & 0xf0) == 0x70 || (op[0] & 0xfc) == 0xe0) {
		*target = ip + size + __jf_disp8(op + 1);
		return op[0] == 0xeb ? JF_FLOW_JUMP : JF_FLOW_BRANCH;
	}
	if (op[0] == 0xff && (op[1] & 0x30) == 0x20)
		return JF_FLOW_AWAY;
	switch (op[0]) {
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:	/* ret, iret */
	case 0xcc: case 0xf1:					/* int3, int1 */
		return JF_FLOW_END;
	case 0x0f:
		switch (op[1]) {
		case 0x05: case 0x07: case 0x34: case 0x35:	/* from and to user mode */
		case 0x0b: case 0xb9: case 0xff:		/* ud2, ud1, ud0 */
			return JF_FLOW_END;
		}
		break;
	}
	return JF_FLOW_NEXT;
}

#endif /* JF_FLOW_X86_H */
