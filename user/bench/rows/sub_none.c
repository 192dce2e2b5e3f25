// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The base of all subscribers: an event's arguments alone. */
#include "row.h"

#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	__asm__ volatile("" :: "r" (bench_arg1), "r" (bench_arg2) : "memory")
#include "loops.h"

BENCH_ROW_OF("subscribers", "none", "no call", NULL, 0);
