// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays of probes, and the records of the code that a change from one to another retires.
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

/* --- records of replaced code ------------------------------------------ */

/*
 * The part of @from that is not in @to: the removed probes, and the code that calls @from's probes.
 * An image is an entity's value, and a commit records it; here it only gets to know where it leads.
 * The iterator stays one when it walks another array.
 *
 * @num of them, counted from the first, get jf_retire_done(). Each of the probes is one of
 * so many @more arrays from now on.
 */
static unsigned int jf_side_done(const struct jf_probes *from,
				 const struct jf_probes *to, unsigned int num,
				 int more, bool replaced)
{
	unsigned int i, n = 0;

	for (i = 0; i < jf_num(from) && n < num; i++) {
		if (jf_probes_count(to, jf_probe_same, &from->probe[i]))
			continue;
		if (more)
			jf_retired_use(from->probe[i].func, more);
		jf_retire_done(from->probe[i].func, replaced);
		n++;
	}
	if (n < num && from)
		jf_retire_done(jf_code(from), replaced && !from->image);
	return n;
}

/* 0, or -ENOMEM with nothing changed. */
static int jf_code_prepare(const struct jf_probes *p)
{
	int err = jf_retire_prepare(jf_code(p), JF_RETIRED_DISPATCH);
	unsigned int i;

	if (err)
		return err;
	for (i = 0; !err && i < p->num; i++)
		err = jf_retire_into(jf_code(p), p->probe[i].func) ?:
		      jf_retire_into(jf_code(p), p->probe[i].data);
	if (err)
		jf_retire_done(jf_code(p), false);
	return err;
}

/*
 * A probe's data may be in another module than its function. The unload of that module
 * waits for the function, as it does for code that calls others.
 */
static bool jf_probe_leads_on(const struct jf_probe *p)
{
	const struct jf_mod *m = jf_mod_by_addr((unsigned long)p->data);

	return m ? m != jf_mod_by_addr((unsigned long)p->func) :
		   jf_may_be_module((unsigned long)p->data);
}

/* The same. */
static int jf_probe_prepare(const struct jf_probe *p)
{
	int err = jf_retire_prepare(p->func, JF_RETIRED_TARGET);

	if (err || !jf_probe_leads_on(p))
		return err;
	err = jf_retire_into(p->func, p->data);
	if (err)
		jf_retire_done(p->func, false);
	return err;
}

/* The same. */
static int jf_side_prepare(const struct jf_probes *from,
			   const struct jf_probes *to)
{
	unsigned int i, n = 0;
	int err = 0;

	for (i = 0; i < jf_num(from) && !err; i++) {
		if (jf_probes_count(to, jf_probe_same, &from->probe[i]))
			continue;
		err = jf_probe_prepare(&from->probe[i]);
		n += !err;
	}
	if (!err && from)
		err = jf_code_prepare(from);
	if (err)
		jf_side_done(from, to, n, 0, false);
	return err;
}

/* Record the code that a change from @old to @new retires if it succeeds, or if it fails. */
int jf_probes_prepare(const struct jf_probes *old, const struct jf_probes *new)
{
	int err;

	jf_lock();
	err = jf_side_prepare(old, new);
	if (!err) {
		err = jf_side_prepare(new, old);
		if (err)
			jf_side_done(old, new, UINT_MAX, 0, false);
	}
	jf_unlock();
	return err;
}

void jf_probes_done(const struct jf_probes *old, const struct jf_probes *new,
		    bool replaced, bool ran)
{
	jf_lock();
	jf_side_done(old, new, UINT_MAX, replaced ? -1 : 0, replaced);
	jf_side_done(new, old, UINT_MAX, replaced ? 1 : 0, !replaced && ran);
	jf_unlock();
}
