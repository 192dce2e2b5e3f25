// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The base of all calls: the loops and functions without a call. */
#include "row.h"

#ifndef CALL_GROUP
#define CALL_GROUP	"call"
#define BODY
#endif
#define SITE(hi, lo)	__asm__ volatile("" ::: "memory")
#include "loops.h"

BENCH_ROWS(CALL_GROUP, "none", "no call", NULL);
