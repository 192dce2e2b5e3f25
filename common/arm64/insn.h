/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Codec for the few arm64 instructions that jumpfunc ever writes.
 *
 * API:
 *   jf_insn_call(&insn, ip, target)	encode "bl target" at ip
 *   jf_insn_jmp(&insn, ip, target)	encode "b target" at ip
 *   jf_insn_nop()			the instruction without operand
 *   jf_insn_ret(), jf_insn_mov0()	in programs: for calls that are off
 *   jf_insn_decode(insn, ip, &target)	kind and target of an instruction
 *   jf_insn_load(p)			the instruction whose bytes are at p
 *   jf_insn_store(p, insn)		write these bytes
 *   jf_insn_is_break(insn)		true for a breakpoint
 *   jf_insn_veneer(p, ip, &target)	target of the veneer at ip
 *   jf_insn_load_x0(off), jf_insn_is_load_x16(p, ip, &at)	loads of data in text
 *
 * Example, replace the target of a site:
 *   uint32_t new;
 *   if (jf_insn_call(&new, site, func) == 0)
 *           WRITE_ONCE(*alias, new);
 *
 * How it works: every instruction is one word of four bytes, aligned, in little
 * endian whatever the byte order of data is. The architecture's manual (DDI 0487,
 * "Concurrent modification and execution of instructions") lists the instructions that
 * may be replaced by each other while other CPUs execute them: a CPU then executes
 * the old one or the new one. B, BL, NOP and BRK are in the list. No other is ever
 * written; "mov x0, #0" in particular is not in it, so that a call whose result is
 * zero stays a call.
 *
 * Displacements are computed in 64 bits and refused when they do not fit, rather than
 * truncated. They reach 128 MiB.
 *
 * Caveats: no kernel call and no libc call is made here; the header is shared by the
 * kernel module and the host tests. Addresses are plain integers. Nothing here touches
 * text.
 */
#ifndef JF_INSN_ARM64_H
#define JF_INSN_ARM64_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

/* Length, and alignment, of every instruction. */
#define JF_INSN_SIZE	4

#define JF_INSN_NOP_WORD	0xd503201fU
#define JF_INSN_RET_WORD	0xd65f03c0U
#define JF_INSN_MOV_WORD	0x52800000U	/* mov w0, #0 */
#define JF_INSN_B_WORD		0x14000000U
#define JF_INSN_BL_WORD		0x94000000U
/* All but the displacement, which counts instructions. */
#define JF_INSN_B_MASK		0xfc000000U

/* Reach of B and BL: [-JF_INSN_REACH, JF_INSN_REACH - 4]. */
#define JF_INSN_REACH		0x8000000ULL

/**
 * enum jf_insn_kind - kind of a decoded instruction
 * @JF_INSN_OTHER:	none of ours
 * @JF_INSN_NOP:	nop
 * @JF_INSN_CALL:	bl
 * @JF_INSN_JMP:	b
 */
enum jf_insn_kind {
	JF_INSN_OTHER,
	JF_INSN_NOP,
	JF_INSN_CALL,
	JF_INSN_JMP,
};

/**
 * jf_insn_reaches() - true if a branch at @ip can lead to @target
 * @ip:     address of the branch
 * @target: where it should lead
 *
 * Both are addresses of instructions. The displacement counts from the branch itself,
 * modulo 2^64 as the CPU computes it. Context: any. Return: true if it fits.
 */
static inline bool jf_insn_reaches(uint64_t ip, uint64_t target)
{
	/* Shift the window [-2^27, 2^27) to [0, 2^28): one unsigned compare. */
	return target - ip + JF_INSN_REACH < 2 * JF_INSN_REACH;
}

static inline int __jf_insn_imm26(uint32_t *insn, uint32_t opcode, uint64_t ip,
				  uint64_t target)
{
	if ((ip | target) % JF_INSN_SIZE)
		return -EINVAL;
	if (!jf_insn_reaches(ip, target))
		return -ERANGE;
	*insn = opcode | ((uint32_t)((target - ip) >> 2) & ~JF_INSN_B_MASK);
	return 0;
}

/**
 * jf_insn_call() - encode "bl @target" for address @ip
 * @insn:   receives the instruction; untouched on error
 * @ip:     where the instruction will stand
 * @target: the function to call
 *
 * Context: any. Return: 0, -ERANGE if @target is more than 128 MiB away, or -EINVAL
 * if there cannot be an instruction at one of the two.
 */
static inline int jf_insn_call(uint32_t *insn, uint64_t ip, uint64_t target)
{
	return __jf_insn_imm26(insn, JF_INSN_BL_WORD, ip, target);
}

/**
 * jf_insn_jmp() - encode "b @target" for address @ip
 * @insn:   receives the instruction; untouched on error
 * @ip:     where the instruction will stand
 * @target: where it leads
 *
 * Context: any. Return: as jf_insn_call().
 */
static inline int jf_insn_jmp(uint32_t *insn, uint64_t ip, uint64_t target)
{
	return __jf_insn_imm26(insn, JF_INSN_B_WORD, ip, target);
}

