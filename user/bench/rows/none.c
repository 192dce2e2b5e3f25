// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The base of all branches: the work between them alone. */
#include "row.h"

#define BODY		BRANCH_BODY
#define SITE(hi, lo)
#include "loops.h"

static void flush_nothing(void)
{
}

BENCH_ROWS("branch", "none", "no site", NULL);
BENCH_ROW_COLD("branch-cold", "none", "no site", flush_nothing);
