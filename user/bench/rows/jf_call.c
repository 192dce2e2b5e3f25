// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A dynamic function of libjumpfunc for each site: a call to a jump that was retargeted. */
#include "library.h"
#include "row.h"

#include <jumpfunc/dynfunc.h>

#define DEFINE_OWN(name)	DEFINE_DYNFUNC(name, bench_wrong);
#define DEFINE_EXPANDED(name)	DEFINE_OWN(name)
#define CALL_OWN(name)		dynfunc_call(name)
#define CALL_EXPANDED(name)	CALL_OWN(name)
#define SET_OWN(b, name, to)	stress_die(dynfunc_batch_set(b, name, to), "dynfunc_batch_set");
#define SET_EXPANDED(b, name, to) SET_OWN(b, name, to)

#define DEFINE_ONE(hi, lo)	DEFINE_EXPANDED(OWN(op##hi##lo))
FOR_ALL(DEFINE_ONE)

#define BODY
#define SITE(hi, lo)	CALL_EXPANDED(OWN(op##hi##lo))
#include "loops.h"

static void retarget(void)
{
	struct jf_batch batch;

	jf_batch_init(&batch);
#define SET_ONE(hi, lo)	SET_EXPANDED(&batch, OWN(op##hi##lo), bench_target_##hi##lo)
	FOR_ALL(SET_ONE)
	stress_die(jf_batch_commit(&batch), "jf_batch_commit");
}

BENCH_ROWS("c-call", "dynfunc", "dynamic function", retarget);
