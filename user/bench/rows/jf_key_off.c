// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A key of libjumpfunc that is off: a nop of five bytes, as compiled. */
#include "library.h"
#include "row.h"

DEFINE_JF_KEY_FALSE(OWN(key));

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	if (jf_branch_unlikely(&OWN(key)))				\
		BENCH_SLOW()
#include "loops.h"

/* No row loads it, so it may be wherever it is. */
static void flush_key(void)
{
	flush_lines(&OWN(key), 1, sizeof(OWN(key)));
}

BENCH_ROWS("branch", "key-off", "jumpfunc key, off", NULL);
BENCH_ROW_COLD("branch-cold", "key-off", "jumpfunc key, off, its memory flushed", flush_key);
