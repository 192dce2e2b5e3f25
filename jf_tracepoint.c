// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints, built from keys, dynamic functions and images.
 *
 * A tracepoint's probes are an array that never changes (struct jf_probes). A
 * change makes a new array, gets the code for it, and publishes both in one
 * commit, together with those of any number of other tracepoints and with any
 * other changes that the same batch has: a plan for each tracepoint (struct
 * jf_plan) is prepared, then all are committed, or all are undone. The
 * transitions, by the number of probes:
 *
 *   0 -> 1	call := image of one	branch := jmp	  one batch
 *   1 -> n	call := chain				  one batch
 *   n -> 1	call := image of one			  one batch
 *   1 -> 0	call := nop		branch := nop	  one batch
 *   to or from more than a chain holds, or without a free image:
 *		active := new array, then call := iterator
 *   iterator -> iterator
 *		active := new array, when all else is done; nothing to patch
 *
 * A function can never run with another one's data. In a chain, both are
 * immediate operands in code that is written while no CPU can reach it, and
 * rewritten only after a grace period. The iterator reads the address of an
 * array once, and the array is not written again either. The iterator's array
 * is published before the call leads to the iterator, and stays published when
 * the call no longer does, until a grace period has passed for both. Where the
 * call leads to the iterator already, the array is published last, so that no
 * probe runs of a change that fails.
 *
 * What was replaced is kept on jf_retired until no task is in it or can reach
 * it. A work item waits for that and frees the images. A change that finds no
 * free image while some are retired waits for that work item, because a change
 * is slow anyway, whereas a lost fast path would stay lost. A probe that sleeps
 * keeps its own image and no other; the arrays of the iterator are not told
 * apart.
 *
 * jf_part() records the probes that are removed, and the iterator when its
 * array is replaced, like a dynamic function's old targets: a change from one
 * array to another changes no entity's value, and yet a task may be about to
 * call a probe that only the old array has.
 */
#include "tracepoint/tracepoint.h"

#include "arch/arch.h"
#include "core/commit.h"
#include "quiesce/function.h"
#include "quiesce/gone.h"
#include "quiesce/quiesce.h"

#include <jumpfunc/tracepoint.h>

#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

static_assert(JF_TRACE_CHAIN_MAX == JF_ARCH_IMAGE_CALLS);

/**
 * struct jf_probes - the probes of a tracepoint at one time
 * @retired: on jf_retired
 * @image:   the code that calls them; NULL: the iterator
 * @iter:    the iterator
 * @num:     how many there are
 * @probe:   the probes, then one with a NULL function
 */
struct jf_probes {
	struct list_head	retired;
	void			*image;
	void			*iter;
	unsigned int		num;
	struct jf_probe		probe[];
};

/* How long reclaiming waits for all of it together. */
#define JF_RECLAIM_PATIENCE	(2 * HZ)

static DEFINE_MUTEX(jf_tp_mutex);
/* Tracepoints with probes. */
static LIST_HEAD(jf_tracepoints);

/* Nests inside jf_tp_mutex; also protects the allocation of images. */
static DEFINE_MUTEX(jf_retired_mutex);
/* Arrays and images that a task may still be in. */
static LIST_HEAD(jf_retired);
/* The work has long waited for the same task, and now runs less often. */
static bool jf_reclaim_slow;

struct jf_trace_stats jf_trace_stats;

/* --- what was replaced ------------------------------------------------- */

static void jf_probes_free(struct jf_probes *p)
{
	lockdep_assert_held(&jf_retired_mutex);
	if (p->image)
		jf_arch_image_put(p->image);
	kfree(p);
}

static void *jf_code(const struct jf_probes *p)
{
	return p->image ?: p->iter;
}

/* Free those of @old that no task is in. Return: 0 if that is all of them. */
static int jf_reclaim(struct list_head *old, long timeout)
{
	struct jf_probes *p, *tmp;
	struct jf_spans spans = { };
	u64 seq;
	int err = 0;

	mutex_lock(&jf_mutex);
	seq = jf_gone_seq();
	mutex_unlock(&jf_mutex);
	list_for_each_entry(p, old, retired)
		if (!err && jf_code(p))
			err = jf_spans_add_func(&spans, jf_code(p));
	/* Their callers were replaced as well. */
	jf_spans_tag(&spans, 0, 0);
	jf_spans_sort(&spans);
	err = err ?: jf_quiesce_spans("tracepoints", &spans, timeout);
	jf_spans_free(&spans);
	if (err)
		return err;

	mutex_lock(&jf_retired_mutex);
	list_for_each_entry_safe(p, tmp, old, retired) {
		mutex_lock(&jf_mutex);
		jf_gone_forget(jf_code(p), seq);
		mutex_unlock(&jf_mutex);
		jf_probes_free(p);
	}
	mutex_unlock(&jf_retired_mutex);
	INIT_LIST_HEAD(old);
	return 0;
}

