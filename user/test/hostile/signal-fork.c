// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A signal handler that forks interrupts a thread that changes keys. */
#include <jumpfunc/branch.h>

#include "forks.h"

DEFINE_JF_KEY_FALSE(key);

int main(void)
{
	int i;

	alarm(20);
	begin_forks();
	for (i = 0; forks < 10; i++)
		MUST(!(i & 1 ? jf_key_disable(&key) : jf_key_enable(&key)), "round %d", i);
	MUST(jf_branch_unlikely(&key) == jf_key_enabled(&key), "the branch");
	return 0;
}
