// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Requested changes: the entries of a batch, and their entities. */
#include "commit.h"

static bool has_ctl(const struct jf_mod *m, const struct jf_ent *ent)
{
	const struct jf_ctl *ctl = ent->ctl;

	return ctl >= m->ctls && ctl < m->ctls + m->num_ctls && ctl->ent == ent;
}

struct jf_change jf_change_of(struct jf_ent *ent, uintptr_t value)
{
	const struct jf_mod *m = jf_mod_of((uintptr_t)ent);
	struct jf_change c = { .ent = ent, .value = value };

	if (m)
		c.serial = m->serial;
	return c;
}

/*
 * Its object may have been closed since it was added, and another one be there, with
 * another entity at this address, or a hole. So it is not looked at before it is known.
 */
struct jf_ctl *jf_change_ctl(const struct jf_change *c)
{
	const struct jf_mod *m = jf_mod_of((uintptr_t)c->ent);
	size_t i;

	if (!m || (c->serial && c->serial != m->serial))
		return NULL;
	if (c->serial && has_ctl(m, c->ent))
		return jf_ctl_of(c->ent);
	for (i = 0; i < m->num_ctls; i++)
		if (m->ctls[i].ent == c->ent)
			/* One that waits for its exporter has none yet. */
			return m->ctls[i].wants ? NULL : jf_ctl_real(&m->ctls[i]);
	return NULL;
}

/* --- batches ---------------------------------------------------------------------- */

void jf_batch_init(struct jf_batch *b)
{
	b->changes = NULL;
	b->probes = NULL;
	b->err = 0;
}

void jf_batch_drop(struct jf_batch *b)
{
	struct jf_change *c, *next;
	struct jf_probe_change *p, *after;

	for (c = b->changes; c; c = next) {
		next = c->next;
		jf_free(c);
	}
	for (p = b->probes; p; p = after) {
		after = p->next;
		jf_free(p);
	}
	jf_batch_init(b);
}

void jf_batch_abort(struct jf_batch *b)
{
	/* One that was committed: exit() does not wait for the lock. */
	if (!b->changes && !b->probes) {
		jf_batch_init(b);
		return;
	}
	jf_lock();
	jf_batch_drop(b);
	jf_unlock();
}

int jf_batch_add(struct jf_batch *b, struct jf_ent *ent, uintptr_t value)
{
	struct jf_change *c = jf_alloc(sizeof(*c));

	if (!c) {
		if (!b->err)
			b->err = -ENOMEM;
		return -ENOMEM;
	}
	*c = jf_change_of(ent, value);
	c->next = b->changes;
	b->changes = c;
	return 0;
}

void *jf_func_target(const struct jf_func *f, void *func)
{
	return !func && f->ent.flags & (JF_ENT_NULL_OK | JF_ENT_RET0) ? f->init : func;
}

int __jf_batch_set_func(struct jf_batch *b, struct jf_func *f, void *func)
{
	int err;

	jf_lock();
	err = jf_batch_add(b, &f->ent, (uintptr_t)jf_func_target(f, func));
	jf_unlock();
	return err;
}

int __jf_batch_set_key(struct jf_batch *b, struct jf_key *key, bool on)
{
	int err;

	jf_lock();
	err = jf_batch_add(b, &key->ent, on);
	jf_unlock();
	return err;
}
