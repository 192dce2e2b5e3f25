// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A key of libjumpfunc that was on, and is off again. */
#include "library.h"
#include "row.h"

DEFINE_JF_KEY_FALSE(OWN(key));

#define SITE(hi, lo)							\
	if (jf_branch_unlikely(&OWN(key)))				\
		BENCH_SLOW()
#include "alu.h"

static void prepare(void)
{
	stress_die(jf_key_enable(&OWN(key)), "jf_key_enable");
	stress_die(jf_key_disable(&OWN(key)), "jf_key_disable");
}

static const struct row OWN(entry)
__attribute__((used, section("bench_rows"), aligned(8))) = {
	ALU_GROUP, "key-off-again", "jumpfunc key, off again", STRAIGHT, VARIANT, run_straight,
	NULL, prepare, 0
};
