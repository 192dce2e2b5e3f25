// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Values of operands of instructions, as they are when a thread comes by: registers, and memory
 * that these lead to.
 */
#include "value.h"
#include "saved.h"

typedef uint16_t unaligned16 __attribute__((__aligned__(1), __may_alias__));
typedef uint32_t unaligned32 __attribute__((__aligned__(1), __may_alias__));
typedef uint64_t unaligned64 __attribute__((__aligned__(1), __may_alias__));

static uint64_t load(uintptr_t addr, const struct jf_operand *o)
{
	switch (o->size) {
	case 1:
		return *(const uint8_t *)addr;
	case 2:
		return *(const unaligned16 *)addr;
	case 4:
		return *(const unaligned32 *)addr;
	}
	return *(const unaligned64 *)addr;
}

/* They are the thread's still: nothing here uses one. */
static uint64_t vector(unsigned int nr)
{
	uint64_t v = 0;

#define VECTOR(n)	case n: __asm__ volatile("movq %%xmm" #n ", %0" : "=r" (v)); break
	switch (nr) {
	VECTOR(0);
	VECTOR(1);
	VECTOR(2);
	VECTOR(3);
	VECTOR(4);
	VECTOR(5);
	VECTOR(6);
	VECTOR(7);
	VECTOR(8);
	VECTOR(9);
	VECTOR(10);
	VECTOR(11);
	VECTOR(12);
	VECTOR(13);
	VECTOR(14);
	VECTOR(15);
	}
#undef VECTOR
	return v;
}

uint64_t jf_value(const struct jf_operand *o, const struct jf_saved *s)
{
	uint64_t addr;

	switch (o->kind) {
	case JF_OPERAND_REG:
		return s->reg[o->base] >> o->shift;
	case JF_OPERAND_CONST:
		return (uint64_t)o->disp;
	case JF_OPERAND_MEM:
		addr = (uint64_t)o->disp;
		if (o->base != JF_REG_NONE)
			addr += s->reg[o->base];
		if (o->index != JF_REG_NONE)
			addr += s->reg[o->index] * o->scale;
		return jf_is_address(addr) ? load(addr, o) : 0;
	case JF_OPERAND_VECTOR:
		return vector(o->base);
	}
	return 0;
}
