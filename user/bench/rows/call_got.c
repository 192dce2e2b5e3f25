// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A call into a shared object built with -fno-plt: through the global offset table. */
#include "row.h"

#include "shared.h"

#define BODY
#define SITE(hi, lo)	bench_shared_##hi##lo()
#include "loops.h"

BENCH_ROWS("call", "got", "-fno-plt", NULL);
