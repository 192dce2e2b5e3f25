// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A key of libjumpfunc that is on: a jump to the other side, and one back. */
#include "library.h"
#include "row.h"

DEFINE_JF_KEY_FALSE(OWN(key));

#define BODY		BRANCH_BODY
#define SITE(hi, lo)							\
	if (jf_branch_unlikely(&OWN(key)))				\
		__asm__ volatile("" ::: "memory")
#include "loops.h"

static void enable(void)
{
	stress_die(jf_key_enable(&OWN(key)), "jf_key_enable");
}

BENCH_ROWS("branch", "key-on", "jumpfunc key, on: jump and back", enable);
