/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Codec for the few x86-64 instructions that jumpfunc ever writes.
 *
 * API:
 *   jf_insn_call(&insn, ip, target)	encode "call target" at ip
 *   jf_insn_jmp(&insn, ip, target)	encode "jmp target" at ip
 *   jf_insn_nop(), jf_insn_ret0()	the two instructions without operand
 *   jf_insn_ret(), jf_insn_mov0()	in programs: for calls that are off
 *   jf_insn_skip(&insn, ip, target)	encode a nop that is one byte from a jmp
 *   jf_insn_skip_of(jmp)			the same for a jmp that is known
 *   jf_insn_decode(insn, ip, &target)	the kind of an instruction, and its target
 *   jf_insn_is(insn, asked, ip, pad)	true if both are the same, but for a call's entry
 *   jf_insn_load(p), jf_insn_store(p, insn)	between an instruction and its bytes
 *
 * Example, replace the target of a site:
 *   jf_insn_t new;
 *   if (jf_insn_call(&new, site, func) == 0)
 *           jf_insn_store(alias, new);
 *
 * How it works: every instruction is exactly five bytes long, so one can
 * replace any other in place. An instruction travels as one 64-bit word with
 * its bytes in memory order (byte 0 in bits 0-7, bits 40-63 clear): that word
 * is read and written with a single store, so that a reader in an NMI sees the
 * old or the new instruction and never half of each.
 *
 * Displacements are computed in 64 bits and refused when they do not fit,
 * rather than truncated.
 *
 * Caveats: no kernel call and no libc call is made here; the header is shared
 * by the kernel module, the userspace library and the host tests. Addresses
 * are plain integers. Nothing here touches text.
 */
#ifndef JF_INSN_X86_H
#define JF_INSN_X86_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

/* Length of every instruction that a site can hold. */
#define JF_INSN_SIZE	5

#define JF_OPCODE_CALL	0xe8
#define JF_OPCODE_JMP	0xe9
#define JF_OPCODE_INT3	0xcc
#define JF_OPCODE_TEST	0xa9	/* test $imm32,%eax */
/* In programs, of former calls of probe functions (jf-sdt). */
#define JF_OPCODE_RET	0xc3
#define JF_OPCODE_MOV	0xb8	/* mov $imm32,%eax */

/*
 * So many bytes in front of a function a call may lead that is meant for it:
 * kernels with call-depth tracking count calls there.
 */
#define JF_CALL_PAD	16

/* Five instruction bytes in memory order, bits 40-63 clear. */
typedef uint64_t jf_insn_t;

#define JF_INSN_MASK	0xffffffffffULL

/**
 * enum jf_insn_kind - kind of a decoded instruction
 * @JF_INSN_OTHER:	none of ours
 * @JF_INSN_NOP:	a five-byte nop
 * @JF_INSN_RET0:	a five-byte "xor %eax,%eax": a call that returned zero
 * @JF_INSN_CALL:	call rel32
 * @JF_INSN_JMP:	jmp rel32
 */
enum jf_insn_kind {
	JF_INSN_OTHER,
	JF_INSN_NOP,
	JF_INSN_RET0,
	JF_INSN_CALL,
	JF_INSN_JMP,
};

/* nopl 0x0(%rax,%rax,1): the nop that all 64-bit CPUs decode as one. */
#define JF_INSN_NOP5		0x0000441f0fULL
/* data16 data16 data16 data16 nop: old kernels write this on AMD K8. */
#define JF_INSN_NOP5_K8		0x9066666666ULL
/* cs cs cs xor %eax,%eax */
#define JF_INSN_XOR5		0xc0312e2e2eULL
/* data16 data16 xor %rax,%rax: kernels before 5.18 write this. */
#define JF_INSN_XOR5_OLD	0xc031486666ULL

/**
 * jf_insn_load() - read the instruction at @p
 * @p: five readable bytes, any alignment
 *
 * Context: any. Return: the instruction.
 */
