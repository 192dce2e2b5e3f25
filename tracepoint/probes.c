// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays of probes, and the records of what a change from one to another retires.
 *
 * jf_probes_prepare() records the probes that are removed, and the iterator when
 * its array is replaced, like a dynamic function's old targets: a change from one
 * array to another changes no entity's value, and yet a task may be about to call
 * a probe that only the old array has.
 */
#include "tracepoint/plan.h"

#include "index/index.h"
#include "quiesce/retired.h"

#include <linux/slab.h>

/* --- making a new state ------------------------------------------------ */

static struct jf_probes *jf_probes_alloc(const struct jf_tracepoint *tp,
					 unsigned int num)
{
	struct jf_probes *p;

	/* Zeroed: the last one's function is NULL. */
	p = kzalloc(struct_size(p, probe, num + 1), GFP_KERNEL);
	if (p) {
		p->num = num;
		p->iter = tp->iter;
	}
	return p;
}

struct jf_probes *jf_probes_add(const struct jf_tracepoint *tp,
				const struct jf_probes *old,
				const struct jf_probe *add)
{
	struct jf_probes *p = jf_probes_alloc(tp, jf_num(old) + 1);

	if (p)
		jf_array_add(p->probe, old ? old->probe : NULL, jf_num(old), add);
	return p;
}

unsigned int jf_probes_count(const struct jf_probes *old, jf_probe_match match,
			     const void *arg)
{
	return old ? jf_array_count(old->probe, old->num, match, arg) : 0;
}

/* The probes without those that match; there must be some left. */
struct jf_probes *jf_probes_del(const struct jf_tracepoint *tp,
				const struct jf_probes *old,
				jf_probe_match match, const void *arg)
{
	struct jf_probes *p;

	p = jf_probes_alloc(tp, old->num - jf_probes_count(old, match, arg));
	if (p)
		jf_array_del(p->probe, old->probe, old->num, match, arg);
	return p;
}

/* --- recording what is replaced ---------------------------------------- */

/*
 * The part of @from that is not in @to: the removed probes, and the iterator if
 * it walks @from. An array without an image is no entity's value: it needs this.
 *
 * @num of them, counted from the first, get jf_retire_done().
 */
static unsigned int jf_side_done(const struct jf_probes *from,
				 const struct jf_probes *to, unsigned int num,
				 bool replaced)
{
	unsigned int i, n = 0;

	for (i = 0; i < jf_num(from) && n < num; i++) {
		if (jf_probes_count(to, jf_probe_same, &from->probe[i]))
			continue;
		jf_retire_done(from->probe[i].func, replaced);
		n++;
	}
	if (n < num && from && !from->image)
		jf_retire_done(from->iter, replaced);
	return n;
}

/*
 * A probe's data may be in another module than its function. Which one is not
 * recorded, so the unload of any module waits for such a function, as it does for
 * code that calls others.
 */
static enum jf_retired_kind jf_probe_kind(const struct jf_probe *p)
{
	const struct jf_mod *m = jf_mod_by_addr((unsigned long)p->func);
	unsigned long data = (unsigned long)p->data;

	/* As in jf_mod_by_addr(). */
	if (!jf_may_be_module(data) || (m && data_race(within_module(data, m->mod))))
		return JF_RETIRED_TARGET;
	return JF_RETIRED_DISPATCH;
}

/* 0, or -ENOMEM with nothing changed. */
static int jf_side_prepare(const struct jf_probes *from,
			   const struct jf_probes *to)
{
	unsigned int i, n = 0;
	int err = 0;

	for (i = 0; i < jf_num(from) && !err; i++) {
		if (jf_probes_count(to, jf_probe_same, &from->probe[i]))
			continue;
		err = jf_retire_prepare(from->probe[i].func,
					jf_probe_kind(&from->probe[i]));
		n += !err;
	}
	if (!err && from && !from->image)
		err = jf_retire_prepare(from->iter, JF_RETIRED_DISPATCH);
	if (err)
		jf_side_done(from, to, n, false);
	return err;
}

/* Record what a change from @old to @new retires if it succeeds, or if it fails. */
int jf_probes_prepare(const struct jf_probes *old, const struct jf_probes *new)
{
	int err;

	jf_lock();
	err = jf_side_prepare(old, new);
	if (!err) {
		err = jf_side_prepare(new, old);
		if (err)
			jf_side_done(old, new, UINT_MAX, false);
	}
	jf_unlock();
	return err;
}

void jf_probes_done(const struct jf_tracepoint *tp, const struct jf_probes *old,
		    const struct jf_probes *new, bool replaced)
{
	struct jf_ctl *ctl;

	jf_lock();
	jf_side_done(old, new, UINT_MAX, replaced);
	jf_side_done(new, old, UINT_MAX, !replaced);
	/* From one array to another, the entity itself has not changed. */
	ctl = jf_ctl_find(&tp->call->ent);
	if (ctl)
		ctl->seq = jf_retired_seq();
	jf_unlock();
}