/*
 * A workqueue of its own, with a rescuer: work that frees memory may wait for it. A
 * task that changes probes must not reclaim: it may be inside one of them.
 */
static struct workqueue_struct *jf_reclaim_wq;

static void jf_reclaim_work(struct work_struct *work);
/* Late, so that one wait serves many changes. */
static DECLARE_DELAYED_WORK(jf_reclaim_later, jf_reclaim_work);

/* Without jf_tp_mutex: changes go on while this waits. */
static void jf_reclaim_work(struct work_struct *work)
{
	struct jf_probes *p, *tmp;
	LIST_HEAD(old);
	LIST_HEAD(one);
	LIST_HEAD(kept);

	mutex_lock(&jf_retired_mutex);
	list_splice_init(&jf_retired, &old);
	mutex_unlock(&jf_retired_mutex);
	if (list_empty(&old) || !jf_reclaim(&old, JF_RECLAIM_PATIENCE))
		return;

	/* A task stays in one of them. Free the others. */
	while (!list_empty(&old)) {
		void *code = jf_code(list_first_entry(&old, struct jf_probes,
						      retired));

		list_for_each_entry_safe(p, tmp, &old, retired)
			if (jf_code(p) == code)
				list_move(&p->retired, &one);
		if (jf_reclaim(&one, 0))
			list_splice_tail_init(&one, &kept);
	}
	mutex_lock(&jf_retired_mutex);
	list_splice(&kept, &jf_retired);
	jf_reclaim_slow = queue_delayed_work(jf_reclaim_wq, &jf_reclaim_later, 10 * HZ);
	mutex_unlock(&jf_retired_mutex);
}

static void jf_retire(struct jf_probes *p)
{
	if (!p)
		return;
	mutex_lock(&jf_retired_mutex);
	list_add_tail(&p->retired, &jf_retired);
	/* A later change does not put it off, unless the work has become slow. */
	if (jf_reclaim_slow)
		mod_delayed_work(jf_reclaim_wq, &jf_reclaim_later, HZ);
	else
		queue_delayed_work(jf_reclaim_wq, &jf_reclaim_later, HZ);
	jf_reclaim_slow = false;
	mutex_unlock(&jf_retired_mutex);
}

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

static unsigned int jf_num(const struct jf_probes *p)
{
	return p ? p->num : 0;
}

static struct jf_probes *jf_probes_add(const struct jf_tracepoint *tp,
				       const struct jf_probes *old,
				       const struct jf_probe *add)
{
	unsigned int i, n = 0;
	struct jf_probes *p = jf_probes_alloc(tp, jf_num(old) + 1);

	if (!p)
		return NULL;
	for (i = 0; i < jf_num(old) && old->probe[i].prio >= add->prio; i++)
		p->probe[n++] = old->probe[i];
	p->probe[n++] = *add;
	for (; i < jf_num(old); i++)
		p->probe[n++] = old->probe[i];
	return p;
}

typedef bool (*jf_probe_match)(const struct jf_probe *p, const void *arg);

static unsigned int jf_probes_count(const struct jf_probes *old,
				    jf_probe_match match, const void *arg)
{
	unsigned int i, n = 0;

	for (i = 0; i < jf_num(old); i++)
		n += match(&old->probe[i], arg);
	return n;
}

/* The probes without those that match; there must be some left. */
static struct jf_probes *jf_probes_del(const struct jf_tracepoint *tp,
				       const struct jf_probes *old,
				       jf_probe_match match, const void *arg)
{
	unsigned int i, n = 0;
	struct jf_probes *p;

	p = jf_probes_alloc(tp, old->num - jf_probes_count(old, match, arg));
	if (!p)
		return NULL;
	for (i = 0; i < old->num; i++)
		if (!match(&old->probe[i], arg))
			p->probe[n++] = old->probe[i];
	return p;
}

