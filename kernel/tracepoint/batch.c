// SPDX-License-Identifier: GPL-2.0
/*
 * Batches, as modules use them: requests are collected in two lists, one of values of entities and
 * one of probes, and handed down.
 *
 * A batch with probes is committed by jf_trace_commit() (jf_tracepoint.c), which makes values of
 * entities of them and adds these to the first list. Either way there is one
 * commit of one list, by jf_commit_locked() (jf_core.c).
 */
#include "update/commit.h"
#include "index/state.h"
#include "tracepoint/tracepoint.h"

#include <jumpfunc/tracepoint.h>

#include <linux/slab.h>

void jf_batch_init(struct jf_batch *b)
{
	INIT_LIST_HEAD(&b->changes);
	INIT_LIST_HEAD(&b->probes);
	b->err = 0;
}
EXPORT_SYMBOL_GPL(jf_batch_init);

void jf_batch_abort(struct jf_batch *b)
{
	struct jf_probe_change *c, *tmp;

	jf_free_changes(&b->changes);
	list_for_each_entry_safe(c, tmp, &b->probes, list)
		kfree(c);
	INIT_LIST_HEAD(&b->probes);
	b->err = 0;
}
EXPORT_SYMBOL_GPL(jf_batch_abort);

/* The first error is the one that the commit returns. */
static int jf_batch_note(struct jf_batch *b, int err)
{
	if (err && !b->err)
		b->err = err;
	return err;
}

int __jf_batch_set_func_flags(struct jf_batch *b, struct jf_func *f, void *func,
			      unsigned int flags)
{
	int err = jf_add_change(&b->changes, &f->ent, jf_func_value(f, func),
				false);

	if (!err)
		list_last_entry(&b->changes, struct jf_change, list)->flags =
			flags;
	return jf_batch_note(b, err);
}
EXPORT_SYMBOL_GPL(__jf_batch_set_func_flags);

int __jf_batch_set_func(struct jf_batch *b, struct jf_func *f, void *func)
{
	return __jf_batch_set_func_flags(b, f, func, 0);
}
EXPORT_SYMBOL_GPL(__jf_batch_set_func);

int __jf_batch_set_key(struct jf_batch *b, struct jf_key *key, bool on)
{
	union jf_value v = { .on = on };

	return jf_batch_note(b, jf_add_change(&b->changes, &key->ent, v, false));
}
EXPORT_SYMBOL_GPL(__jf_batch_set_key);

int __jf_batch_probe(struct jf_batch *b, struct jf_tracepoint *tp, void *func,
		     void *data, int prio, bool add)
{
	struct jf_probe_change *c;

	if (!func)
		return jf_batch_note(b, -EINVAL);
	c = kmalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return jf_batch_note(b, -ENOMEM);
	c->tp = tp;
	c->probe = (struct jf_probe){ .func = func, .data = data, .prio = prio };
	c->add = add;
	list_add_tail(&c->list, &b->probes);
	return 0;
}
EXPORT_SYMBOL_GPL(__jf_batch_probe);

static int jf_batch_do(struct jf_batch *b, bool cpuslocked)
{
	int err = 0;

	if (!list_empty(&b->probes)) {
		/* Its locks come before the hotplug lock. */
		if (cpuslocked)
			return -EDEADLK;
		return jf_trace_commit(&b->probes, &b->changes);
	}
	if (!list_empty(&b->changes)) {
		jf_lock_as(cpuslocked);
		err = jf_commit_locked(&b->changes);
		jf_unlock_as(cpuslocked);
	}
	return err;
}

static int jf_batch_finish(struct jf_batch *b, bool cpuslocked)
{
	int err = jf_check_context();

	err = err ?: b->err;
	err = err ?: jf_batch_do(b, cpuslocked);
	jf_batch_abort(b);
	return err;
}

int jf_batch_commit(struct jf_batch *b)
{
	return jf_batch_finish(b, false);
}
EXPORT_SYMBOL_GPL(jf_batch_commit);

int jf_batch_commit_cpuslocked(struct jf_batch *b)
{
	return jf_batch_finish(b, true);
}
EXPORT_SYMBOL_GPL(jf_batch_commit_cpuslocked);
