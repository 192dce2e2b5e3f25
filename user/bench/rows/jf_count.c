// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* One more and one less user of a key of libjumpfunc that has some. */
#include "library.h"
#include "row.h"

DEFINE_JF_KEY_FALSE(OWN(key));

static __always_inline void more_and_less(void)
{
	if (jf_key_inc(&OWN(key)) || jf_key_dec(&OWN(key)))
		stress_die(-EIO, "jf_key_inc, jf_key_dec");
}

#define BODY
#define SITE(hi, lo)	more_and_less()
#include "loops.h"

static void add_user(void)
{
	stress_die(jf_key_inc(&OWN(key)), "jf_key_inc");
}

BENCH_ROWS("call", "count", "jumpfunc key with users: one more, one less", add_user);
