// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* if (unlikely(atomic)): one flag for all sites, as a program's "tracing is on". */
#include "row.h"

_Atomic bool OWN(on) __attribute__((aligned(CACHE_LINE)));

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	if (__builtin_expect(atomic_load_explicit(&OWN(on), memory_order_relaxed), 0)) \
		BENCH_SLOW()
#include "loops.h"

BENCH_ROWS("branch", "atomic", "if (unlikely(atomic)), one for all", NULL);
