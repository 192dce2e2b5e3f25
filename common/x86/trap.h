/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The actions of an INT3 handler in place of a site's instruction; common/x86/protocol.h has the
 * steps in which they are entered. This needs no world, so that a handler may stand
 * in another file than the steps do.
 *
 * API:
 *   jf_proto_trap(word, ip, &trap)	the instruction that an INT3 at a site stands for
 *
 * Caveats: no kernel call and no libc call is made here, and nothing sleeps.
 */
#ifndef JF_TRAP_X86_H
#define JF_TRAP_X86_H

#include "common/x86/insn.h"

/**
 * struct jf_trap - the effect of a site's instruction
 * @to:   where it leads
 * @ret:  the return address that it pushes
 * @push: true if it pushes one
 * @zero: true if it clears the register for return values
 */
struct jf_trap {
	uint64_t	to;
	uint64_t	ret;
	bool		push;
	bool		zero;
};

/**
 * jf_proto_trap() - find the instruction that an INT3 at a site stands for
 * @word: the site's instruction, loaded once
 * @ip:   the site
 * @trap: receives the required effect
 *
 * It does not matter whether a transaction runs. Context: any, NMI included.
 * Return: true, or false for an instruction that no site holds.
 */
static inline bool jf_proto_trap(jf_insn_t word, uint64_t ip,
				 struct jf_trap *trap)
{
	enum jf_insn_kind kind = jf_insn_decode(word, ip, &trap->to);

	trap->ret = ip + JF_INSN_SIZE;
	trap->push = kind == JF_INSN_CALL;
	trap->zero = kind == JF_INSN_RET0;
	return kind != JF_INSN_OTHER;
}

#endif /* JF_TRAP_X86_H */
