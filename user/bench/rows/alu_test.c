// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* "test $imm32,%eax", as at a site of libjumpfunc while it changes. */
#include "row.h"

#define SITE(hi, lo)							\
	__asm__ goto(".byte 0xa9, 0x1f, 0x44, 0x00, 0x00" :::: slow_##hi##lo);	\
	if (0) {							\
slow_##hi##lo:								\
		BENCH_SLOW();				\
	}
#include "alu.h"

ALU_ROW("test", "test $imm32,%eax");
