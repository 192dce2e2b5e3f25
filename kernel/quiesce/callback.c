// SPDX-License-Identifier: GPL-2.0
/* Functions that are called after a quiesce. */
#include "quiesce/quiesce.h"

#include <jumpfunc/batch.h>

#include "index/index.h"
#include "quiesce/wait.h"

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

static void jf_calls_work(struct work_struct *work);
static DECLARE_WORK(jf_calls_run, jf_calls_work);
/* A callback can be asked for anywhere but in an NMI, on RT, too. */
static DEFINE_RAW_SPINLOCK(jf_calls_lock);
static LIST_HEAD(jf_calls);
/* Those whose quiesce is under way. */
static LIST_HEAD(jf_calls_waiting);
/* The one that runs; its head may have been freed. */
static unsigned long jf_call_running, jf_call_running_head;

void jf_call_quiesced(struct jf_quiesce_head *head,
		      void (*func)(struct jf_quiesce_head *head))
{
	unsigned long flags;

	head->func = func;
	raw_spin_lock_irqsave(&jf_calls_lock, flags);
	list_add_tail(&head->list, &jf_calls);
	raw_spin_unlock_irqrestore(&jf_calls_lock, flags);
	queue_work(jf_wq, &jf_calls_run);
}
EXPORT_SYMBOL_GPL(jf_call_quiesced);

static struct jf_quiesce_head *jf_calls_next(void)
{
	struct jf_quiesce_head *head;

	raw_spin_lock_irq(&jf_calls_lock);
	head = list_first_entry_or_null(&jf_calls_waiting,
					struct jf_quiesce_head, list);
	if (head)
		list_del(&head->list);
	jf_call_running = head ? (unsigned long)head->func : 0;
	jf_call_running_head = (unsigned long)head;
	raw_spin_unlock_irq(&jf_calls_lock);
	return head;
}

static void jf_calls_work(struct work_struct *work)
{
	struct jf_quiesce_head *head;
	bool any;

	raw_spin_lock_irq(&jf_calls_lock);
	list_splice_tail_init(&jf_calls, &jf_calls_waiting);
	any = !list_empty(&jf_calls_waiting);
	raw_spin_unlock_irq(&jf_calls_lock);
	if (!any)
		return;
	jf_quiesce_all(MAX_SCHEDULE_TIMEOUT);
	while ((head = jf_calls_next())) {
		head->func(head);
		cond_resched();
	}
}

struct jf_barrier {
	struct jf_quiesce_head	head;
	struct completion	done;
};

static void jf_barrier_done(struct jf_quiesce_head *head)
{
	complete(&container_of(head, struct jf_barrier, head)->done);
}

void jf_quiesce_barrier(void)
{
	struct jf_barrier b;

	might_sleep();
	init_completion(&b.done);
	jf_call_quiesced(&b.head, jf_barrier_done);
	jf_wait_for(&b.done);
}
EXPORT_SYMBOL_GPL(jf_quiesce_barrier);

/* True for a callback of @mod, or one for memory of @mod. */
static bool jf_call_is_of(unsigned long func, unsigned long head,
			  struct module *mod)
{
	return within_module(func, mod) || within_module(head, mod);
}

static bool jf_calls_of(const struct list_head *calls, struct module *mod)
{
	struct jf_quiesce_head *head;

	list_for_each_entry(head, calls, list)
		if (jf_call_is_of((unsigned long)head->func, (unsigned long)head,
				  mod))
			return true;
	return false;
}

static bool jf_calls_into(struct module *mod)
{
	bool found;

	raw_spin_lock_irq(&jf_calls_lock);
	found = jf_calls_of(&jf_calls, mod) ||
		jf_calls_of(&jf_calls_waiting, mod) ||
		(jf_call_running && jf_call_is_of(jf_call_running,
						  jf_call_running_head, mod));
	raw_spin_unlock_irq(&jf_calls_lock);
	return found;
}

/* The barrier has no limit. Most callbacks are called within some milliseconds. */
static bool jf_calls_soon(struct module *mod, long timeout)
{
	unsigned long begun = jiffies;
	unsigned int pause = 1;

	while (jf_calls_into(mod)) {
		if (jiffies - begun >= timeout)
			return false;
		jf_nap(pause);
		pause = min(2 * pause, 100U);
	}
	return true;
}

/*
 * One may have asked for the next. The log says so only if it has: a wait for the first one
 * is a quiesce, which names the task that it waits for.
 */
bool jf_calls_drain(struct module *mod, long timeout)
{
	unsigned long told = jiffies;
	unsigned int asked;

	if (timeout != MAX_SCHEDULE_TIMEOUT)
		return jf_calls_soon(mod, timeout);
	for (asked = 0; jf_calls_into(mod); asked++) {
		if (asked && jf_tell_again(&told))
			pr_warn("%s: waiting for its callbacks, which have asked for others %u times\n",
				mod->name, asked);
		jf_quiesce_barrier();
	}
	return true;
}
