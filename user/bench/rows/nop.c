// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A bare nop of five bytes in an asm goto: the goal for a branch that is off.
 * The Rust crate static-keys also leaves one there while a key is off.
 */
#include "row.h"

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	__asm__ goto(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00" :::: slow_##hi##lo);	\
	if (0) {							\
slow_##hi##lo:								\
		BENCH_SLOW();				\
	}
#include "loops.h"

BENCH_ROWS("branch", "nop5", "a bare nop5", NULL);
