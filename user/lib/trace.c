// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tracepoints: from a number of probes to the target of the trampoline.
 *
 *   none		nothing, and the key is off
 *   1 ... 16		an image, which holds functions and data
 *   more, or no image	the iterator, which walks an array
 *
 * To change anything is to make a new array, and maybe a new image, and to lead
 * the trampoline and the key there in one transaction. The old ones stay until
 * all read sections that began before are over: calls of a tracepoint are such
 * sections. No caller waits for that. The next change of a probe frees code that can be freed.
 *
 * The iterator's array is stored by the transaction, just before the pointer that
 * leads there: then it cannot fail any more. If the iterator is in use already that
 * store alone is the change. No reader sees an array of a change that fails, not even
 * in the iterator of an earlier one.
 */
#include "lib.h"

#include <jumpfunc/sdt.h>

#include "trace.h"
#include "common/probe_array.h"

/* @probe ends with a NULL function. */
struct jf_probes {
	struct jf_image	*image;
	size_t		nr;
	uint64_t	grace_period;
	struct jf_probes *next;
	struct jf_probe	probe[];
};

/* With probes. */
static struct jf_tracepoint *active;
/* Replaced, the newest first. */
static struct jf_probes *replaced;

static void probes_free(struct jf_probes *p)
{
	if (p && p->image)
		jf_image_free(p->image);
	jf_free(p);
}

static void free_replaced(void)
{
	static struct jf_probes *first, **last = &first;
	struct jf_probes *p, *more = NULL;
	uint64_t oldest;

	/* After those that wait already, so that grace periods ascend. */
	while ((p = replaced)) {
		replaced = p->next;
		p->next = more;
		more = p;
	}
	for (*last = more; *last; last = &(*last)->next)
		;
	oldest = first ? jf_grace_oldest() : 0;
	while ((p = first) && p->grace_period <= oldest) {
		first = p->next;
		probes_free(p);
	}
	if (!first)
		last = &first;
}

/* With the grace period that has begun since it was replaced. */
static void retire(struct jf_probes *old, uint64_t grace_period)
{
	if (!old)
		return;
	old->grace_period = grace_period;
	old->next = replaced;
	replaced = old;
}

static struct jf_probes *probes_alloc(size_t nr)
{
	struct jf_probes *p = jf_zalloc(sizeof(*p) + (nr + 1) * sizeof(p->probe[0]));

	if (p)
		p->nr = nr;
	return p;
}

/* With one probe more, after the probes of the same priority. */
static struct jf_probes *probes_with(const struct jf_probes *old, struct jf_probe add)
{
	size_t nr = old ? old->nr : 0;
	struct jf_probes *p = probes_alloc(nr + 1);

	if (p)
		jf_array_add(p->probe, old ? old->probe : NULL, nr, &add);
	return p;
}

/*
 * An SDT probe (sdt.h) has a key alone: its code goes over the array, and does without an iterator
 * of its own.
 */
static bool is_sdt(const struct jf_tracepoint *tp)
{
	return !tp->call;
}

static struct jf_sdt *sdt_of(struct jf_tracepoint *tp)
{
	return jf_container(tp, struct jf_sdt, tp);
}

/* That it is known by. */
static struct jf_ent *ent_of(const struct jf_tracepoint *tp)
{
	return is_sdt(tp) ? &tp->key->ent : &tp->call->ent;
}

static uintptr_t trampoline(const struct jf_tracepoint *tp)
{
	const struct jf_ctl *ctl = jf_ctl_of(ent_of(tp));
	const struct jf_site *site = ctl ? ctl->sites : NULL;

	while (site && !(site->flags & JF_SITE_TRAMP))
		site = site->next;
	return site ? site->addr : 0;
}

/* Makes the image, if there can be one, and returns the new target of the trampoline. */
static uintptr_t prepare(struct jf_tracepoint *tp, struct jf_probes *p, bool images)
{
	uintptr_t near = trampoline(tp);

	if (!p)
		return (uintptr_t)tp->call->init;
	/* More than five arguments are on the stack: a chain cannot give them again. */
	if (images && near && p->nr <= JF_TRACE_CHAIN_MAX && (p->nr == 1 || tp->nargs <= 5))
		p->image = jf_image_create(p->probe, p->nr,
					   p->nr == 1 ? 0 : tp->nargs, near);
	return (uintptr_t)(p->image ? jf_image_addr(p->image) : tp->iter);
}

