// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Test and branch on a flag for each site, as an option of a program. */
#include "row.h"

/* Not static: the compiler would see that it never changes. */
uint8_t OWN(flags)[MANY][CACHE_LINE];

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	if (__builtin_expect(OWN(flags)[SITE_INDEX(hi, lo)][0], 0))	\
		BENCH_SLOW()
#include "loops.h"

static void flush_flags_of_row(void)
{
	flush_lines(OWN(flags), FEW, CACHE_LINE);
}

BENCH_ROWS("branch", "flag", "if (flag), one line each", NULL);
BENCH_ROW_COLD("branch-cold", "flag", "if (flag), flushed", flush_flags_of_row);
