// SPDX-License-Identifier: GPL-2.0
/*
 * Quiescence: wait until no task and no CPU is in text that was replaced.
 *
 * None of the kernel's grace periods means that. Tasks RCU waits for voluntary
 * context switches: it does not wait for a target that sleeps; on PREEMPT_RT it
 * takes a contended spinlock for such a sleep; and any kernel thread that never
 * sleeps delays it for ever. So this file scans stacks: with all CPUs stopped, it
 * searches the stack of each task for addresses of the text (kernel/arch/x86/stack.c).
 *
 * Tasks that can be inside, and how a scan finds them:
 *
 *   a task that runs in the text, was preempted	stopping the CPUs switches it
 *   there, or sleeps or waits for a lock in what	out; its stack leads there
 *   the text called
 *   an interrupt, a softirq, an NMI; the idle task;	over, before its CPU stops
 *   a section with preemption off; the INT3 handler
 *   a task that was interrupted after a trampoline	it is in a register that
 *   loaded the text's address, before it ran it	was saved on its stack
 *   a task in the iterator, which has read the		the iterator counts as text
 *   address of an array that was replaced		that was replaced
 *   a task in a replaced image, on its way to the	so does the image
 *   next probe
 *   a task that exits and is on no list any more	kernel/quiesce/exits.c
 *
 * A task that was seen outside once, after the text was replaced, stays
 * outside, because nothing leads in any more. So the list of tasks to scan
 * is made once and only gets shorter, and a storm of new calls does not delay
 * the wait. A new task has a stack of its own, and begins outside. One stop of
 * the CPUs gathers the list; each later stop scans a part of it. A function that becomes a target
 * again while this waits is in use, and is searched for no more.
 *
 * A scan finds code, not data. A target can leave, by a jump as its last act, to a
 * function elsewhere that still uses data of the target: such data needs a contract
 * (jumpfunc/contract.h). Code that a branch leads to is found by no scan either; it is a read
 * section of RCU, and each quiesce includes a grace period.
 *
 * Tasks RCU is waited for, for as long as it takes, only where no stack can be
 * read, and for tasks at their end that found no room in the lists of kernel/quiesce/exits.c.
 *
 *   updater (under jf_mutex)			  quiesce
 *   1. text is patched, values are stored
 *   2. jf_retire_done(): record, ++jf_seq	  a. reads records (jf_mutex)
 *						  b. stop_machine(), scan
 *
 * A quiesce that finds the record began after 1; so no CPU finds the old way when
 * it goes on after b. That stop_machine() makes each CPU execute and acknowledge
 * in a thread of its own is the barrier that both sides need.
 */
#include "quiesce/quiesce.h"

#include <jumpfunc/batch.h>

#include "index/state.h"
#include "quiesce/exits.h"
#include "quiesce/function.h"
#include "quiesce/grace.h"
#include "quiesce/retired.h"
#include "quiesce/scan.h"
#include "quiesce/wait.h"

#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

struct workqueue_struct *jf_wq;

/* --- waiting --------------------------------------------------------------- */

/* True if a scan can miss a task. */
static bool jf_is_blind(void)
{
	return !jf_arch_can_scan() || jf_exits_any_lost();
}

/* For tasks that a scan can miss: only Tasks RCU covers them. 0, -ENOMEM or -ETIMEDOUT. */
static int jf_wait_blind(struct jf_wait *w)
{
	unsigned int lost = jf_exits_num_lost();
	struct jf_gp *gp;

	jf_gps_trim();
	if (!jf_time_left(w))
		return -ETIMEDOUT;
	gp = jf_gp_begin();
	if (!gp)
		return -ENOMEM;
	if (!jf_gp_wait(w->name, gp, jf_time_left(w)))
		return -ETIMEDOUT;
	jf_exits_found(lost);
	return 0;
}

/*
 * Where no stack can be scanned. This does not wait for a task that sleeps in its
 * target, and waits without end for a thread that never sleeps.
 */
static int jf_wait_unread(void)
{
	synchronize_rcu_tasks_rude();
	synchronize_rcu();
	return 0;
}

static int jf_wait_make(struct jf_wait *w)
{
	return jf_scan_make(&w->scan, &w->text, w->seq, &w->made);
}

