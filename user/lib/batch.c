// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The commit of a batch: of keys and dynamic functions alone, or with probes. */
#include "lib.h"

int jf_batch_commit(struct jf_batch *b)
{
	int err = jf_lock_to_change();

	if (err) {
		jf_batch_abort(b);
		return err;
	}
	err = b->probes ? jf_trace_commit(b) : jf_commit_locked(b, false);
	jf_batch_drop(b);
	jf_unlock();
	return err;
}

static int note(struct jf_batch *b, int err)
{
	if (!b->err)
		b->err = err;
	return err;
}

int __jf_batch_probe(struct jf_batch *b, struct jf_tracepoint *tp, void *func,
		     void *data, int prio, bool add)
{
	struct jf_probe_change *c;
	const struct jf_mod *m;
	int err;

	if (!func)
		return note(b, -EINVAL);
	err = jf_lock_to_change();
	if (err)
		return note(b, err);
	c = jf_alloc(sizeof(*c));
	if (c) {
		m = jf_mod_of((uintptr_t)tp);
		*c = (struct jf_probe_change){
			.next = b->probes, .tp = tp, .serial = m ? m->serial : 0,
			.func = func, .data = data, .prio = prio, .add = add,
		};
		b->probes = c;
	}
	jf_unlock();
	return c ? 0 : note(b, -ENOMEM);
}