static int jf_get_image(const struct jf_tracepoint *tp, struct jf_probes *p)
{
	struct jf_arch_call calls[JF_TRACE_CHAIN_MAX];
	unsigned int i;
	int err;

	for (i = 0; i < p->num; i++) {
		calls[i].func = (unsigned long)p->probe[i].func;
		calls[i].data = (unsigned long)p->probe[i].data;
	}
	mutex_lock(&jf_retired_mutex);
	err = jf_arch_image_get(calls, p->num, tp->nargs, &p->image);
	mutex_unlock(&jf_retired_mutex);
	return err;
}

/* Code for @p: an image if there is one, else the iterator. */
static int jf_get_code(const struct jf_tracepoint *tp, struct jf_probes *p)
{
	int err;

	if (p->num > JF_TRACE_CHAIN_MAX) {
		jf_trace_stats.iter_many++;
		return 0;
	}
	err = jf_get_image(tp, p);
	if (err == -ENOSPC && flush_delayed_work(&jf_reclaim_later))
		err = jf_get_image(tp, p);
	if (err == -ENOSPC) {
		jf_trace_stats.iter_exhausted++;
		return 0;
	}
	return err == -EOPNOTSUPP ? 0 : err;
}

/* --- recording what is replaced ---------------------------------------- */

static bool jf_probe_same(const struct jf_probe *p, const void *arg)
{
	const struct jf_probe *q = arg;

	return p->func == q->func && p->data == q->data;
}

/*
 * The part of @from that is not in @to: the removed probes, and the iterator if
 * it walks @from. An array without an image is no entity's value: it needs this.
 *
 * @num of them, counted from the first, get jf_gone_done().
 */
static unsigned int jf_part_end(const struct jf_probes *from,
				const struct jf_probes *to, unsigned int num,
				bool replaced)
{
	unsigned int i, n = 0;

	for (i = 0; i < jf_num(from) && n < num; i++) {
		if (jf_probes_count(to, jf_probe_same, &from->probe[i]))
			continue;
		jf_gone_done(from->probe[i].func, replaced);
		n++;
	}
	if (n < num && from && !from->image)
		jf_gone_done(from->iter, replaced);
	return n;
}

/*
 * A probe's data may be in another module than its function. Which one is not
 * recorded, so the unload of any module waits for such a function, as it does for
 * code that calls others.
 */
static enum jf_gone_kind jf_probe_kind(const struct jf_probe *p)
{
	const struct jf_mod *m = jf_mod_by_addr((unsigned long)p->func);
	unsigned long data = (unsigned long)p->data;

	/* As in jf_mod_by_addr(). */
	if (!jf_may_be_module(data) || (m && data_race(within_module(data, m->mod))))
		return JF_GONE_TARGET;
	return JF_GONE_DISPATCH;
}

/* 0, or -ENOMEM with nothing changed. */
static int jf_part_begin(const struct jf_probes *from,
			 const struct jf_probes *to)
{
	unsigned int i, n = 0;
	int err = 0;

	for (i = 0; i < jf_num(from) && !err; i++) {
		if (jf_probes_count(to, jf_probe_same, &from->probe[i]))
			continue;
		err = jf_gone_prepare(from->probe[i].func,
				      jf_probe_kind(&from->probe[i]));
		n += !err;
	}
	if (!err && from && !from->image)
		err = jf_gone_prepare(from->iter, JF_GONE_DISPATCH);
	if (err)
		jf_part_end(from, to, n, false);
	return err;
}

/* Record what a change from @old to @new retires if it succeeds, or if it fails. */
static int jf_part(const struct jf_probes *old, const struct jf_probes *new)
{
	int err;

	jf_lock();
	err = jf_part_begin(old, new);
	if (!err) {
		err = jf_part_begin(new, old);
		if (err)
			jf_part_end(old, new, UINT_MAX, false);
	}
	jf_unlock();
	return err;
}

static void jf_parted(const struct jf_tracepoint *tp,
		      const struct jf_probes *old, const struct jf_probes *new,
		      bool replaced)
{
	struct jf_ctl *ctl;

	jf_lock();
	jf_part_end(old, new, UINT_MAX, replaced);
	jf_part_end(new, old, UINT_MAX, !replaced);
	/* From one array to another, the entity itself has not changed. */
	ctl = jf_ctl_find(&tp->call->ent);
	if (ctl)
		ctl->seq = jf_gone_seq();
	jf_unlock();
}

