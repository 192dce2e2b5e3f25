// SPDX-License-Identifier: GPL-2.0
/*
 * The code that calls the probes of an array: an image, or the iterator.
 *
 * Replaced code is kept until no task is in it or can reach it. A work item waits for
 * that and frees the images. If no image is free, but some
 * retired ones have not been searched for tasks yet, a change waits once for that work item,
 * without a lock, and begins anew: a change is slow anyway, whereas a lost fast path would stay
 * lost. A probe that sleeps keeps its own image and no other. Images with sleeping tasks are
 * left to another work item, for which no change waits, and which scans no stack while none of
 * the tasks has run.
 */
#include "tracepoint/plan.h"

#include "arch/image.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"
#include "quiesce/quiesce.h"

#include <linux/slab.h>
#include <linux/workqueue.h>

static_assert(JF_TRACE_CHAIN_MAX == JF_ARCH_IMAGE_CALLS);

/* How long reclaiming waits for all of it together. */
#define JF_RECLAIM_PATIENCE	(2 * HZ)

DEFINE_MUTEX(jf_retired_mutex);
/* All arrays, with or without an image, that a task may still be in. */
static LIST_HEAD(jf_retired_all);
/* Of these: no search was made yet for a task in them; one was, and there is a task. */
static LIST_HEAD(jf_retired_new);
static LIST_HEAD(jf_retired_busy);
/* Images of which no search has told yet whether a task is in them. */
static unsigned int jf_images_open;
/* The tasks in busy images, for its work item alone. */
static struct jf_stay jf_busy_stay;
/* It has the tasks of all that are busy. */
static bool jf_busy_is_known;

struct jf_trace_stats jf_trace_stats;

/* --- replaced code ----------------------------------------------------- */

void jf_probes_free(struct jf_probes *p)
{
	lockdep_assert_held(&jf_retired_mutex);
	if (p->image)
		jf_arch_image_put(p->image);
	kfree(p);
}

static void jf_retired_free(struct jf_probes *p)
{
	list_del(&p->retired);
	list_del(&p->all);
	jf_probes_free(p);
}

/* Where the code of @old begins, each one once if they are in a row; for kvfree(). */
static void **jf_codes_of(const struct list_head *old, unsigned int *num)
{
	unsigned int n = 0, max = 0;
	const struct jf_probes *p;
	void **code;

	*num = 0;
	mutex_lock(&jf_retired_mutex);
	list_for_each_entry(p, old, retired)
		max++;
	code = kvmalloc_array(max + 1, sizeof(*code), GFP_KERNEL);
	if (code)
		list_for_each_entry(p, old, retired)
			if (!n || code[n - 1] != jf_code(p))
				code[n++] = jf_code(p);
	mutex_unlock(&jf_retired_mutex);
	*num = n;
	return code;
}

/* All of @old that are not being freed otherwise, each with its code as the record. */
static int jf_spans_add_old(struct jf_spans *spans, const struct list_head *old)
{
	unsigned int i, num, first;
	void **code = jf_codes_of(old, &num);
	int err = code ? 0 : -ENOMEM;

	for (i = 0; !err && i < num; i++) {
		first = spans->num;
		err = jf_spans_add_func(spans, code[i]);
		/* Their callers were replaced as well. */
		jf_spans_tag(spans, first, 0, (unsigned long)code[i]);
	}
	kvfree(code);
	return err;
}

/* Move those whose code the @stay is in from @old to @held. False: no such image exists. */
static bool jf_retired_move(struct list_head *old, struct list_head *held,
			    const struct jf_spans *spans, const struct jf_stay *stay)
{
	struct jf_probes *p, *tmp;
	unsigned int i, j;
	bool any = false;

	for (i = 0; i < stay->num; i++) {
		unsigned long where = jf_stay_where(stay, i), code = 0;

		for (j = 0; !code && j < spans->num; j++)
			if (where >= spans->span[j].start &&
			    where < spans->span[j].end)
				code = spans->span[j].record;
		mutex_lock(&jf_retired_mutex);
		list_for_each_entry_safe(p, tmp, old, retired) {
			if (!code || (unsigned long)jf_code(p) != code)
				continue;
			list_move_tail(&p->retired, held);
			any = true;
		}
		mutex_unlock(&jf_retired_mutex);
		cond_resched();
	}
	return any;
}

