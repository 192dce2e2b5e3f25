// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A direct call of a function in another object of the same program. */
#include "row.h"

#ifndef CALL_GROUP
#define CALL_GROUP	"call"
#define BODY
#endif
#define SITE(hi, lo)	bench_target_##hi##lo()
#include "loops.h"

BENCH_ROWS(CALL_GROUP, "direct", "static direct call", NULL);