/* --- publishing it ----------------------------------------------------- */

/**
 * struct jf_plan - what a commit makes of one tracepoint
 * @list:   on the commit's list
 * @tp:     the tracepoint
 * @new:    its probes after the commit, NULL: none
 * @adds:   a probe is added that was not there
 * @made:   @new was made for this plan, and nothing refers to it yet
 * @ready:  all is there that the change needs
 * @active: what the iterator walked before
 *
 * Probes are added and removed in the order in which a batch asks for it, so
 * several requests for one tracepoint are one change of it.
 */
struct jf_plan {
	struct list_head	list;
	struct jf_tracepoint	*tp;
	struct jf_probes	*new;
	bool			adds, made, ready;
	const struct jf_probe	*active;
};

static struct jf_plan *jf_plan_get(struct list_head *plans,
				   struct jf_tracepoint *tp)
{
	struct jf_plan *plan;

	list_for_each_entry(plan, plans, list)
		if (plan->tp == tp)
			return plan;
	plan = kzalloc(sizeof(*plan), GFP_KERNEL);
	if (!plan)
		return NULL;
	plan->tp = tp;
	plan->new = tp->probes;
	list_add_tail(&plan->list, plans);
	return plan;
}

static void jf_plan_set(struct jf_plan *plan, struct jf_probes *new)
{
	if (plan->made)
		kfree(plan->new);
	plan->new = new;
	plan->made = true;
}

/* A probe needs the module of its data. -EBUSY: that is being unloaded */
static int jf_check_data(const struct jf_tracepoint *tp, void *data)
{
	struct jf_mod *m = jf_mod_by_addr((unsigned long)data);

	if (!m)
		return 0;
	if (jf_mod_goes(m)) {
		pr_warn_ratelimited("%s: a probe's data is in module %s, which is being unloaded\n",
				    tp->name, m->mod->name);
		return -EBUSY;
	}
	/* Then it is waited for, whether it has tables or not. */
	m->target = true;
	return 0;
}

/* -EEXIST, or an error of jf_check_target() or jf_check_data(). */
static int jf_plan_add(struct jf_plan *plan, const struct jf_probe *add)
{
	struct jf_probes *new;
	int err;

	/*
	 * With jf_tp_mutex held: a module that is found alive has yet to call
	 * jf_trace_module_going(), which will remove this probe.
	 */
	jf_lock();
	err = jf_check_target(plan->tp->name, add->func, NULL, false) ?:
	      jf_check_data(plan->tp, add->data);
	jf_unlock();
	if (err)
		return err;
	if (jf_probes_count(plan->new, jf_probe_same, add))
		return -EEXIST;
	new = jf_probes_add(plan->tp, plan->new, add);
	if (!new)
		return -ENOMEM;
	jf_plan_set(plan, new);
	plan->adds = true;
	return 0;
}

/* Remove all probes that match: -ENOENT if none does. */
static int jf_plan_del(struct jf_plan *plan, jf_probe_match match,
		       const void *arg)
{
	unsigned int removed = jf_probes_count(plan->new, match, arg);
	struct jf_probes *new = NULL;

	if (!removed)
		return -ENOENT;
	if (removed < plan->new->num) {
		new = jf_probes_del(plan->tp, plan->new, match, arg);
		if (!new)
			return -ENOMEM;
	}
	jf_plan_set(plan, new);
	return 0;
}

static int jf_plan_probe(struct list_head *plans,
			 const struct jf_probe_change *c)
{
	struct jf_plan *plan = jf_plan_get(plans, c->tp);

	if (!plan)
		return -ENOMEM;
	return c->add ? jf_plan_add(plan, &c->probe) :
			jf_plan_del(plan, jf_probe_same, &c->probe);
}

/*
 * Add to @changes what calls the new probes. Probes may be removed from a tracepoint
 * whose module is being unloaded: its exit function has to clean up.
 */
static int jf_plan_changes(struct jf_plan *plan, struct list_head *changes)
{
	struct jf_tracepoint *tp = plan->tp;
	union jf_value func = jf_func_value(tp->call, plan->new ?
					    jf_code(plan->new) : NULL);
	union jf_value on = { .on = plan->new };
	int err;

	err = jf_add_change(changes, &tp->call->ent, func, !plan->adds);
	return err ?: jf_add_change(changes, &tp->key->ent, on, !plan->adds);
}

