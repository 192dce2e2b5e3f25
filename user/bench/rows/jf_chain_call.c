// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Dynamic functions, each with the result of the one before. */
#include "library.h"
#include "row.h"

#include <jumpfunc/dynfunc.h>

#define DEFINE_OWN(name)	DEFINE_DYNFUNC(name, bench_wrong_link);
#define DEFINE_EXPANDED(name)	DEFINE_OWN(name)
#define CALL_OWN(name, x)	dynfunc_call(name, x)
#define CALL_EXPANDED(name, x)	CALL_OWN(name, x)
#define SET_OWN(b, name, to)	stress_die(dynfunc_batch_set(b, name, to), "dynfunc_batch_set");
#define SET_EXPANDED(b, name, to) SET_OWN(b, name, to)

#define DEFINE_ONE(hi, lo)	DEFINE_EXPANDED(OWN(op##hi##lo))
FOR_64(DEFINE_ONE, 0)

#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	chain = CALL_EXPANDED(OWN(op##hi##lo), chain)
#include "loops.h"

static void retarget(void)
{
	struct jf_batch batch;

	jf_batch_init(&batch);
#define SET_ONE(hi, lo)	SET_EXPANDED(&batch, OWN(op##hi##lo), bench_link_##hi##lo)
	FOR_64(SET_ONE, 0)
	stress_die(jf_batch_commit(&batch), "jf_batch_commit");
}

BENCH_ROW_LINE("call-chain", "dynfunc", "dynamic function", retarget);