static void unlist(struct jf_tracepoint *tp)
{
	struct jf_tracepoint **t = &active;

	while (*t && *t != tp)
		t = &(*t)->next;
	if (*t)
		*t = tp->next;
}

/* All that have no probes any more: thousands may lose them in one change. */
static void unlist_empty(void)
{
	struct jf_tracepoint **t = &active;

	while (*t)
		if ((*t)->probes)
			t = &(*t)->next;
		else
			*t = (*t)->next;
}

/* Its probes become @probes. Returns whether it is to be taken off the list. */
static bool replace_probes(struct jf_tracepoint *tp, struct jf_probes *probes)
{
	bool listed = tp->probes;

	tp->probes = probes;
	if (!listed && probes) {
		tp->next = active;
		active = tp;
	}
	return listed && !probes;
}

/**
 * struct tracing - one tracepoint's part in a change
 * @next:   of the change
 * @tp:     the tracepoint
 * @probes: its new ones, or NULL for none
 * @own:    the array that was made for this change alone
 * @call:   of its dynamic function
 * @key:    of its key
 */
struct tracing {
	struct tracing		*next;
	struct jf_tracepoint	*tp;
	struct jf_probes	*probes;
	bool			own;
	struct jf_change	call;
	struct jf_change	key;
};

/* In front of @rest: the changes that lead from the present probes to those of @t. */
static struct jf_change *changes_of(struct tracing *t, bool images, struct jf_change *rest)
{
	struct jf_probes *next = t->probes;

	t->key = jf_change_of(&t->tp->key->ent, next != NULL);
	t->key.force = true;
	if (is_sdt(t->tp)) {
		/* Its code may come here late, and then finds no array that is freed. */
		t->key.also = (void **)&t->tp->active;
		t->key.stored = next ? next->probe : NULL;
		t->key.next = rest;
		return &t->key;
	}
	t->call = jf_change_of(&t->tp->call->ent, prepare(t->tp, next, images));
	t->call.force = true;
	t->call.image = next && next->image;
	/*
	 * Without the iterator, too: where sites lead to it before this is stored, as on aarch64,
	 * a thread walks the array that was stored last, which must not be an array that is freed.
	 */
	t->call.also = (void **)&t->tp->active;
	t->call.stored = next ? next->probe : NULL;
	t->call.next = rest;
	t->key.next = &t->call;
	return &t->key;
}

/* Programs ask it whether to prepare arguments; tracers count there, too. */
static void count_semaphore(const struct jf_sdt *sdt, bool more)
{
	if (sdt->semaphore)
		__atomic_fetch_add(sdt->semaphore, more ? 1 : -1, __ATOMIC_RELAXED);
}

/* As @b asks, with the tracepoints of @first: all of it or nothing. */
static int commit(const struct jf_batch *b, struct tracing *first)
{
	struct jf_batch all;
	struct tracing *t;
	uint64_t grace_period;
	bool images = !jf_options()->off && jf_image_begin();
	bool any_empty = false;
	int err;

	/* No memory: code that handles the lack of it comes this way, too. */
	jf_batch_init(&all);
	all.err = b->err;
	all.changes = b->changes;
	for (t = first; t; t = t->next)
		all.changes = changes_of(t, images, all.changes);
	err = jf_commit_locked(&all, false);
	if ((err && err != -EIO) || !first)
		return err;
	jf_replaced();
	grace_period = jf_grace_begin();
	for (t = first; t; t = t->next) {
		if (is_sdt(t->tp) && !t->tp->probes != !t->probes)
			count_semaphore(sdt_of(t->tp), t->probes);
		retire(t->tp->probes, grace_period);
		any_empty |= replace_probes(t->tp, t->probes);
		t->own = false;
	}
	if (any_empty)
		unlist_empty();
	free_replaced();
	return err;
}

/* From the present probes to @next, which are NULL for none. */
static int change(struct jf_tracepoint *tp, struct jf_probes *next)
{
	struct tracing t = { .tp = tp, .probes = next, .own = true };
	struct jf_batch none;
	int err;

	jf_batch_init(&none);
	err = commit(&none, &t);
	if (t.own)
		probes_free(next);
	return err;
}

/* The one that @tp stands in for, or itself. */
static struct jf_tracepoint *real_trace(struct jf_tracepoint *tp)
{
	return tp->origin ? *tp->origin : tp;
}