static inline jf_insn_t jf_insn_load(const void *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (jf_insn_t)b[0] | (jf_insn_t)b[1] << 8 | (jf_insn_t)b[2] << 16 |
	       (jf_insn_t)b[3] << 24 | (jf_insn_t)b[4] << 32;
}

/**
 * jf_insn_store() - write an instruction's five bytes, in no defined order
 * @p:    five writable bytes, any alignment
 * @insn: the instruction
 *
 * Not for text that may be executing: the patching protocol is for that. Context: any.
 */
static inline void jf_insn_store(void *p, jf_insn_t insn)
{
	uint8_t *b = (uint8_t *)p;
	int i;

	for (i = 0; i < JF_INSN_SIZE; i++)
		b[i] = (uint8_t)(insn >> (8 * i));
}

/**
 * jf_insn_byte() - byte number @i of an instruction
 * @insn: the instruction
 * @i:    0 to 4
 *
 * Context: any. Return: the byte.
 */
static inline uint8_t jf_insn_byte(jf_insn_t insn, int i)
{
	return (uint8_t)(insn >> (8 * i));
}

/**
 * jf_insn_reaches() - true if a five-byte branch at @ip can lead to @target
 * @ip:     address of the branch
 * @target: where it should lead
 *
 * The displacement counts from the end of the instruction and is signed, so
 * the reach is [ip + 5 - 2^31, ip + 5 + 2^31 - 1], modulo 2^64 as the CPU
 * computes it. Context: any. Return: true if it fits.
 */
static inline bool jf_insn_reaches(uint64_t ip, uint64_t target)
{
	/* Shift the window [-2^31, 2^31) to [0, 2^32): one unsigned compare. */
	return target - (ip + JF_INSN_SIZE) + 0x80000000ULL <= 0xffffffffULL;
}

static inline int __jf_insn_rel32(jf_insn_t *insn, uint8_t opcode, uint64_t ip,
				  uint64_t target)
{
	if (!jf_insn_reaches(ip, target))
		return -ERANGE;

	*insn = opcode |
		(jf_insn_t)(uint32_t)(target - (ip + JF_INSN_SIZE)) << 8;
	return 0;
}

/**
 * jf_insn_call() - encode "call @target" for address @ip
 * @insn:   receives the instruction; untouched on error
 * @ip:     where the instruction will stand
 * @target: the function to call
 *
 * Context: any. Return: 0, or -ERANGE if @target is beyond rel32.
 */
static inline int jf_insn_call(jf_insn_t *insn, uint64_t ip, uint64_t target)
{
	return __jf_insn_rel32(insn, JF_OPCODE_CALL, ip, target);
}

/**
 * jf_insn_jmp() - encode "jmp @target" for address @ip
 * @insn:   receives the instruction; untouched on error
 * @ip:     where the instruction will stand
 * @target: where it leads
 *
 * Context: any. Return: 0, or -ERANGE if @target is beyond rel32.
 */
static inline int jf_insn_jmp(jf_insn_t *insn, uint64_t ip, uint64_t target)
{
	return __jf_insn_rel32(insn, JF_OPCODE_JMP, ip, target);
}

/**
 * jf_insn_skip() - encode the nop that differs from "jmp @target" in its first byte only
 * @insn:   receives the instruction; untouched on error
 * @ip:     where the instruction will stand
 * @target: where the jump would lead
 *
 * It is "test $imm32,%eax", whose operand is the jump's displacement. It falls
 * through, and changes nothing but flags, which no branch site keeps. One store
 * of one byte makes it the jump, or the jump it, and there is nothing between.
 *
 * Context: any. Return: 0, or -ERANGE if @target is beyond rel32.
 */
static inline int jf_insn_skip(jf_insn_t *insn, uint64_t ip, uint64_t target)
{
	return __jf_insn_rel32(insn, JF_OPCODE_TEST, ip, target);
}