/* Until there is memory, if there is time. */
static int jf_wait_until(struct jf_wait *w, int (*fn)(struct jf_wait *w))
{
	int err;

	while ((err = fn(w)) == -ENOMEM && w->timeout == MAX_SCHEDULE_TIMEOUT) {
		jf_tell_held_up(w, err);
		jf_nap(JF_PAUSE_MEM);
	}
	return err;
}

int jf_wait_quiet(struct jf_wait *w)
{
	int err = 0;

	jf_assert_may_wait();
	w->begun = jiffies;
	w->told = jiffies;
	w->caller = current;
	if (jf_is_blind())
		err = jf_wait_until(w, jf_wait_blind);
	if (!err && !jf_arch_can_scan()) {
		err = jf_wait_unread();
	} else if (!err) {
		err = jf_wait_until(w, jf_wait_make);
		if (!err && w->scan.in.num)
			err = jf_scan_until_quiet(w);
	}
	jf_scan_free(&w->scan);
	return err;
}

int jf_quiesce_spans(const char *name, const struct jf_spans *spans, long timeout,
		     struct jf_stay *stay)
{
	struct jf_wait w = {
		.name = name,
		.text = *spans,
		.timeout = timeout,
		.stay = stay,
	};

	return jf_wait_quiet(&w);
}

/* It cannot begin. True if it can a little later. */
static bool jf_wait_begin_again(struct jf_wait *w, int err)
{
	if (err != -EBUSY && (err != -ENOMEM ||
			      w->timeout != MAX_SCHEDULE_TIMEOUT))
		return false;
	if (!jf_time_left(w))
		return false;
	jf_spans_free(&w->text);
	jf_tell_held_up(w, err);
	jf_nap(JF_PAUSE_MEM);
	return true;
}

int jf_quiesce_all(long timeout)
{
	struct jf_wait w = {
		.name = "quiesce",
		.timeout = timeout,
	};
	int err;

	/* For code that branches lead to, and calls with the contract JF_RCU. */
	synchronize_rcu();
	w.begun = jiffies;
	w.told = jiffies;
	do {
		err = jf_spans_add_retired(&w.text, NULL, &w.seq);
	} while (err && jf_wait_begin_again(&w, err));
	if (err == -EBUSY)
		err = -ETIMEDOUT;
	w.timeout = jf_time_left(&w);
	if (!err)
		err = jf_wait_quiet(&w);
	jf_spans_free(&w.text);
	/* A caller that is inside itself is one that all others wait for: the records stay. */
	if (!err)
		jf_retired_forget_all(w.inside ? 0 : w.seq);
	return err;
}

void jf_quiesce(void)
{
	might_sleep();
	jf_quiesce_all(MAX_SCHEDULE_TIMEOUT);
}
EXPORT_SYMBOL_GPL(jf_quiesce);

int jf_quiesce_timeout(unsigned long timeout)
{
	int err = jf_check_context();

	return err ?: jf_quiesce_all(min_t(unsigned long, timeout,
					   MAX_SCHEDULE_TIMEOUT - 1));
}
EXPORT_SYMBOL_GPL(jf_quiesce_timeout);

/* --- init and exit --------------------------------------------------------- */

/* Once at load: a user meets neither limit before it is too late. */
static void jf_tell_limits(void)
{
	const char *option = jf_arch_unwind_lacks();

	if (!jf_arch_can_scan())
		pr_warn("stacks cannot be read on this architecture: no wait covers a task that sleeps in a target or probe, which has to protect itself\n");
	else if (option)
		pr_warn("this kernel has no %s: jf_quiesce() and unloads can wait without end for a task that sleeps; use a kernel with that option\n",
			option);
}

int jf_quiesce_init(void)
{
	int err;

	jf_wq = alloc_workqueue("jumpfunc", WQ_UNBOUND, 0);
	if (!jf_wq)
		return -ENOMEM;
	err = jf_exits_init(jf_wq);
	if (err)
		destroy_workqueue(jf_wq);
	else
		jf_tell_limits();
	return err;
}

/* All modules that use this one are unloaded, and their text has been waited for. */
void jf_quiesce_exit(void)
{
	jf_exits_exit();
	destroy_workqueue(jf_wq);
	jf_gps_trim();
	jf_function_forget(NULL);
}
