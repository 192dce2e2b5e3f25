// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A static probe of our <sys/sdt.h> with a subscriber that does nothing: the section, the array,
 * the call.
 */
#include "library.h"
#include "row.h"

#include <jumpfunc/sdt.h>
#include <jumpfunc-sdt/sys/sdt.h>

#define BODY
#define SITE(hi, lo)	STAP_PROBE2(jfbench, on, bench_arg1, bench_arg2)
#include "loops.h"

static void probe(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	(void)words;
}

static void enable(void)
{
	stress_die(jf_sdt_register("jfbench:on", probe, NULL) == 1 ? 0 : -EINVAL, "jf_sdt_register");
}

BENCH_ROWS("call", "jf-sdt", "jumpfunc's <sys/sdt.h>, one subscriber", enable);
