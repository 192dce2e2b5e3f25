// SPDX-License-Identifier: GPL-2.0
/*
 * The code that calls the probes of an array: an image, or the iterator.
 *
 * What was replaced is kept on jf_retired_probes until no task is in it or can
 * reach it. A work item waits for that and frees the images. A change that finds
 * no free image while some are retired waits for that work item, because a change
 * is slow anyway, whereas a lost fast path would stay lost. A probe that sleeps
 * keeps its own image and no other; the arrays of the iterator are not told
 * apart.
 */
#include "tracepoint/plan.h"

#include "arch/image.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"
#include "quiesce/quiesce.h"

#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

static_assert(JF_TRACE_CHAIN_MAX == JF_ARCH_IMAGE_CALLS);

/* How long reclaiming waits for all of it together. */
#define JF_RECLAIM_PATIENCE	(2 * HZ)

DEFINE_MUTEX(jf_retired_mutex);
/* Arrays and images that a task may still be in. */
static LIST_HEAD(jf_retired_probes);
/* The work has long waited for the same task, and now runs less often. */
static bool jf_reclaim_slow;

struct jf_trace_stats jf_trace_stats;

/* --- what was replaced ------------------------------------------------- */

void jf_probes_free(struct jf_probes *p)
{
	lockdep_assert_held(&jf_retired_mutex);
	if (p->image)
		jf_arch_image_put(p->image);
	kfree(p);
}

/* Free those of @old that no task is in. Return: 0 if that is all of them. */
static int jf_reclaim(struct list_head *old, long timeout)
{
	struct jf_probes *p, *tmp;
	struct jf_spans spans = { };
	u64 seq;
	int err;

	err = jf_retired_begin(&seq);
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
		jf_retired_forget(jf_code(p), seq);
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
	list_splice_init(&jf_retired_probes, &old);
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
	list_splice(&kept, &jf_retired_probes);
	jf_reclaim_slow = queue_delayed_work(jf_reclaim_wq, &jf_reclaim_later, 10 * HZ);
	mutex_unlock(&jf_retired_mutex);
}

void jf_retire_probes(struct jf_probes *p)
{
	if (!p)
		return;
	mutex_lock(&jf_retired_mutex);
	list_add_tail(&p->retired, &jf_retired_probes);
	/* A later change does not put it off, unless the work has become slow. */
	if (jf_reclaim_slow)
		mod_delayed_work(jf_reclaim_wq, &jf_reclaim_later, HZ);
	else
		queue_delayed_work(jf_reclaim_wq, &jf_reclaim_later, HZ);
	jf_reclaim_slow = false;
	mutex_unlock(&jf_retired_mutex);
}

/* --- making new code --------------------------------------------------- */

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
int jf_get_code(const struct jf_tracepoint *tp, struct jf_probes *p)
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

/* --- modules that are unloaded ----------------------------------------- */

static void jf_forget_iterators(const struct module *mod)
{
	struct jf_probes *p;

	mutex_lock(&jf_retired_mutex);
	list_for_each_entry(p, &jf_retired_probes, retired)
		if (within_module((unsigned long)p->iter, mod))
			p->iter = NULL;
	mutex_unlock(&jf_retired_mutex);
}

/*
 * No task is in @mod any more. Its iterators are freed with its text, so what they
 * walked must not wait for tasks in a later module at that address.
 */
void jf_trace_unload_end(struct module *mod)
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
	while (jf_reclaim(&jf_retired_probes, MAX_SCHEDULE_TIMEOUT))
		msleep(100);
	destroy_workqueue(jf_reclaim_wq);
}
