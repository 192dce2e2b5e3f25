/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Operands of instructions (value.c). */
#ifndef JF_AGENT_VALUE_H
#define JF_AGENT_VALUE_H

#include "agent.h"

struct jf_saved;

enum jf_operand_kind {
	JF_OPERAND_NONE,	/* it cannot be read */
	JF_OPERAND_REG,
	JF_OPERAND_CONST,
	JF_OPERAND_MEM,
	JF_OPERAND_VECTOR,	/* the low part of an SSE register */
};

#define JF_REG_NONE	16
#define JF_REG_RIP	17

/**
 * struct jf_operand - where a note's argument is
 * @kind:  enum jf_operand_kind
 * @size:  1, 2, 4 or 8
 * @sign:  is it signed
 * @real:  a float or a double
 * @shift: of a register, in bits: 8 for %ah
 * @base:  the register of the value, or of its address; numbers as in instructions
 * @index: added to that, times @scale
 * @scale: 1, 2, 4 or 8
 * @at:    where in the record
 * @disp:  added to the address, or the constant
 */
struct jf_operand {
	uint8_t		kind;
	uint8_t		size;
	bool		sign;
	bool		real;
	uint8_t		shift;
	uint8_t		base;
	uint8_t		index;
	uint8_t		scale;
	uint8_t		at;
	int64_t		disp;
};

/*
 * The range that the kernel maps: vm.mmap_min_addr as it is by default, and the end of the lower
 * half with five levels of tables.
 */
#define JF_LOWEST		UINT64_C(0x10000)
#define JF_HIGHEST		UINT64_C(0x00fffffffffffff7)

/*
 * NULL and the first page are no address, nor is the kernel's half. Of others it is not known
 * without a system call, for which a filter may kill.
 */
static inline bool jf_is_address(uint64_t addr)
{
	return addr >= JF_LOWEST && addr <= JF_HIGHEST;
}

/* An operand of an instruction, as it is when a thread comes by. */
JF_HIDDEN uint64_t jf_value(const struct jf_operand *o, const struct jf_saved *s);

static inline void jf_put(char *at, const struct jf_operand *o, uint64_t v)
{
	switch (o->size) {
	case 1:
		*(uint8_t *)at = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)(void *)at = (uint16_t)v;
		break;
	case 4:
		*(uint32_t *)(void *)at = (uint32_t)v;
		break;
	default:
		*(uint64_t *)(void *)at = v;
	}
}

#endif /* JF_AGENT_VALUE_H */
