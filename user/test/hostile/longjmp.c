// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A program's SIGTRAP handler that never returns, as often as it likes. */
#include <jumpfunc/branch.h>
#include <setjmp.h>
#include <signal.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
static sigjmp_buf back;
static int seen;

static void on_trap(int sig)
{
	(void)sig;
	seen++;
	siglongjmp(back, 1);
}

int main(void)
{
	int i;

	alarm(10);
	signal(SIGTRAP, on_trap);
	MUST(!jf_key_enable(&key), "enable");
	MUST(jf_branch_unlikely(&key), "the branch");
	for (i = 0; i < 50; i++)
		if (!sigsetjmp(back, 1))
			__asm__ volatile("int3");
	MUST(seen == 50, "seen %d", seen);
	return 0;
}