/**
 * jf_insn_nop() - the instruction that does nothing
 *
 * Context: any. Return: the instruction.
 */
static inline uint32_t jf_insn_nop(void)
{
	return JF_INSN_NOP_WORD;
}

/**
 * jf_insn_ret() - a return
 *
 * Context: any. Return: the instruction.
 */
static inline uint32_t jf_insn_ret(void)
{
	return JF_INSN_RET_WORD;
}

/**
 * jf_insn_mov0() - "w0 = 0" as a mov, whose operand may be another number
 *
 * Context: any. Return: the instruction.
 */
static inline uint32_t jf_insn_mov0(void)
{
	return JF_INSN_MOV_WORD;
}

/* The low @bits bits of @word as a signed number, without relying on how >> shifts signs. */
static inline uint64_t __jf_insn_sext(uint32_t word, unsigned int bits)
{
	uint64_t sign = 1ULL << (bits - 1);

	return ((word & (2 * sign - 1)) ^ sign) - sign;
}

/**
 * jf_insn_decode() - find the kind of an instruction
 * @insn:   the instruction
 * @ip:     the address at which it stands
 * @target: receives where it leads; the next instruction for one that does not branch
 *
 * Context: any, NMI included. Return: its kind, JF_INSN_OTHER (with @target untouched)
 * for an instruction that this codec never writes.
 */
static inline enum jf_insn_kind jf_insn_decode(uint32_t insn, uint64_t ip,
					       uint64_t *target)
{
	switch (insn & JF_INSN_B_MASK) {
	case JF_INSN_B_WORD:
		*target = ip + (__jf_insn_sext(insn, 26) << 2);
		return JF_INSN_JMP;
	case JF_INSN_BL_WORD:
		*target = ip + (__jf_insn_sext(insn, 26) << 2);
		return JF_INSN_CALL;
	}
	if (insn != JF_INSN_NOP_WORD)
		return JF_INSN_OTHER;
	*target = ip + JF_INSN_SIZE;
	return JF_INSN_NOP;
}

/**
 * jf_insn_load() - read the instruction at @p
 * @p: its bytes, in memory that may be read; need not be aligned
 *
 * Context: any. Return: the instruction.
 */
static inline uint32_t jf_insn_load(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

/**
 * jf_insn_store() - write the bytes of an instruction
 * @p:    to here, which no CPU executes; need not be aligned
 * @insn: the instruction
 *
 * Context: any.
 */
static inline void jf_insn_store(void *p, uint32_t insn)
{
	uint8_t *b = p;
	int i;

	for (i = 0; i < JF_INSN_SIZE; i++)
		b[i] = insn >> 8 * i & 0xff;
}

/**
 * jf_insn_is_break() - true for BRK, with any operand
 * @insn: the instruction
 *
 * Context: any. Return: true if it is.
 */
static inline bool jf_insn_is_break(uint32_t insn)
{
	return (insn & 0xffe0001fU) == 0xd4200000U;
}

/**
 * jf_insn_veneer() - tell where a module's veneer leads
 * @p:      three instructions
 * @ip:     the address at which they stand
 * @target: receives where they lead
 *
 * The module loader has calls of functions out of reach lead to
 *
 *	adrp	x16, page of target
 *	add	x16, x16, #offset
 *	br	x16
 *
 * or, before 5.0, to other forms. Context: any. Return: true if it is one.
 */
static inline bool jf_insn_veneer(const uint32_t *p, uint64_t ip, uint64_t *target)
{
	uint32_t imm;

	if ((p[0] & 0x9f00001fU) != 0x90000010U ||
	    (p[1] & 0xffc003ffU) != 0x91000210U || p[2] != 0xd61f0200U)
		return false;
	imm = (p[0] >> 3 & 0x1ffffc) | (p[0] >> 29 & 3);
	*target = (ip & ~0xfffULL) + (__jf_insn_sext(imm, 21) << 12) +
		  (p[1] >> 10 & 0xfff);
	return true;
}

/**
 * jf_insn_load_x0() - "ldr x0, literal"
 * @off: from the instruction to the eight bytes, up to 1 MiB; a multiple of 4
 *
 * For code that no CPU can reach: it is not one of those that can be replaced at any time.
 * Context: any. Return: the instruction.
 */
static inline uint32_t jf_insn_load_x0(uint32_t off)
{
	return 0x58000000U | (off >> 2 & 0x7ffffU) << 5;
}

/**
 * jf_insn_is_load_x16() - true for "ldr x16, literal", and "br x16" after it
 * @p:  two instructions
 * @ip: the address at which they stand
 * @at: receives where the literal is, which has the address that they lead to
 *
 * The veneers of images are such. Context: any. Return: true if it is.
 */
static inline bool jf_insn_is_load_x16(const uint32_t *p, uint64_t ip, uint64_t *at)
{
	if ((p[0] & 0xff00001fU) != 0x58000010U || p[1] != 0xd61f0200U)
		return false;
	*at = ip + (__jf_insn_sext(p[0] >> 5, 19) << 2);
	return true;
}

#endif /* JF_INSN_ARM64_H */
