// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A call into a shared object, through the procedure linkage table. */
#include "row.h"

#include "shared.h"

#define BODY
#define SITE(hi, lo)	bench_shared_##hi##lo()
#include "loops.h"

BENCH_ROWS("call", "plt", "PLT, bound at start", NULL);