/* 0, or why no probe @func can come. */
static int check_probe(const struct jf_tracepoint *tp, const void *func)
{
	if (!jf_ctl_of(ent_of(tp)))
		return -ENODEV;
	return jf_is_unloading(tp) || jf_is_unloading(func) ? -EBUSY : 0;
}

static bool has_probe(const struct jf_probes *p, void *func, void *data)
{
	struct jf_probe probe = { func, data, 0 };

	return p && jf_array_count(p->probe, p->nr, jf_probe_same, &probe);
}

int __jf_trace_register(struct jf_tracepoint *tp, void *func, void *data, int prio)
{
	struct jf_probe add = { func, data, prio };
	struct jf_probes *next;
	int err;

	if (!func)
		return -EINVAL;
	err = jf_lock_to_change();
	if (err)
		return err;
	tp = real_trace(tp);
	err = check_probe(tp, func);
	if (!err && has_probe(tp->probes, func, data))
		err = -EEXIST;
	if (!err) {
		next = probes_with(tp->probes, add);
		err = next ? change(tp, next) : -ENOMEM;
	}
	jf_unlock();
	return err;
}

/* Without those for which @match says so; there may be none left. */
static struct jf_probes *probes_without(const struct jf_probes *old,
					jf_probe_match match, const void *arg)
{
	size_t nr = old->nr - jf_array_count(old->probe, old->nr, match, arg);
	struct jf_probes *next = probes_alloc(nr);

	if (next)
		jf_array_del(next->probe, old->probe, old->nr, match, arg);
	return next;
}

static int remove_probes(struct jf_tracepoint *tp, jf_probe_match match, const void *arg)
{
	struct jf_probes *next = probes_without(tp->probes, match, arg);
	size_t nr = next ? next->nr : 0;

	if (!next)
		return -ENOMEM;
	if (nr && nr != tp->probes->nr)
		return change(tp, next);
	jf_free(next);
	return nr ? 0 : change(tp, NULL);
}

int __jf_trace_unregister(struct jf_tracepoint *tp, void *func, void *data)
{
	struct jf_probe gone = { func, data, 0 };
	int err = jf_lock_to_change();

	if (err)
		return err;
	tp = real_trace(tp);
	if (!has_probe(tp->probes, func, data))
		err = -ENOENT;
	else
		err = remove_probes(tp, jf_probe_same, &gone);
	jf_unlock();
	return err;
}

/* --- batches ---------------------------------------------------------------------- */

/* The tracepoint of @c, or NULL: its object was closed, and another one may be there. */
static struct jf_tracepoint *trace_of(const struct jf_probe_change *c)
{
	const struct jf_mod *m = jf_mod_of((uintptr_t)c->tp);

	return m && (!c->serial || c->serial == m->serial) ? real_trace(c->tp) : NULL;
}

/* Of one that check_probe() has found to be known. */
static struct tracing *tracing_of(struct tracing **first, struct jf_tracepoint *tp)
{
	struct jf_ctl *ctl = ent_of(tp)->ctl;
	struct tracing *t = ctl->tracing;

	if (t)
		return t;
	t = jf_zalloc(sizeof(*t));
	if (t) {
		t->tp = tp;
		t->probes = tp->probes;
		t->next = *first;
		*first = t;
		ctl->tracing = t;
	}
	return t;
}

static int apply(struct tracing *t, const struct jf_probe_change *c)
{
	struct jf_probe probe = { c->func, c->data, c->prio };
	struct jf_probes *next;

	if (c->add == has_probe(t->probes, c->func, c->data))
		return c->add ? -EEXIST : -ENOENT;
	next = c->add ? probes_with(t->probes, probe) : probes_without(t->probes, jf_probe_same, &probe);
	if (!next)
		return -ENOMEM;
	if (t->own)
		jf_free(t->probes);
	if (!next->nr) {
		jf_free(next);
		next = NULL;
	}
	t->probes = next;
	t->own = next;
	return 0;
}

/* The first one comes last in the list. */
static struct jf_probe_change *in_order(struct jf_probe_change *last)
{
	struct jf_probe_change *first = NULL, *c;

	while ((c = last)) {
		last = c->next;
		c->next = first;
		first = c;
	}
	return first;
}

