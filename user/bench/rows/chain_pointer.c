// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Calls through pointers, each with the result of the one before. */
#include "row.h"

#define POINTER(hi, lo)	bench_link_##hi##lo,
long (*OWN(pointers)[FEW])(long x) = { FOR_64(POINTER, 0) };

#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	chain = OWN(pointers)[SITE_INDEX(hi, lo)](chain)
#include "loops.h"

BENCH_ROW_LINE("call-chain", "pointer", "function pointer", NULL);
