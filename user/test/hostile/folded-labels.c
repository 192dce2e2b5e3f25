// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Two functions that are the same, but for where the other side of their branch is:
 * no instruction says that, only the record does, and a linker that makes them one
 * (--icf=all) does not look there. As compiled the branch is right for both.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
DEFINE_JF_KEY_FALSE(other_key);

__attribute__((__noinline__)) int one(void);
__attribute__((__noinline__)) int two(void);
__attribute__((__noinline__)) int three(int i);

__attribute__((__noinline__)) int one(void)
{
	return jf_branch_unlikely(&key) ? 1 : 1;
}

__attribute__((__noinline__)) int two(void)
{
	if (jf_branch_unlikely(&key))
		__builtin_unreachable();
	return 1;
}

__attribute__((__noinline__)) int three(int i)
{
	return jf_branch_unlikely(&other_key) ? i + 7 : i;
}

int main(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	MUST(!s.refused, "refused");
	MUST(one() == 1 && two() == 1 && three(1) == 1, "off");
	MUST(!jf_key_enable(&key) && !jf_key_enable(&other_key), "enable");
	MUST(one() == 1 && three(1) == 8, "on");
	printf("# %d sites\n", (int)s.sites);
	return 0;
}