static bool jf_is_walked(const struct jf_probes *p)
{
	return p && !p->image;
}

/* Does the iterator walk @plan->new before the commit? */
static bool jf_plan_is_early(const struct jf_plan *plan)
{
	return jf_is_walked(plan->new) && !jf_is_walked(plan->tp->probes);
}

/* The change to plan->new is not made: free it, or retire it. */
static void jf_plan_undo(struct jf_plan *plan)
{
	jf_parted(plan->tp, plan->tp->probes, plan->new, false);
	if (!plan->new)
		return;
	if (jf_plan_is_early(plan)) {
		/*
		 * A task in the iterator may have seen the new array. Pairs
		 * with the iterator's READ_ONCE().
		 */
		smp_store_release(&plan->tp->active, plan->active);
		jf_retire(plan->new);
		return;
	}
	/* No task was sent there. */
	mutex_lock(&jf_retired_mutex);
	jf_probes_free(plan->new);
	mutex_unlock(&jf_retired_mutex);
}

/* The code, the records, and what the iterator walks. */
static int jf_plan_publish(struct jf_plan *plan)
{
	struct jf_tracepoint *tp = plan->tp;
	int err;

	err = plan->new ? jf_get_code(tp, plan->new) : 0;
	if (err)
		return err;
	err = jf_part(tp->probes, plan->new);
	if (err) {
		mutex_lock(&jf_retired_mutex);
		if (plan->new && plan->new->image)
			jf_arch_image_put(plan->new->image);
		mutex_unlock(&jf_retired_mutex);
		return err;
	}
	plan->active = tp->active;
	if (jf_plan_is_early(plan))
		/*
		 * Before the call can lead to the iterator. Pairs with the
		 * iterator's READ_ONCE(), which depends on the address.
		 */
		smp_store_release(&tp->active, plan->new->probe);
	return 0;
}

/* All that the change needs; on error nothing has changed. */
static int jf_plan_prepare(struct jf_plan *plan, struct list_head *changes)
{
	int err = jf_plan_publish(plan);

	if (err)
		return err;
	plan->made = false;
	err = jf_plan_changes(plan, changes);
	if (err)
		jf_plan_undo(plan);
	else
		plan->ready = true;
	return err;
}

static void jf_plan_done(struct jf_plan *plan)
{
	struct jf_tracepoint *tp = plan->tp;
	struct jf_probes *old = tp->probes;

	if (jf_is_walked(plan->new) && jf_is_walked(old))
		/* Pairs with the iterator's READ_ONCE(). */
		smp_store_release(&tp->active, plan->new->probe);
	jf_parted(tp, old, plan->new, true);
	tp->probes = plan->new;
	if (!old && plan->new)
		list_add_tail(&tp->list, &jf_tracepoints);
	if (old && !plan->new)
		list_del(&tp->list);
	jf_retire(old);
	jf_trace_stats.transitions++;
}

static void jf_plans_free(struct list_head *plans)
{
	struct jf_plan *plan, *tmp;

	list_for_each_entry_safe(plan, tmp, plans, list) {
		if (plan->made)
			kfree(plan->new);
		kfree(plan);
	}
}

/* Carry out all plans and @changes, or none. */
static int jf_plans_commit(struct list_head *plans, struct list_head *changes)
{
	struct jf_plan *plan;
	bool done = false;
	int err = 0;

	list_for_each_entry(plan, plans, list) {
		err = jf_plan_prepare(plan, changes);
		if (err)
			break;
	}
	if (!err) {
		jf_lock();
		err = __jf_commit(changes);
		jf_unlock();
		/* After -EIO sites may lead to the new code: it is published. */
		done = !err || err == -EIO;
	}
	list_for_each_entry(plan, plans, list) {
		if (plan->ready && done)
			jf_plan_done(plan);
		else if (plan->ready)
			jf_plan_undo(plan);
	}
	return err;
}

/* --- the interface ----------------------------------------------------- */

