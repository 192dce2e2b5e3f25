// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same static probe by our <sys/sdt.h>: the nop that the note names, and a branch site. */
#include "library.h"
#include "row.h"

#include <jumpfunc-sdt/sys/sdt.h>

#define BODY		BRANCH_BODY
#define SITE(hi, lo)	STAP_PROBE2(jfbench, off, bench_arg1, bench_arg2)
#include "loops.h"

BENCH_ROWS("branch", "jf-sdt", "jumpfunc's <sys/sdt.h>, off, 2 arguments", NULL);
