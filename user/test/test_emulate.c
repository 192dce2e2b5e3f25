// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The SIGTRAP handler's effect in place of an instruction, beside the CPU's own: registers, stack
 * and flags.
 *
 * usage: test_emulate
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/emulate.h"
#include "tap.h"

#define IP	0x7000UL
#define TO	0x12345678UL
#define FLAGS	0xad5UL		/* OF, SF, ZF, AF, PF, CF, and IF */

static uint64_t stack[4];
static greg_t regs[NGREG], before[NGREG];

static bool run(jf_insn_t insn, uint64_t flags)
{
	int i;

	for (i = 0; i < NGREG; i++)
		before[i] = 0x100 + i;
	before[REG_RSP] = (greg_t)(uintptr_t)&stack[2];
	before[REG_RIP] = IP + 1;
	before[REG_EFL] = (greg_t)flags;
	memcpy(regs, before, sizeof(regs));
	memset(stack, 0xee, sizeof(stack));
	return jf_emulate(regs, IP, insn);
}

/* All registers but those of @mask, a bit each, are as they were. */
static void check_others(uint64_t mask)
{
	int i;

	for (i = 0; i < NGREG; i++)
		CHECK(mask >> i & 1 || regs[i] == before[i], "register %d: %#llx", i,
		      (unsigned long long)regs[i]);
}

#define ONLY_RIP	(1ULL << REG_RIP)

static void jumps(void)
{
	jf_insn_t insn;

	CHECK(run(jf_insn_nop(), FLAGS) && regs[REG_RIP] == IP + 5, "nop");
	check_others(ONLY_RIP);
	must(jf_insn_jmp(&insn, IP, TO), "a jump");
	CHECK(run(insn, FLAGS) && regs[REG_RIP] == TO, "jmp");
	check_others(ONLY_RIP);
	CHECK(stack[1] == stack[0] && stack[2] == stack[0], "the stack");
	CHECK(!run(0x90, FLAGS), "no site has this");
	check_others(0);
	finish("a nop, a jump, and what is neither");
}

static void calls(void)
{
	uint64_t untouched;
	jf_insn_t insn;

	must(jf_insn_call(&insn, IP, TO), "a call");
	CHECK(run(insn, FLAGS) && regs[REG_RIP] == TO, "call");
	check_others(ONLY_RIP | 1ULL << REG_RSP);
	untouched = stack[0];
	CHECK(regs[REG_RSP] == before[REG_RSP] - 8, "the stack pointer");
	CHECK(stack[1] == IP + 5, "the return address: %#llx", (unsigned long long)stack[1]);
	CHECK(stack[2] == untouched && stack[3] == untouched, "more than that was written");
	finish("a call");
}

/* The flags after "xor %eax,%eax", with all of them set before, and with none. */
static uint64_t real_flags(uint64_t flags)
{
	__asm__ volatile("sub $128, %%rsp; push %0; popf; xor %%eax, %%eax; pushf; pop %0; add $128, %%rsp"
			 : "+r" (flags) : : "rax", "cc", "memory");
	return flags;
}

static void zeroes(void)
{
	/* AF is undefined after it, and CPUs clear it. */
	static const uint64_t flags[] = { FLAGS, 0x202 };
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(run(jf_insn_ret0(), flags[i]) && regs[REG_RIP] == IP + 5, "return 0");
		check_others(ONLY_RIP | 1ULL << REG_RAX | 1ULL << REG_EFL);
		CHECK(regs[REG_RAX] == 0, "the result");
		CHECK(((uint64_t)regs[REG_EFL] & FLAGS) == (real_flags(flags[i]) & FLAGS),
		      "flags %#llx from %#llx", (unsigned long long)regs[REG_EFL],
		      (unsigned long long)flags[i]);
	}
	finish("return 0: the result and all flags");
}

static void probes(void)
{
	/* "ret" with the operand of a jump after it; "mov $1, %eax" */
	CHECK(run(0x12345678c3, FLAGS) && regs[REG_RIP] == (greg_t)0xeeeeeeeeeeeeeeee, "ret");
	CHECK(regs[REG_RSP] == (greg_t)(uintptr_t)&stack[3], "the stack");
	check_others(ONLY_RIP | 1ULL << REG_RSP);
	CHECK(run(0x1b8, FLAGS) && regs[REG_RIP] == IP + 5 && regs[REG_RAX] == 1, "mov $1");
	check_others(ONLY_RIP | 1ULL << REG_RAX);
	CHECK(run(0xb8, FLAGS) && regs[REG_RIP] == IP + 5 && !regs[REG_RAX], "mov $0");
	check_others(ONLY_RIP | 1ULL << REG_RAX);
	finish("what were calls of probe functions: flags and other registers stay");
}

int main(void)
{
	jumps();
	calls();
	zeroes();
	probes();
	return tap_end();
}
