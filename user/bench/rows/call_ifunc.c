// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An ifunc for each site: its resolver chooses the target once, at start. */
#include "row.h"

#define IFUNC(hi, lo)							\
	static void (*resolve_##hi##lo(void))(void)			\
	{								\
		return bench_target_##hi##lo;				\
	}								\
	static void chosen_##hi##lo(void)				\
	__attribute__((ifunc("resolve_" #hi #lo)));
FOR_ALL(IFUNC)

#define BODY
#define SITE(hi, lo)	chosen_##hi##lo()
#include "loops.h"

BENCH_ROWS("call", "ifunc", "ifunc", NULL);
