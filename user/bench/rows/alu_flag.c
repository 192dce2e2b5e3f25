// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Test and branch on a flag for each site. */
#include "row.h"

/* Not static: the compiler would see that it never changes. */
uint8_t OWN(flags)[FEW][CACHE_LINE];

#define SITE(hi, lo)							\
	if (__builtin_expect(OWN(flags)[0x##lo][0], 0))			\
		BENCH_SLOW()
#include "alu.h"

ALU_ROW("flag", "if (flag), one line each");
