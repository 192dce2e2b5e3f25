// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* One more and one less user of a key of libjumpfunc that has some. */
#include "library.h"
#include "row.h"

DEFINE_JF_KEY_FALSE(OWN(key));

#define BODY
#define SITE(hi, lo)							\
	(void)jf_key_inc(&OWN(key));					\
	(void)jf_key_dec(&OWN(key))
#include "loops.h"

static void add_user(void)
{
	stress_die(jf_key_inc(&OWN(key)), "jf_key_inc");
}

BENCH_ROWS("call", "count", "jumpfunc key with users: one more, one less", add_user);
