// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The probe point of our own header with two arguments: one nop, and a note. */
#include "row.h"

#include "include/jumpfunc/detail/sdt_x86.h"

#define BODY		BRANCH_BODY
#define SITE(hi, lo)	__JF_SDT(jfbench, own, bench_arg1, bench_arg2)
#include "loops.h"

BENCH_ROWS("branch", "sdt-own", "jumpfunc's probe point, 2 arguments", NULL);