/* No task is in any of @old that entered it before @seq. */
static void jf_retired_free_all(struct list_head *old, u64 seq)
{
	struct jf_probes *p, *tmp;

	mutex_lock(&jf_retired_mutex);
	list_for_each_entry_safe(p, tmp, old, retired) {
		mutex_lock(&jf_mutex);
		jf_retired_forget(jf_code(p), seq);
		mutex_unlock(&jf_mutex);
		jf_retired_free(p);
	}
	mutex_unlock(&jf_retired_mutex);
}

/*
 * Free @old if no task is in any of them. 0, or why not; and with -ETIMEDOUT those that a
 * task was found in are moved to @held. *@stay: these tasks. -EAGAIN: the same, and some are
 * left, of which no task was found in any.
 */
static int jf_reclaim(struct list_head *old, struct list_head *held, long timeout,
		      struct jf_stay *stay)
{
	struct jf_spans spans = { };
	u64 seq;
	int err;

	err = jf_retired_begin(&seq);
	err = err ?: jf_spans_add_old(&spans, old);
	if (!err && spans.num)
		err = jf_quiesce_spans("tracepoints", &spans, timeout, stay);
	if (!err)
		jf_retired_free_all(old, seq);
	else if (err == -ETIMEDOUT && jf_retired_move(old, held, &spans, stay) &&
		 !list_empty(old))
		err = -EAGAIN;
	jf_spans_free(&spans);
	return err;
}

/*
 * Free all of @old that no task is in. One search finds one place of each task. So it takes
 * one more for the rest, and one for each level of nested calls. *@stay: the tasks that were
 * found inside by the first one, and so by all: no other one can come there any more.
 */
static void jf_reclaim_most(struct list_head *old, long timeout, struct jf_stay *stay)
{
	struct jf_stay again = { };
	LIST_HEAD(held);
	int err;

	err = jf_reclaim(old, &held, timeout, stay);
	while (err == -EAGAIN) {
		err = jf_reclaim(old, &held, 0, &again);
		jf_stay_free(&again);
	}
	mutex_lock(&jf_retired_mutex);
	list_splice(&held, old);
	mutex_unlock(&jf_retired_mutex);
}

/*
 * A workqueue of its own, with a rescuer: work that frees memory may wait for it. A
 * task that changes probes must not reclaim: it may be inside one of them.
 */
static struct workqueue_struct *jf_reclaim_wq;

static void jf_reclaim_work(struct work_struct *work);
static void jf_busy_work(struct work_struct *work);
/* Late, so that one wait serves many changes. */
static DECLARE_DELAYED_WORK(jf_reclaim_later, jf_reclaim_work);
static DECLARE_DELAYED_WORK(jf_busy_later, jf_busy_work);

/* Without jf_tp_mutex: changes go on while this waits. */
static void jf_reclaim_work(struct work_struct *work)
{
	struct jf_stay stay = { };
	unsigned int images;
	LIST_HEAD(old);

	mutex_lock(&jf_retired_mutex);
	list_splice_init(&jf_retired_new, &old);
	images = jf_images_open;
	mutex_unlock(&jf_retired_mutex);
	jf_reclaim_most(&old, JF_RECLAIM_PATIENCE, &stay);
	jf_stay_free(&stay);
	mutex_lock(&jf_retired_mutex);
	jf_images_open -= images;
	if (!list_empty(&old)) {
		list_splice(&old, &jf_retired_busy);
		jf_busy_is_known = false;
		queue_delayed_work(jf_reclaim_wq, &jf_busy_later, 10 * HZ);
	}
	mutex_unlock(&jf_retired_mutex);
}

