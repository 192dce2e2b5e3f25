// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A direct call of a function in another object of the same program. */
#include "row.h"

#define BODY
#define SITE(hi, lo)	bench_target_##hi##lo()
#include "loops.h"

BENCH_ROWS("c-call", "direct", "static direct call", NULL);
