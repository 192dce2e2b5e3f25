// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A key of libjumpfunc that is off, as compiled. */
#include "library.h"
#include "row.h"

DEFINE_JF_KEY_FALSE(OWN(key));

#define SITE(hi, lo)							\
	if (jf_branch_unlikely(&OWN(key)))				\
		BENCH_SLOW()
#include "alu.h"

ALU_ROW("key-off", "jumpfunc key, off");
