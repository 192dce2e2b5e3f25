// SPDX-License-Identifier: GPL-2.0
/*
 * The part of a commit that changes tracepoints: a plan for each of them is prepared, then
 * all are committed, or all are undone.
 */
#include "tracepoint/plan.h"

#include "arch/image.h"
#include "update/commit.h"

#include <linux/hashtable.h>
#include <linux/slab.h>

LIST_HEAD(jf_tracepoints);
/* The plans of the commit that is being prepared, by their tracepoints. */
static DEFINE_HASHTABLE(jf_plans, 12);

/**
 * struct jf_plan - the change of one tracepoint by a commit
 * @list:   on the commit's list
 * @hash:   in jf_plans
 * @tp:     the tracepoint
 * @new:    its probes after the commit, NULL: none
 * @adds:   a probe is added that was not there
 * @made:   @new was made for this plan, and nothing refers to it yet
 * @ready:  all is there that the change needs
 * @active: the array that the iterator walked before
 *
 * Probes are added and removed in the order in which a batch asks for it, so
 * several requests for one tracepoint are one change of it.
 */
struct jf_plan {
	struct list_head	list;
	struct hlist_node	hash;
	struct jf_tracepoint	*tp;
	struct jf_probes	*new;
	bool			adds, made, ready;
	const struct jf_probe	*active;
};

struct jf_plan *jf_plan_get(struct list_head *plans, struct jf_tracepoint *tp)
{
	struct jf_plan *plan;

	hash_for_each_possible(jf_plans, plan, hash, (unsigned long)tp)
		if (plan->tp == tp)
			return plan;
	plan = kzalloc(sizeof(*plan), GFP_KERNEL);
	if (!plan)
		return NULL;
	plan->tp = tp;
	plan->new = tp->probes;
	hash_add(jf_plans, &plan->hash, (unsigned long)tp);
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
	if (jf_mod_is_unloading(m)) {
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
	 * jf_trace_unload_begin(), which will remove this probe.
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
int jf_plan_del(struct jf_plan *plan, jf_probe_match match, const void *arg)
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

int jf_plan_probe(struct list_head *plans, const struct jf_probe_change *c)
{
	struct jf_plan *plan = jf_plan_get(plans, c->tp);

	if (!plan)
		return -ENOMEM;
	return c->add ? jf_plan_add(plan, &c->probe) :
			jf_plan_del(plan, jf_probe_same, &c->probe);
}

/*
 * Add the call of the new probes to @changes. Probes may be removed from a tracepoint
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

/* True if the iterator walks @plan->new before the commit. */
static bool jf_plan_is_early(const struct jf_plan *plan)
{
	return jf_is_walked(plan->new) && !jf_is_walked(plan->tp->probes);
}

/*
 * The change to plan->new is not made: free it, or retire it. @ran: CPUs may have been led
 * there, before a transaction was taken back.
 */
static void jf_plan_undo(struct jf_plan *plan, bool ran)
{
	bool early = jf_plan_is_early(plan);

	jf_probes_done(plan->tp->probes, plan->new, false, early || ran);
	if (!plan->new)
		return;
	/*
	 * A task in the iterator may have seen the new array. One that was led
	 * there just now has maybe yet to look for it, and may not find what
	 * was there before: that has been freed if no task was in the iterator.
	 */
	if (early && !ran)
		/* Pairs with the iterator's READ_ONCE(). */
		smp_store_release(&plan->tp->active, plan->active);
	if (early || ran) {
		jf_retire_probes(plan->new);
		return;
	}
	/* No task was sent there. */
	mutex_lock(&jf_retired_mutex);
	jf_probes_free(plan->new);
	mutex_unlock(&jf_retired_mutex);
}

/* The code, the records, and the array that the iterator walks. */
static int jf_plan_publish(struct jf_plan *plan, bool wait)
{
	struct jf_tracepoint *tp = plan->tp;
	int err;

	err = plan->new ? jf_get_code(tp, plan->new, wait) : 0;
	if (err)
		return err;
	err = jf_probes_prepare(tp->probes, plan->new);
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
static int jf_plan_prepare(struct jf_plan *plan, struct list_head *changes,
			   bool wait)
{
	int err = jf_plan_publish(plan, wait);

	if (err)
		return err;
	plan->made = false;
	err = jf_plan_changes(plan, changes);
	if (err)
		jf_plan_undo(plan, false);
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
	jf_probes_done(old, plan->new, true, true);
	tp->probes = plan->new;
	if (!old && plan->new)
		list_add_tail(&tp->list, &jf_tracepoints);
	if (old && !plan->new)
		list_del(&tp->list);
	jf_retire_probes(old);
	jf_trace_stats.transitions++;
}

void jf_plans_tell_left(const struct list_head *plans, const struct module *mod)
{
	const struct jf_plan *plan;

	list_for_each_entry(plan, plans, list)
		if (plan->tp->owner != mod)
			pr_info("%s left probes on tracepoint %s, removed\n",
				mod->name, plan->tp->name);
}

void jf_plans_free(struct list_head *plans)
{
	struct jf_plan *plan, *tmp;

	list_for_each_entry_safe(plan, tmp, plans, list) {
		if (plan->made)
			kfree(plan->new);
		hash_del(&plan->hash);
		kfree(plan);
	}
}

/* Carry out all plans and @changes, or none. */
int jf_plans_commit(struct list_head *plans, struct list_head *changes,
		    bool *made, bool wait)
{
	struct list_head *last = changes->prev;
	struct jf_plan *plan;
	bool done = false;
	bool tried = false;
	LIST_HEAD(asked);
	int err = 0;

	list_for_each_entry(plan, plans, list) {
		err = jf_plan_prepare(plan, changes, wait);
		if (err)
			break;
	}
	if (err == -EAGAIN) {
		/* The changes that the plans added lead to code that is about to be freed. */
		list_cut_position(&asked, changes, last);
		jf_free_changes(changes);
		list_splice(&asked, changes);
	}
	if (!err) {
		jf_lock();
		err = jf_commit_try_locked(changes, &tried);
		jf_unlock();
		/* After -EIO sites may lead to the new code: it is published. */
		done = !err || err == -EIO;
	}
	list_for_each_entry(plan, plans, list) {
		if (plan->ready && done)
			jf_plan_done(plan);
		else if (plan->ready)
			jf_plan_undo(plan, tried);
	}
	*made = done;
	return err;
}
