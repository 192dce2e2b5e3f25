// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Direct calls, each with the result of the one before. */
#include "row.h"

#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	chain = bench_link_##hi##lo(chain)
#include "loops.h"

BENCH_ROW_LINE("call-chain", "direct", "static direct call", NULL);
