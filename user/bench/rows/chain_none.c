// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The base of a chain of calls: the functions' work, without a call. */
#include "row.h"

#define NO_RANDOM
#define BODY
/* The compiler must not know more of it than of a call. */
#define SITE(hi, lo)	chain = chain * 3 + SITE_INDEX(hi, lo); __asm__ volatile("" : "+r" (chain))
#include "loops.h"

BENCH_ROW_LINE("call-chain", "none", "no call", NULL);