static bool is_equal(const struct jf_probes *a, const struct jf_probes *b)
{
	size_t i;

	if (!a || !b || a->nr != b->nr)
		return a == b;
	for (i = 0; i < a->nr; i++)
		if (a->probe[i].func != b->probe[i].func || a->probe[i].data != b->probe[i].data ||
		    a->probe[i].prio != b->probe[i].prio)
			return false;
	return true;
}

static void drop(struct tracing *t)
{
	ent_of(t->tp)->ctl->tracing = NULL;
	if (t->own)
		probes_free(t->probes);
	jf_free(t);
}

/* Those whose probes are as before need no change, and there is no broadcast for them. */
static void drop_unchanged(struct tracing **first)
{
	struct tracing **p = first, *t;

	while ((t = *p))
		if (is_equal(t->probes, t->tp->probes)) {
			*p = t->next;
			drop(t);
		} else {
			p = &t->next;
		}
}

int jf_trace_commit(struct jf_batch *b)
{
	struct tracing *first = NULL, *t;
	struct jf_probe_change *c;
	struct jf_tracepoint *tp;
	int err = b->err;

	b->probes = in_order(b->probes);
	for (c = b->probes; c && !err; c = c->next) {
		tp = trace_of(c);
		err = tp ? check_probe(tp, c->add ? c->func : NULL) : -ENODEV;
		t = err ? NULL : tracing_of(&first, tp);
		if (!err)
			err = t ? apply(t, c) : -ENOMEM;
	}
	if (!err) {
		drop_unchanged(&first);
		err = commit(b, first);
	}
	while ((t = first)) {
		first = t->next;
		drop(t);
	}
	return err;
}

size_t jf_trace_num(const struct jf_tracepoint *tp)
{
	return tp->probes ? tp->probes->nr : 0;
}

bool jf_trace_has(const struct jf_tracepoint *tp, void *func, void *data)
{
	return has_probe(tp->probes, func, data);
}

size_t jf_trace_probes(const struct jf_ent *ent)
{
	const struct jf_tracepoint *tp = active;

	while (tp && ent_of(tp) != ent)
		tp = tp->next;
	return tp ? tp->probes->nr : 0;
}

static bool is_own(const struct jf_tracepoint *tp, const struct jf_mod *mod)
{
	return jf_mod_has(mod, (uintptr_t)tp);
}

static bool is_in(const struct jf_probe *p, const void *arg)
{
	return jf_mod_has(arg, (uintptr_t)p->func);
}

/*
 * Without memory and without writing text: the probes in an object that is closed become
 * functions that do nothing, and are called by the iterator. The trampoline loads its
 * pointer, if its former image has such a probe in it.
 */
static bool numb(struct jf_tracepoint *tp, const struct jf_mod *mod)
{
	struct jf_probes *p = tp->probes;
	size_t i;

	/* Pairs with the iterator's load, which has no more to see: jf_nop() is always there. */
	for (i = 0; i < p->nr; i++)
		if (is_in(&p->probe[i], mod))
			__atomic_store_n(&p->probe[i].func, (void *)jf_nop, __ATOMIC_RELEASE);
	jf_replaced();
	if (!p->image)
		return true;
	/* Pairs with the iterator's load: the array is seen without those probes. */
	__atomic_store_n(&tp->active, p->probe, __ATOMIC_RELEASE);
	if (!jf_ent_store_only(&tp->call->ent, (uintptr_t)tp->iter))
		return false;
	/* A thread may be in it: it is not used again. */
	p->image = NULL;
	return true;
}

int jf_trace_object_unload(const struct jf_mod *mod)
{
	struct jf_tracepoint *tp, *next;
	int err, bad = 0;

	for (tp = active; tp; tp = next) {
		size_t was = tp->probes->nr;

		next = tp->next;
		if (is_own(tp, mod))
			err = change(tp, NULL);
		else
			err = remove_probes(tp, is_in, mod);
		if (err && err != -EIO && tp->probes && !is_own(tp, mod) && numb(tp, mod))
			err = 0;
		if (err && err != -EIO && !is_own(tp, mod))
			bad = err;
		if (err)
			jf_say(false, "%s: probes in %s cannot be removed: %s", tp->name,
			       mod->name, jf_error(-err));
		else if (!tp->probes || tp->probes->nr < was)
			jf_say(true, "%s: has lost its probes in %s", tp->name, mod->name);
		/* Its text goes with it, whatever stands there. */
		if (is_own(tp, mod))
			unlist(tp);
	}
	return bad;
}