/**
 * jf_insn_skip_of() - the nop that differs from a jmp in its first byte only
 * @jmp: the jump
 *
 * Context: any. Return: the instruction, see jf_insn_skip().
 */
static inline jf_insn_t jf_insn_skip_of(jf_insn_t jmp)
{
	return (jmp & ~0xffULL) | JF_OPCODE_TEST;
}

/**
 * jf_insn_nop() - the five-byte nop
 *
 * Context: any. Return: the instruction.
 */
static inline jf_insn_t jf_insn_nop(void)
{
	return JF_INSN_NOP5;
}

/**
 * jf_insn_ret0() - the five-byte "eax = 0"
 *
 * Stands where a call stood whose callee would only return zero.
 * Context: any. Return: the instruction.
 */
static inline jf_insn_t jf_insn_ret0(void)
{
	return JF_INSN_XOR5;
}

/**
 * jf_insn_ret() - a return, and bytes that are not executed
 *
 * Context: any. Return: the instruction.
 */
static inline jf_insn_t jf_insn_ret(void)
{
	return 0x0101010100ULL * JF_OPCODE_INT3 | JF_OPCODE_RET;
}

/**
 * jf_insn_mov0() - "eax = 0" as a mov, whose operand may be another number
 *
 * Context: any. Return: the instruction.
 */
static inline jf_insn_t jf_insn_mov0(void)
{
	return JF_OPCODE_MOV;
}

/**
 * jf_insn_decode() - find the kind of an instruction
 * @insn:   the instruction
 * @ip:     the address at which it stands
 * @target: receives where it leads; @ip + 5 for one that does not branch
 *
 * Context: any, NMI included. Return: its kind, JF_INSN_OTHER (with @target
 * untouched) for bytes that this codec never writes.
 */
static inline enum jf_insn_kind jf_insn_decode(jf_insn_t insn, uint64_t ip,
					       uint64_t *target)
{
	uint64_t next = ip + JF_INSN_SIZE;
	/* Sign-extend bits 8-39 without relying on implementation-defined shifts. */
	uint64_t disp = ((insn >> 8 & 0xffffffffULL) ^ 0x80000000ULL) -
			0x80000000ULL;

	if (insn & ~JF_INSN_MASK)
		return JF_INSN_OTHER;

	switch (jf_insn_byte(insn, 0)) {
	case JF_OPCODE_CALL:
		*target = next + disp;
		return JF_INSN_CALL;
	case JF_OPCODE_JMP:
		*target = next + disp;
		return JF_INSN_JMP;
	}

	switch (insn) {
	case JF_INSN_NOP5:
	case JF_INSN_NOP5_K8:
		*target = next;
		return JF_INSN_NOP;
	case JF_INSN_XOR5:
	case JF_INSN_XOR5_OLD:
		*target = next;
		return JF_INSN_RET0;
	}

	return JF_INSN_OTHER;
}

/**
 * jf_insn_is() - true if an instruction is the requested one
 * @insn:  the present instruction
 * @asked: the requested instruction
 * @ip:    the address at which it stands
 * @pad:   how far in front of its target a call may lead; 0: it must be exact
 *
 * With a @pad this cannot tell a function from its neighbour, so the present instruction must be
 * known to be meant for @asked's target. Context: any. Return: true if it is, or if both are calls
 * that far apart.
 */
static inline bool jf_insn_is(jf_insn_t insn, jf_insn_t asked, uint64_t ip,
			      unsigned int pad)
{
	uint64_t to, asked_to;

	if (insn == asked)
		return true;
	return jf_insn_decode(insn, ip, &to) == JF_INSN_CALL &&
	       jf_insn_decode(asked, ip, &asked_to) == JF_INSN_CALL &&
	       asked_to - to <= pad;
}

#endif /* JF_INSN_X86_H */
