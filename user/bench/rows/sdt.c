// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* SystemTap's static probe with two arguments: one nop, and a note. */
#include "row.h"

#include <sys/sdt.h>

#define BODY		BRANCH_BODY
#define SITE(hi, lo)	STAP_PROBE2(jfbench, site, bench_arg1, bench_arg2)
#include "loops.h"

BENCH_ROWS("branch", "sdt", "SystemTap SDT, off, 2 arguments", NULL);
