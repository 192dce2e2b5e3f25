// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A key of libjumpfunc that is off: a nop of five bytes, written when the program began. */
#include "library.h"
#include "row.h"

DEFINE_JF_KEY_FALSE(OWN(key));

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	if (jf_branch_unlikely(&OWN(key)))				\
		BENCH_SLOW()
#include "loops.h"

BENCH_ROWS("c-branch", "key-off", "jumpfunc key, off", NULL);
