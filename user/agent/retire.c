// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Objects that a thread may use in the midst of a record, after another one has taken their place:
 * they are freed together, after one quiesce.
 */
#include "retire.h"

#include <jumpfunc/batch.h>

/* A thread that has left a record by longjmp() never ends it. */
#define WAIT_MS		2000

static struct jf_retired *all;

/**
 * jf_retire() - free an object later
 * @r:      its first member
 * @forget: frees it; NULL: by free()
 *
 * With agent_lock; no thread can find the object any more.
 */
void jf_retire(struct jf_retired *r, void (*forget)(struct jf_retired *r))
{
	r->forget = forget;
	r->next = all;
	all = r;
}

/**
 * jf_retired_free() - free all objects that were retired
 *
 * With agent_lock, in no read section. If a thread stays in a record the next call tries again.
 */
void jf_retired_free(void)
{
	struct jf_retired *r;

	if (!all || jf_quiesce_timeout(WAIT_MS))
		return;
	while ((r = all)) {
		all = r->next;
		if (r->forget)
			r->forget(r);
		else
			free(r);
	}
}