int jf_trace_commit(const struct list_head *probes, struct list_head *changes)
{
	const struct jf_probe_change *c;
	LIST_HEAD(plans);
	int err = 0;

	mutex_lock(&jf_tp_mutex);
	list_for_each_entry(c, probes, list) {
		err = jf_plan_probe(&plans, c);
		if (err)
			break;
	}
	if (!err)
		err = jf_plans_commit(&plans, changes);
	jf_plans_free(&plans);
	mutex_unlock(&jf_tp_mutex);
	return err;
}

/* A batch of one. */
static int jf_trace_change(struct jf_probe_change *c)
{
	int err = jf_check_context();
	LIST_HEAD(changes);
	LIST_HEAD(probes);

	if (err)
		return err;
	list_add(&c->list, &probes);
	err = jf_trace_commit(&probes, &changes);
	jf_free_changes(&changes);
	return err;
}

int __jf_trace_register(struct jf_tracepoint *tp, void *func, void *data,
			int prio)
{
	struct jf_probe_change c = {
		.tp = tp,
		.probe = { .func = func, .data = data, .prio = prio },
		.add = true,
	};

	return func ? jf_trace_change(&c) : -EINVAL;
}
EXPORT_SYMBOL_GPL(__jf_trace_register);

int __jf_trace_unregister(struct jf_tracepoint *tp, void *func, void *data)
{
	struct jf_probe_change c = {
		.tp = tp,
		.probe = { .func = func, .data = data },
	};

	return jf_trace_change(&c);
}
EXPORT_SYMBOL_GPL(__jf_trace_unregister);

/* --- modules that are unloaded ----------------------------------------- */

static bool jf_probe_in_module(const struct jf_probe *p, const void *mod)
{
	return within_module((unsigned long)p->func, mod) ||
	       within_module((unsigned long)p->data, mod);
}

static bool jf_probe_any(const struct jf_probe *p, const void *mod)
{
	return true;
}

/* Its own tracepoints lose all probes: a task still in it may call them. */
static int jf_remove_module(struct jf_tracepoint *tp, struct module *mod)
{
	struct jf_plan *plan;
	LIST_HEAD(changes);
	LIST_HEAD(plans);
	int err;

	plan = jf_plan_get(&plans, tp);
	if (!plan)
		return -ENOMEM;
	err = jf_plan_del(plan, tp->owner == mod ? jf_probe_any :
						   jf_probe_in_module, mod);
	if (!err)
		err = jf_plans_commit(&plans, &changes);
	jf_plans_free(&plans);
	jf_free_changes(&changes);
	return err;
}

/*
 * Remove the probes that a module has left, and all probes of its tracepoints.
 * Called before its entities are forgotten, and before its text is waited for;
 * -errno: not all could be removed yet.
 */
int jf_trace_module_going(struct module *mod)
{
	struct jf_tracepoint *tp, *tmp;
	int err = 0;

	mutex_lock(&jf_tp_mutex);
	list_for_each_entry_safe(tp, tmp, &jf_tracepoints, list) {
		err = jf_remove_module(tp, mod);
		if (!err && tp->owner != mod)
			pr_info("%s left probes on tracepoint %s, removed\n",
				mod->name, tp->name);
		else if (err && err != -ENOENT)
			break;
		err = 0;
	}
	mutex_unlock(&jf_tp_mutex);
	return err;
}

static void jf_forget_iterators(const struct module *mod)
{
	struct jf_probes *p;

	mutex_lock(&jf_retired_mutex);
	list_for_each_entry(p, &jf_retired, retired)
		if (within_module((unsigned long)p->iter, mod))
			p->iter = NULL;
	mutex_unlock(&jf_retired_mutex);
}

/*
 * No task is in @mod any more. Its iterators are freed with its text, so what they
 * walked must not wait for tasks in a later module at that address.
 */
void jf_trace_module_gone(struct module *mod)
{
	jf_forget_iterators(mod);
	/* The work may have taken some off the list, and put them back. */
	flush_work(&jf_reclaim_later.work);
	jf_forget_iterators(mod);
}

int jf_trace_init(void)
{
	jf_reclaim_wq = alloc_workqueue("jumpfunc_reclaim",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return jf_reclaim_wq ? 0 : -ENOMEM;
}

void jf_trace_exit(void)
{
	cancel_delayed_work_sync(&jf_reclaim_later);
	while (jf_reclaim(&jf_retired, MAX_SCHEDULE_TIMEOUT))
		msleep(100);
	destroy_workqueue(jf_reclaim_wq);
}
