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
 * Replaced code is kept until no task is in it: see kernel/tracepoint/code.c.
 */
#include "tracepoint/plan.h"

#include "update/commit.h"

#include <linux/slab.h>

/* --- the interface ----------------------------------------------------- */

static int jf_trace_commit_locked(const struct list_head *probes,
				  struct list_head *changes, bool *made,
				  bool wait)
{
	const struct jf_probe_change *c;
	LIST_HEAD(plans);
	int err = 0;

	lockdep_assert_held(&jf_tp_mutex);
	*made = false;
	list_for_each_entry(c, probes, list) {
		err = jf_plan_probe(&plans, c);
		if (err)
			break;
	}
	if (!err)
		err = jf_plans_commit(&plans, changes, made, wait);
	jf_plans_free(&plans);
	return err;
}

static int jf_trace_commit_once(const struct list_head *probes,
				struct list_head *changes, bool wait)
{
	bool made;
	int err;

	mutex_lock(&jf_tp_mutex);
	err = jf_trace_commit_locked(probes, changes, &made, wait);
	mutex_unlock(&jf_tp_mutex);
	return err;
}

int jf_trace_commit(const struct list_head *probes, struct list_head *changes)
{
	int err = jf_trace_commit_once(probes, changes, true);

	if (err != -EAGAIN)
		return err;
	jf_reclaim_wait();
	return jf_trace_commit_once(probes, changes, false);
}

/*
 * The unload of a module marks it, under jf_mutex, before it waits for jf_tp_mutex to
 * remove probes, and forgets its entities after that. So one that @find sees without
 * the mark is forgotten after this has returned.
 */
int jf_trace_commit_found(int (*find)(struct list_head *probes,
				      struct list_head *changes, void *arg),
			  void *arg, bool *made, bool wait)
{
	struct jf_probe_change *c, *tmp;
	LIST_HEAD(changes);
	LIST_HEAD(probes);
	int err;

	mutex_lock(&jf_tp_mutex);
	err = find(&probes, &changes, arg);
	*made = !err;
	if (!err && (!list_empty(&probes) || !list_empty(&changes)))
		err = jf_trace_commit_locked(&probes, &changes, made, wait);
	mutex_unlock(&jf_tp_mutex);
	jf_free_changes(&changes);
	list_for_each_entry_safe(c, tmp, &probes, list)
		kfree(c);
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
static int jf_plan_module(struct list_head *plans, struct jf_tracepoint *tp,
			  struct module *mod)
{
	jf_probe_match match = tp->owner == mod ? jf_probe_any :
						  jf_probe_in_module;
	struct jf_plan *plan;

	if (!jf_probes_count(tp->probes, match, mod))
		return 0;
	plan = jf_plan_get(plans, tp);
	return plan ? jf_plan_del(plan, match, mod) : -ENOMEM;
}

/* All of them in one transaction, however many tracepoints it is. */
static int jf_remove_module(struct module *mod, bool wait)
{
	struct jf_tracepoint *tp;
	LIST_HEAD(changes);
	LIST_HEAD(plans);
	bool made = false;
	int err = 0;

	mutex_lock(&jf_tp_mutex);
	list_for_each_entry(tp, &jf_tracepoints, list)
		err = err ?: jf_plan_module(&plans, tp, mod);
	if (!err && !list_empty(&plans))
		err = jf_plans_commit(&plans, &changes, &made, wait);
	if (made)
		jf_plans_tell_left(&plans, mod);
	jf_plans_free(&plans);
	mutex_unlock(&jf_tp_mutex);
	jf_free_changes(&changes);
	return err;
}

/*
 * Remove the probes that a module has left, and all probes of its tracepoints.
 * Called before its entities are forgotten, and before its text is waited for;
 * -errno: not all could be removed yet.
 */
int jf_trace_unload_begin(struct module *mod)
{
	int err = jf_remove_module(mod, true);

	if (err == -EAGAIN) {
		jf_reclaim_wait();
		err = jf_remove_module(mod, false);
	}
	if (!err)
		jf_retired_leave(mod);
	return err;
}
