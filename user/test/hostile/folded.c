// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Two functions that are the same, which the linker makes one (--icf=all): so
 * their sites are one, too.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

__attribute__((__noinline__)) int one(int i);
__attribute__((__noinline__)) int two(int i);
__attribute__((__noinline__)) int one(int i) { return jf_branch_unlikely(&key) ? i + 7 : i; }
__attribute__((__noinline__)) int two(int i) { return jf_branch_unlikely(&key) ? i + 7 : i; }

int main(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	MUST(!s.refused, "refused");
	MUST(one(1) == 1 && two(1) == 1, "off");
	MUST(!jf_key_enable(&key), "enable");
	MUST(one(1) == 8 && two(1) == 8, "on");
	printf("# folded: %d, %d sites\n", (void *)one == (void *)two, (int)s.sites);
	return 0;
}
