// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A jump to the other side that is always there: the goal for a branch that is on. */
#include "row.h"

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	__asm__ goto(".byte 0xe9; .long %l0 - (. + 4)" :::: other_##hi##lo); \
	if (0) {							\
other_##hi##lo:								\
		__asm__ volatile("" ::: "memory");			\
	}
#include "loops.h"

BENCH_ROWS("branch", "jump", "a direct jump, and back", NULL);
