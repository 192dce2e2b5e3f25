// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Where the compiler put the call that a dynfunc_call() is.
 *
 * The record says where the code begins that prepares the arguments. From there
 * on instructions are followed, one after the other and through jumps, until one
 * calls the trampoline, or jumps there: a tail call. The match is thus an instruction, and its
 * effect is known. Of all others only the length matters. Whatever this does not know, and a call
 * that is not found within some dozens of instructions, ends the search: that call stays as
 * compiled.
 */
#include "lib.h"
#ifdef __x86_64__
#include "common/x86/flow.h"
/* The new instruction has five bytes: no prefix. */
#define IS_PLAIN(p)	((p)[0] == JF_OPCODE_CALL || (p)[0] == JF_OPCODE_JMP)
#else
#include "common/arm64/flow.h"
#define IS_PLAIN(p)	(((p)[3] & 0x7c) == JF_INSN_B_WORD >> 24)
#endif

/* Instructions, at most. */
#define FAR	128

uintptr_t jf_call_find(uintptr_t from, uintptr_t to, uintptr_t start, uintptr_t end)
{
	uintptr_t at = from;
	int i;

	for (i = 0; i < FAR && at >= start && at < end && end - at > JF_INSN_LONGEST; i++) {
		const uint8_t *p = (const uint8_t *)at;
		enum jf_insn_flow flow;
		uint64_t leads = 0;

		flow = jf_insn_flow(p, at, &leads);
		if (IS_PLAIN(p) && leads == to)
			return at;
		if (flow == JF_FLOW_JUMP)
			at = leads;
		else if (flow == JF_FLOW_AWAY || flow == JF_FLOW_END || flow == JF_FLOW_UNKNOWN)
			return 0;
		else
			at += jf_insn_length(p);
	}
	return 0;
}
