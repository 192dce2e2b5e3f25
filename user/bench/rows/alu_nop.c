// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A bare nop of five bytes. */
#include "row.h"

#define SITE(hi, lo)							\
	__asm__ goto(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00" :::: slow_##hi##lo);	\
	if (0) {							\
slow_##hi##lo:								\
		BENCH_SLOW();				\
	}
#include "alu.h"

ALU_ROW("nop5", "a bare nop5");
