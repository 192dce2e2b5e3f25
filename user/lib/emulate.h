/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The actions of SIGTRAP handlers in place of an instruction, and for others.
 *
 * API:
 *   jf_emulate(regs, ip, insn)	have the effect of an instruction
 *   jf_pass_on(previous, sig, info, context)	not ours: call the handler that was there
 *						before
 *
 * The includer has included <signal.h> and <ucontext.h>.
 */
#ifndef JF_EMULATE_H
#define JF_EMULATE_H

#include "common/x86/trap.h"

#define FLAGS_CLEARED_BY_XOR	0x891	/* OF, SF, AF, CF */
#define FLAGS_SET_BY_XOR	0x044	/* ZF, PF */

/* Has the effect of the instruction on the interrupted thread. */
static inline bool jf_emulate(greg_t *regs, uintptr_t ip, jf_insn_t insn)
{
	struct jf_trap trap;

	/* A former call of a probe function: "ret", and "mov $imm32, %eax". */
	if (jf_insn_byte(insn, 0) == JF_OPCODE_RET) {
		regs[REG_RIP] = *(greg_t *)regs[REG_RSP];
		regs[REG_RSP] += 8;
		return true;
	}
	if (jf_insn_byte(insn, 0) == JF_OPCODE_MOV) {
		regs[REG_RAX] = (greg_t)(insn >> 8);
		regs[REG_RIP] = (greg_t)(ip + JF_INSN_SIZE);
		return true;
	}
	if (!jf_proto_trap(insn, ip, &trap))
		return false;
	if (trap.push) {
		/* May fault where the call itself would have. */
		regs[REG_RSP] -= 8;
		*(uint64_t *)regs[REG_RSP] = trap.ret;
	}
	if (trap.zero) {
		regs[REG_RAX] = 0;
		regs[REG_EFL] &= ~FLAGS_CLEARED_BY_XOR;
		regs[REG_EFL] |= FLAGS_SET_BY_XOR;
	}
	regs[REG_RIP] = (greg_t)trap.to;
	return true;
}

static inline void jf_pass_on(const struct sigaction *previous, int sig,
			      siginfo_t *info, void *context)
{
	ucontext_t *uc = (ucontext_t *)context;

	if (previous->sa_flags & SA_SIGINFO) {
		previous->sa_sigaction(sig, info, context);
	} else if (previous->sa_handler == SIG_IGN && info->si_code != SI_KERNEL) {
		return;
	} else if (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN) {
		/* Die at the right place: meet the INT3 again, or the signal. */
		struct sigaction dfl = { .sa_handler = SIG_DFL };

		sigaction(SIGTRAP, &dfl, NULL);
		if (info->si_code == SI_KERNEL)
			uc->uc_mcontext.gregs[REG_RIP]--;
		else
			raise(SIGTRAP);
	} else {
		previous->sa_handler(sig);
	}
}

#endif /* JF_EMULATE_H */
