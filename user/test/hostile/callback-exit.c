// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Callbacks end the thread that calls them: the others are called by another one. */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "hostile.h"

static _Atomic int called;

static void exits(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
	pthread_exit(NULL);
}

static void returns(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

int main(void)
{
	static struct jf_quiesce_head heads[20];
	int i;

	alarm(10);
	for (i = 0; i < 20; i++) {
		jf_call_quiesced(&heads[i], i % 5 == 4 ? returns : exits);
		/* Some are taken together, and some alone. */
		if (i > 10)
			jf_quiesce_barrier();
	}
	MUST(called == 20, "called %d", called);
	return 0;
}
