// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* What the compiled rows call and branch to; in an object of its own, so that nothing is inlined. */
#include "row.h"

int bench_arg1 = 17;
long bench_arg2 = 34;

/* Where a rewritten jump leads before it is rewritten. */
void bench_wrong(void)
{
	printf("Bail out! a site was not rewritten\n");
	exit(1);
}

#define DEFINE_TARGET(hi, lo) void bench_target_##hi##lo(void) \
	{ __asm__ volatile("" :: "i" (SITE_INDEX(hi, lo))); }
FOR_ALL(DEFINE_TARGET)

long bench_wrong_link(long x)
{
	bench_wrong();
	return x;
}

#define DEFINE_LINK(hi, lo) long bench_link_##hi##lo(long x) \
	{ return x * 3 + SITE_INDEX(hi, lo); }
FOR_64(DEFINE_LINK, 0)
