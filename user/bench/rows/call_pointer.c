// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A call through a pointer for each site, in the program's data. */
#include "row.h"

#define POINTER(hi, lo)	bench_target_##hi##lo,
void (*OWN(pointers)[MANY])(void) = { FOR_ALL(POINTER) };

#ifndef CALL_GROUP
#define CALL_GROUP	"call"
#define BODY
#endif
#ifndef POINTER_ROW
#define POINTER_ROW	"pointer", "function pointer"
#endif
#define SITE(hi, lo)	OWN(pointers)[SITE_INDEX(hi, lo)]()
#include "loops.h"

#define ROWS(...)	BENCH_ROWS(__VA_ARGS__)
ROWS(CALL_GROUP, POINTER_ROW, NULL);
