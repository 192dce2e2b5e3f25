/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Where an arm64 instruction leads.
 *
 * API:
 *   jf_insn_length(p)			length of the instruction at p: four bytes
 *   jf_insn_flow(p, ip, &target)	which instruction is executed after it
 *
 * As common/x86/flow.h. Caveats: no kernel call and no libc call
 * is made here; addresses are plain integers.
 */
#ifndef JF_FLOW_ARM64_H
#define JF_FLOW_ARM64_H

#include "common/arm64/insn.h"

/* Bytes of one instruction, at most. */
#define JF_INSN_LONGEST	JF_INSN_SIZE

/**
 * enum jf_insn_flow - successor of an instruction
 * @JF_FLOW_UNKNOWN:	not known
 * @JF_FLOW_NEXT:	the next one, also after a call through a register
 * @JF_FLOW_BRANCH:	the next one, or its target
 * @JF_FLOW_JUMP:	its target
 * @JF_FLOW_CALL:	its target, and the next one after that
 * @JF_FLOW_END:	none in this text: a return, a trap
 * @JF_FLOW_AWAY:	the address in a register
 */
enum jf_insn_flow {
	JF_FLOW_UNKNOWN,
	JF_FLOW_NEXT,
	JF_FLOW_BRANCH,
	JF_FLOW_JUMP,
	JF_FLOW_CALL,
	JF_FLOW_END,
	JF_FLOW_AWAY,
};

static inline size_t jf_insn_length(const uint8_t *p)
{
	(void)p;
	return JF_INSN_SIZE;
}

/**
 * jf_insn_flow() - find the successor of an instruction
 * @p:      its bytes
 * @ip:     the address at which it stands
 * @target: receives where a branch, a jump or a call leads; else untouched
 *
 * Context: any. Return: enum jf_insn_flow.
 */
static inline enum jf_insn_flow jf_insn_flow(const uint8_t *p, uint64_t ip,
					     uint64_t *target)
{
	uint32_t insn = jf_insn_load(p);

	switch (jf_insn_decode(insn, ip, target)) {
	case JF_INSN_JMP:
		return JF_FLOW_JUMP;
	case JF_INSN_CALL:
		return JF_FLOW_CALL;
	case JF_INSN_NOP:
		return JF_FLOW_NEXT;
	case JF_INSN_OTHER:
		break;
	}
	/* b.cond, bc.cond; cbz, cbnz */
	if ((insn & 0xff000000U) == 0x54000000U ||
	    (insn & 0x7e000000U) == 0x34000000U) {
		*target = ip + (__jf_insn_sext(insn >> 5, 19) << 2);
		return JF_FLOW_BRANCH;
	}
	/* tbz, tbnz */
	if ((insn & 0x7e000000U) == 0x36000000U) {
		*target = ip + (__jf_insn_sext(insn >> 5, 14) << 2);
		return JF_FLOW_BRANCH;
	}
	/* Compare and branch of two registers, or of one and a constant (FEAT_CMPBR) */
	if ((insn & 0xfe000000U) == 0x74000000U) {
		*target = ip + (__jf_insn_sext(insn >> 5, 9) << 2);
		return JF_FLOW_BRANCH;
	}
	/* Branches to registers, and returns, signed ones included. */
	if ((insn & 0xfe000000U) == 0xd6000000U) {
		switch (insn >> 21 & 7) {
		case 0:
			return JF_FLOW_AWAY;
		case 1:
			return JF_FLOW_NEXT;
		case 2: case 4: case 5:
			return JF_FLOW_END;
		default:
			return JF_FLOW_UNKNOWN;
		}
	}
	/* retaasppc, retabsppc */
	if ((insn & 0xff000000U) == 0x55000000U)
		return JF_FLOW_END;
	/* brk, hlt, udf */
	if (jf_insn_is_break(insn) || (insn & 0xffe0001fU) == 0xd4400000U ||
	    !(insn & 0xffff0000U))
		return JF_FLOW_END;
	return JF_FLOW_NEXT;
}

#endif /* JF_FLOW_ARM64_H */
