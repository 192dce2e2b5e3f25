// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A call through a pointer for each site, in the program's data. */
#include "row.h"

#define POINTER(hi, lo)	bench_target_##hi##lo,
void (*OWN(pointers)[MANY])(void) = { FOR_ALL(POINTER) };

#ifndef CALL_GROUP
#define CALL_GROUP	"c-call"
#define BODY
#endif
#define SITE(hi, lo)	OWN(pointers)[SITE_INDEX(hi, lo)]()
#include "loops.h"

BENCH_ROWS(CALL_GROUP, "pointer", "function pointer", NULL);
