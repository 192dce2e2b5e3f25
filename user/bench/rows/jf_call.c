// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A dynamic function of libjumpfunc for each site. The call itself is retargeted: with
 * JUMPFUNC_TRAP=always by breakpoints.
 */
#include "library.h"
#include "row.h"

#include <jumpfunc/dynfunc.h>

#define DEFINE_OWN(name)	DEFINE_DYNFUNC(name, bench_wrong);
#define DEFINE_EXPANDED(name)	DEFINE_OWN(name)
#ifndef CALL_ROW
#define CALL_OWN(name)		dynfunc_call(name)
#define CALL_ROW		"dynfunc", "dynamic function"
#endif
#define CALL_EXPANDED(name)	CALL_OWN(name)
#define SET_OWN(b, name, to)	stress_die(dynfunc_batch_set(b, name, to), "dynfunc_batch_set");
#define SET_EXPANDED(b, name, to) SET_OWN(b, name, to)

#define DEFINE_ONE(hi, lo)	DEFINE_EXPANDED(OWN(op##hi##lo))
FOR_ALL(DEFINE_ONE)

#ifndef CALL_GROUP
#define CALL_GROUP	"call"
#define BODY
#endif
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

#define ROWS(...)	BENCH_ROWS(__VA_ARGS__)
ROWS(CALL_GROUP, CALL_ROW, retarget);
