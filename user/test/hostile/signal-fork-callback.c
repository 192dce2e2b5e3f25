// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A signal handler that forks interrupts a thread that asks for callbacks. */
#include <jumpfunc/batch.h>

#include "forks.h"

#define HEADS	1000

static volatile int called;

static void count(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

int main(void)
{
	static struct jf_quiesce_head heads[HEADS];
	int i, rounds;

	begin_forks();
	for (rounds = 0; forks < 100; rounds++) {
		for (i = 0; i < HEADS; i++)
			jf_call_quiesced(&heads[i], count);
		jf_quiesce_barrier();
	}
	MUST(called == rounds * HEADS, "%d callbacks", called);
	return 0;
}