/* A task stays in each of these, so far. Where no stack can be read, it takes patience anew. */
static void jf_busy_work(struct work_struct *work)
{
	LIST_HEAD(busy);
	bool known;

	mutex_lock(&jf_retired_mutex);
	list_splice_init(&jf_retired_busy, &busy);
	known = jf_busy_is_known;
	jf_busy_is_known = true;
	mutex_unlock(&jf_retired_mutex);
	/* The tasks are referenced no longer than a search can need them. */
	if (list_empty(&busy)) {
		jf_stay_free(&jf_busy_stay);
	} else if (!known || jf_stay_moved(&jf_busy_stay)) {
		jf_stay_free(&jf_busy_stay);
		jf_reclaim_most(&busy, JF_RECLAIM_PATIENCE, &jf_busy_stay);
	}
	mutex_lock(&jf_retired_mutex);
	list_splice(&busy, &jf_retired_busy);
	if (!list_empty(&jf_retired_busy))
		queue_delayed_work(jf_reclaim_wq, &jf_busy_later, 10 * HZ);
	mutex_unlock(&jf_retired_mutex);
}

void jf_reclaim_wait(void)
{
	jf_assert_may_wait();
	flush_delayed_work(&jf_reclaim_later);
}

void jf_retire_probes(struct jf_probes *p)
{
	if (!p)
		return;
	mutex_lock(&jf_retired_mutex);
	list_add_tail(&p->all, &jf_retired_all);
	list_add_tail(&p->retired, &jf_retired_new);
	jf_images_open += !!p->image;
	/* A later change does not put it off. */
	queue_delayed_work(jf_reclaim_wq, &jf_reclaim_later, HZ);
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

/* True if a wait could give back an image. */
static bool jf_reclaim_helps(void)
{
	bool helps;

	mutex_lock(&jf_retired_mutex);
	helps = jf_images_open;
	mutex_unlock(&jf_retired_mutex);
	return helps;
}

/* Code for @p: an image if there is one, else the iterator. */
int jf_get_code(const struct jf_tracepoint *tp, struct jf_probes *p, bool wait)
{
	int err;

	if (p->num > JF_TRACE_CHAIN_MAX) {
		jf_trace_stats.iter_many++;
		return 0;
	}
	err = jf_get_image(tp, p);
	if (err == -ENOSPC && wait && jf_reclaim_helps())
		return -EAGAIN;
	if (err == -ENOSPC) {
		jf_trace_stats.iter_exhausted++;
		return 0;
	}
	return err == -EOPNOTSUPP ? 0 : err;
}

/* --- modules that are unloaded ----------------------------------------- */

/*
 * The unload of @mod waits until no task is in any of its text, so no other search is made
 * for its iterators, of which there can be thousands.
 */
void jf_retired_leave(const struct module *mod)
{
	struct jf_probes *p;

	mutex_lock(&jf_retired_mutex);
	list_for_each_entry(p, &jf_retired_all, all)
		if (!p->image && within_module((unsigned long)p->iter, mod))
			list_del_init(&p->retired);
	mutex_unlock(&jf_retired_mutex);
}

/* No task is in @mod any more, and its iterators are freed with its text. */
void jf_trace_unload_end(struct module *mod)
{
	struct jf_probes *p, *tmp;

	mutex_lock(&jf_retired_mutex);
	list_for_each_entry_safe(p, tmp, &jf_retired_all, all)
		if (!p->image && within_module((unsigned long)p->iter, mod))
			jf_retired_free(p);
	mutex_unlock(&jf_retired_mutex);
}

int jf_trace_init(void)
{
	jf_reclaim_wq = alloc_workqueue("jumpfunc_reclaim",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return jf_reclaim_wq ? 0 : -ENOMEM;
}

void jf_trace_exit(void)
{
	unsigned long told = jiffies;
	struct jf_stay stay = { };
	LIST_HEAD(held);
	int err;

	cancel_delayed_work_sync(&jf_reclaim_later);
	cancel_delayed_work_sync(&jf_busy_later);
	jf_stay_free(&jf_busy_stay);
	list_splice_init(&jf_retired_busy, &jf_retired_new);
	while ((err = jf_reclaim(&jf_retired_new, &held, MAX_SCHEDULE_TIMEOUT, &stay))) {
		if (jf_tell_again(&told))
			pr_warn("the unload waits for %s\n", err == -EBUSY ?
				"a site that leads to what was refused" : "memory");
		jf_nap(100);
	}
	destroy_workqueue(jf_reclaim_wq);
}
