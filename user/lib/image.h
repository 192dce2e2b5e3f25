/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The code of dispatch images, for the engine and for libjumpfunc.
 *
 * API: jf_image_emit() writes the calls of some probes to a struct jf_emit.
 *
 * The includer has defined struct jf_probe (func, data), and with JF_CHAIN_MAX
 * and JF_TRACE_MAX_ARGS how many probes and arguments there are at most.
 */
#ifndef JF_IMAGE_H
#define JF_IMAGE_H

#include "emit.h"

/* Callee-saved registers keep the arguments between the calls of a chain. */
static const struct {
	uint8_t push[2], pop[2], save[3], load[3];
	uint8_t push_size;
} jf_image_args[JF_TRACE_MAX_ARGS] = {
	/* %rsi in %rbx, %rdx in %rbp, %rcx in %r12, %r8 in %r13, %r9 in %r14 */
	{ { 0x53 }, { 0x5b }, { 0x48, 0x89, 0xf3 }, { 0x48, 0x89, 0xde }, 1 },
	{ { 0x55 }, { 0x5d }, { 0x48, 0x89, 0xd5 }, { 0x48, 0x89, 0xea }, 1 },
	{ { 0x41, 0x54 }, { 0x41, 0x5c }, { 0x49, 0x89, 0xcc }, { 0x4c, 0x89, 0xe1 }, 2 },
	{ { 0x41, 0x55 }, { 0x41, 0x5d }, { 0x4d, 0x89, 0xc5 }, { 0x4d, 0x89, 0xe8 }, 2 },
	{ { 0x41, 0x56 }, { 0x41, 0x5e }, { 0x4d, 0x89, 0xce }, { 0x4d, 0x89, 0xf1 }, 2 },
};

/* A call of @to, or a jump. */
static inline void __jf_image_lead(struct jf_emit *e, uint64_t to, bool call, bool far)
{
	if (far && !jf_insn_reaches(jf_emit_here(e), to)) {
		jf_emit_mov_rax(e, to);
		jf_emit(e, 2, 0xff, call ? 0xd0 : 0xe0);
	} else if (call) {
		jf_emit_call(e, to);
	} else {
		jf_emit_jmp(e, to);
	}
}

/**
 * jf_image_emit() - the code that calls probes one after the other
 * @e:       where to
 * @probes:  the probes, in order
 * @nr:      1 to JF_CHAIN_MAX
 * @nr_args: arguments after the data, at most JF_TRACE_MAX_ARGS
 * @far:     probes may be out of reach, and are then called by a register
 *
 * Return: 0, -EINVAL, -ERANGE (a probe out of reach) or -ENOMEM (no room).
 */
static inline int jf_image_emit(struct jf_emit *e, const struct jf_probe *probes,
				size_t nr, unsigned int nr_args, bool far)
{
	/* Whether the caller's return address and the pushes leave the stack aligned. */
	bool pad = nr_args % 2 == 0;
	unsigned int a;
	size_t i;

	if (!nr || nr > JF_CHAIN_MAX || nr_args > JF_TRACE_MAX_ARGS)
		return -EINVAL;

	if (nr > 1) {
		for (a = 0; a < nr_args; a++)
			jf_emit_mem(e, jf_image_args[a].push, jf_image_args[a].push_size);
		if (pad)
			jf_emit(e, 4, 0x48, 0x83, 0xec, 0x08);	/* sub $8,%rsp */
		for (a = 0; a < nr_args; a++)
			jf_emit_mem(e, jf_image_args[a].save, 3);
	}
	for (i = 0; i < nr - 1; i++) {
		jf_emit_mov_rdi(e, (uintptr_t)probes[i].data);
		__jf_image_lead(e, (uintptr_t)probes[i].func, true, far);
		for (a = 0; a < nr_args; a++)
			jf_emit_mem(e, jf_image_args[a].load, 3);
	}
	if (nr > 1) {
		if (pad)
			jf_emit(e, 4, 0x48, 0x83, 0xc4, 0x08);	/* add $8,%rsp */
		for (a = nr_args; a-- > 0;)
			jf_emit_mem(e, jf_image_args[a].pop, jf_image_args[a].push_size);
	}
	jf_emit_mov_rdi(e, (uintptr_t)probes[nr - 1].data);
	__jf_image_lead(e, (uintptr_t)probes[nr - 1].func, false, far);
	return e->err;
}

#endif /* JF_IMAGE_H */
