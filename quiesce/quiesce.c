// SPDX-License-Identifier: GPL-2.0
/*
 * Quiescence: wait until no task and no CPU is in text that was replaced.
 *
 * None of the kernel's grace periods means that. Tasks RCU waits for voluntary
 * context switches: it does not wait for a target that sleeps; on PREEMPT_RT it
 * takes a contended spinlock for such a sleep; and any kernel thread that never
 * sleeps delays it for ever. So this file scans stacks: with all CPUs stopped, it
 * searches the stack of each task for addresses of the text (x86/stack.c).
 *
 * What can be inside, and how a scan finds it:
 *
 *   a task that runs in the text, was preempted	stopping the CPUs switches it
 *   there, or sleeps or waits for a lock in what	out; its stack leads there
 *   the text called
 *   an interrupt, a softirq, an NMI; the idle task;	over, before its CPU stops
 *   a section with preemption off; the INT3 handler
 *   a task that was interrupted after it had loaded	it is in a register that
 *   the text's address, before it ran any of it	was saved on its stack
 *   a task in the iterator, which has read the		the iterator counts as text
 *   address of an array that was replaced		that was replaced
 *   a task in a replaced image, on its way to the	so does the image
 *   next probe
 *   a task that exits and is on no list any more	quiesce/exits.c
 *   a task in code that only a branch led to	quiesce/scan.c finds that code
 *
 * A task that was seen outside once, after the text was replaced, stays
 * outside, because nothing leads in any more. So the list of tasks to scan
 * is made once and only gets shorter, and a storm of new calls does not delay
 * the wait. A new task has a stack of its own, and begins outside. One stop of
 * the CPUs gathers the list; each later stop scans a part of it.
 *
 * A scan finds code, not data. A target can leave, by a jump as its last act, to a
 * function elsewhere that still uses what belongs to the target. So a task that
 * runs, is preempted or waits for a lock on RT is held to be inside, too, as long
 * as it is about to return to a call that has been changed. Tasks RCU could not
 * say that: a task that slept in the target once, before the jump, counts as quiet.
 *
 * (This holds for ten seconds. A task that has not returned by then is probably
 * in a function to which the new target has jumped, not in a callee of the old
 * one. The log says so.)
 *
 * Two cases are left. A function outside that *sleeps* after such a jump cannot
 * be told from an unrelated one; Tasks RCU would not wait for it either; see
 * jf_quiesce() in jumpfunc/batch.h. And a caller that itself jumped to the
 * trampoline is on no stack, so it is not seen when the target jumps as well.
 * Nothing is promised of these. A grace period of Tasks RCU covers some of them,
 * and is waited for, but for no longer than a second. Only where no stack can be
 * read, and for tasks at their end that found no room in the lists of quiesce/exits.c,
 * is it waited for as long as it takes.
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

#include "arch/stack.h"
#include "quiesce/exits.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"
#include "index/index.h"
#include "quiesce/scan.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/workqueue.h>

/* Tasks that one stop of the CPUs scans at most. */
#define JF_SCAN_TASKS	128
/*
 * Pauses between two rounds of scans, in ms. They are short at first, when it is a
 * matter of chance which tasks a round finds outside. A task that is still inside
 * after JF_ROUNDS, or has not even run, will probably stay.
 */
#define JF_PAUSE_MIN	1
#define JF_PAUSE_SOON	32
#define JF_PAUSE_LATE	1000
#define JF_ROUNDS	64
/*
 * For so long a changed call counts. A task that has not returned to it by then is
 * in the new target, and stays there.
 */
#define JF_CALLS	(10 * HZ)
/* And until memory is asked for again. */
#define JF_PAUSE_MEM	100
/* How long Tasks RCU may take before we go on without it. */
#define JF_PATIENCE	HZ
/* How often the log names a task that is waited for. */
#define JF_TELL		(10 * HZ)

struct workqueue_struct *jf_wq;

/* --- Tasks RCU, with a limit ---------------------------------------------- */

/*
 * Its callback is a function of the kernel. So this module can be unloaded although
 * a grace period does not end; only this struct is leaked then.
 */
struct jf_gp {
	struct list_head	list;
	struct rcu_synchronize	rs;
	unsigned long		begun;
};

static DEFINE_MUTEX(jf_gps_mutex);
/* Grace periods that no task waits for any more, the oldest first. */
static LIST_HEAD(jf_gps);

static struct jf_gp *jf_gp_begin(void)
{
	struct jf_gp *gp = kmalloc(sizeof(*gp), GFP_KERNEL);

	if (!gp)
		return NULL;
	gp->begun = jiffies;
	jf_rcu_sync_init(&gp->rs);
	call_rcu_tasks(&gp->rs.head, wakeme_after_rcu);
	return gp;
}

/* Free what has ended since. Is one of them overdue? */
static bool jf_gps_overdue(void)
{
	struct jf_gp *gp, *tmp;
	bool overdue = false;

	mutex_lock(&jf_gps_mutex);
	list_for_each_entry_safe(gp, tmp, &jf_gps, list) {
		if (completion_done(&gp->rs.completion)) {
			list_del(&gp->list);
			kfree(gp);
		} else if (time_after(jiffies, gp->begun + JF_PATIENCE)) {
			overdue = true;
		}
	}
	mutex_unlock(&jf_gps_mutex);
	return overdue;
}

/* True: it has ended. Otherwise it goes to jf_gps. The log tells of a long wait. */
static bool jf_gp_wait(const char *name, struct jf_gp *gp, long timeout)
{
	long part;

	if (!gp)
		return false;
	do {
		part = min_t(long, timeout, JF_TELL);
		if (wait_for_completion_timeout(&gp->rs.completion, part)) {
			kfree(gp);
			return true;
		}
		if (part == JF_TELL)
			pr_warn("%s: waiting for a grace period of Tasks RCU, since %u s\n",
				name, jiffies_to_msecs(jiffies - gp->begun) / 1000);
		if (timeout != MAX_SCHEDULE_TIMEOUT)
			timeout -= part;
	} while (timeout);
	mutex_lock(&jf_gps_mutex);
	list_add_tail(&gp->list, &jf_gps);
	mutex_unlock(&jf_gps_mutex);
	return false;
}

/* --- scanning -------------------------------------------------------------- */

/* A task that has not been seen outside. */
struct jf_suspect {
	struct task_struct	*task;
	enum jf_seen		seen;
	unsigned long		where;
	/* How often it had lost its CPU by then. */
	unsigned long		switches;
	/* By which ways it came there, if there are others than changed ones. */
	unsigned int		num_ways;
	struct jf_way		way[JF_WAYS];
};

/**
 * struct jf_wait - a wait for quiet
 * @name:    of the waiter, for the log
 * @text:    what is searched for: it was replaced, or is about to be freed
 * @data:    what it uses may be freed, too
 * @keys:    and what keys led to that had changed by this replacement
 * @scan:    all of that, as the architecture wants it
 * @made:    the latest change that @scan knows of
 * @calls_over: changed calls have counted for long enough
 * @suspect: the tasks that have to be scanned
 * @num:     how many these are
 * @max:     for how many there is room
 * @from:    while the CPUs stand still: the first one to scan
 * @to:      and the one after the last
 * @ns:      how long the CPUs stood still
 * @begun:   jiffies, when this began
 * @told:    jiffies, when the log was told the last time
 * @timeout: jiffies
 * @caller:  the task that waits: its own stack does not count
 */
struct jf_wait {
	const char		*name;
	struct jf_spans		text;
	bool			data, calls_over;
	u64			keys;
	struct jf_scan		scan;
	u64			made;
	struct jf_suspect	*suspect;
	unsigned int		num, max, from, to;
	u64			ns;
	unsigned long		begun, told;
	long			timeout;
	struct task_struct	*caller;
};

static void jf_suspect_add(struct jf_wait *w, struct task_struct *t)
{
	if (t == w->caller)
		return;
	if (w->num < w->max)
		w->suspect[w->num].task = get_task_struct(t);
	w->num++;
}

static void jf_suspect_exiting(struct task_struct *t, void *w)
{
	jf_suspect_add(w, t);
}

/* All tasks there are. CPUs are stopped, so no task can be forked meanwhile. */
static int jf_gather_stopped(void *arg)
{
	struct task_struct *p, *t;
	struct jf_wait *w = arg;
	u64 start = ktime_get_ns();

	rcu_read_lock();
	for_each_process_thread(p, t)
		jf_suspect_add(w, t);
	rcu_read_unlock();
	jf_exits_each_stopped(jf_suspect_exiting, w);
	w->ns = ktime_get_ns() - start;
	return 0;
}

/*
 * One that is not asleep of its own accord: a call that was changed counts for it,
 * and it is unwound in any case. See the top.
 */
static bool jf_is_strict(struct task_struct *t)
{
	return (READ_ONCE(t->on_rq) && !jf_sched_delayed(t)) ||
	       jf_waits_for_rtlock(t);
}

static unsigned long jf_switches(struct task_struct *t)
{
	return READ_ONCE(t->nvcsw) + READ_ONCE(t->nivcsw);
}

static int jf_scan_stopped(void *arg)
{
	struct jf_wait *w = arg;
	u64 start = ktime_get_ns();
	unsigned int i;

	for (i = w->from; i < w->to; i++) {
		struct jf_suspect *s = &w->suspect[i];

		bool strict = jf_is_strict(s->task);

		s->seen = jf_arch_scan(s->task, &w->scan, strict,
				       strict && !w->calls_over);
		s->where = w->scan.where;
		s->switches = jf_switches(s->task);
		s->num_ways = w->scan.num_ways;
		memcpy(s->way, w->scan.way, sizeof(s->way));
	}
	w->ns = ktime_get_ns() - start;
	return 0;
}

static void jf_scan_account(const struct jf_wait *w, unsigned int tasks)
{
	mutex_lock(&jf_mutex);
	jf_stats.scans++;
	jf_stats.scan_tasks += tasks;
	jf_stats.scan_ns_last = w->ns;
	if (w->ns > jf_stats.scan_ns_max)
		jf_stats.scan_ns_max = w->ns;
	mutex_unlock(&jf_mutex);
}

static void jf_put_suspects(struct jf_wait *w, unsigned int num)
{
	while (num--)
		put_task_struct(w->suspect[num].task);
}

/* About as many as there will be. */
static unsigned int jf_count_tasks(void)
{
	struct task_struct *p, *t;
	unsigned int n = 64;

	rcu_read_lock();
	for_each_process_thread(p, t)
		n++;
	rcu_read_unlock();
	return n + n / 8;
}

static int jf_gather(struct jf_wait *w)
{
	unsigned int max = jf_count_tasks();

	for (;;) {
		w->suspect = kvmalloc_array(max, sizeof(*w->suspect),
					    GFP_KERNEL);
		if (!w->suspect)
			return -ENOMEM;
		w->max = max;
		w->num = 0;
		stop_machine(jf_gather_stopped, w, NULL);
		jf_scan_account(w, 0);
		if (w->num <= max)
			return 0;
		/* There may be more of them when the CPUs stop again. */
		jf_put_suspects(w, max);
		kvfree(w->suspect);
		w->suspect = NULL;
		max = w->num + w->num / 4;
	}
}

/* Was the task outside when it was scanned? */
static bool jf_was_outside(struct jf_wait *w, const struct jf_suspect *s)
{
	unsigned int i;

	if (s->seen != JF_SEEN_SHARED)
		return s->seen == JF_SEEN_CLEAN;
	for (i = 0; i < s->num_ways; i++)
		if (!jf_scan_is_other(&w->scan, &s->way[i]))
			return false;
	return true;
}

/* Scan all suspects, a part at a time, and drop those seen outside. */
static void jf_scan_round(struct jf_wait *w)
{
	unsigned int i, kept = 0;

	for (w->from = 0; w->from < w->num; w->from = w->to) {
		w->to = min(w->num, w->from + JF_SCAN_TASKS);
		stop_machine(jf_scan_stopped, w, NULL);
		jf_scan_account(w, w->to - w->from);
		for (i = w->from; i < w->to; i++) {
			if (jf_was_outside(w, &w->suspect[i]))
				put_task_struct(w->suspect[i].task);
			else
				w->suspect[kept++] = w->suspect[i];
		}
		cond_resched();
	}
	w->num = kept;
}

/*
 * Has one of them executed anything since it was scanned? It runs, or it has run,
 * and has lost its CPU once more. So a task that sleeps for an hour does not make all
 * CPUs stop once a second.
 */
static bool jf_any_moved(const struct jf_wait *w)
{
	unsigned int i;

	for (i = 0; i < w->num; i++) {
		struct task_struct *t = w->suspect[i].task;

		if (jf_task_runs(t) ||
		    jf_switches(t) != w->suspect[i].switches)
			return true;
	}
	return false;
}

static void jf_tell(struct jf_wait *w)
{
	const struct jf_suspect *s = &w->suspect[0];
	unsigned int seconds = jiffies_to_msecs(jiffies - w->begun) / 1000;

	if (time_before(jiffies, w->told + JF_TELL))
		return;
	w->told = jiffies;
	if (s->where)
		pr_warn("%s: waiting for %s:%d, inside %pS since %u s (and %u more)\n",
			w->name, s->task->comm, task_pid_nr(s->task),
			(void *)s->where, seconds, w->num - 1);
	else
		pr_warn("%s: waiting for %s:%d, whose stack cannot be read, since %u s (and %u more)\n",
			w->name, s->task->comm, task_pid_nr(s->task), seconds,
			w->num - 1);
}

static long jf_time_left(const struct jf_wait *w)
{
	unsigned long elapsed = jiffies - w->begun;

	if (w->timeout == MAX_SCHEDULE_TIMEOUT)
		return w->timeout;
	return elapsed < w->timeout ? w->timeout - elapsed : 0;
}

/* How many are only about to return to a call that was changed? */
static unsigned int jf_num_in_calls(const struct jf_wait *w)
{
	unsigned int i, n = 0;

	for (i = 0; i < w->num; i++)
		n += w->suspect[i].where &&
		     !jf_spans_has(&w->scan.in, w->suspect[i].where);
	return n;
}

/* True once: then all have to be scanned anew, since calls count no more. */
static bool jf_calls_expire(struct jf_wait *w)
{
	unsigned int n;

	if (w->calls_over || !time_after(jiffies, w->begun + JF_CALLS) ||
	    (!w->scan.calls.num && !w->scan.tramps.num))
		return false;
	w->calls_over = true;
	n = jf_num_in_calls(w);
	if (n)
		pr_warn("%s: %u task(s) have not returned to a call that was changed for %u s, and are waited for no longer\n",
			w->name, n, JF_CALLS / HZ);
	return true;
}

/*
 * Values may change while this waits: a key may lead again to code that it had led to,
 * and a call to an earlier target. Tasks that enter such code by then are not meant, and
 * might be found there for ever. So make the scan anew. Without memory the old one
 * serves, which finds more. True if it is another one.
 */
static bool jf_wait_renew(struct jf_wait *w)
{
	struct jf_scan scan;
	u64 seq;

	if (!w->data)
		return false;
	mutex_lock(&jf_mutex);
	seq = jf_retired_seq();
	mutex_unlock(&jf_mutex);
	if (seq == w->made || jf_scan_make(&scan, &w->text, w->keys, &seq))
		return false;
	jf_scan_free(&w->scan);
	w->scan = scan;
	w->made = seq;
	return true;
}

static int jf_scan_until_quiet(struct jf_wait *w)
{
	unsigned int pause = JF_PAUSE_MIN, rounds = 0;
	int err;

	while ((err = jf_gather(w)) == -ENOMEM &&
	       w->timeout == MAX_SCHEDULE_TIMEOUT)
		msleep(JF_PAUSE_MEM);
	if (err)
		return err;
	for (;;) {
		jf_calls_expire(w);
		if (rounds)
			jf_wait_renew(w);
		jf_scan_round(w);
		if (!w->num)
			break;
		if (!jf_time_left(w)) {
			err = -ETIMEDOUT;
			break;
		}
		do {
			msleep(min_t(unsigned int, pause,
				     jiffies_to_msecs(min(jf_time_left(w),
							  (long)HZ))));
			jf_tell(w);
			pause = min_t(unsigned int, 2 * pause, JF_PAUSE_LATE);
		} while (!jf_any_moved(w) && jf_time_left(w) &&
			 !jf_calls_expire(w) && !jf_wait_renew(w));
		if (++rounds < JF_ROUNDS)
			pause = min_t(unsigned int, pause, JF_PAUSE_SOON);
	}
	jf_put_suspects(w, w->num);
	kvfree(w->suspect);
	jf_exits_trim();
	return err;
}

/* --- waiting --------------------------------------------------------------- */

/* Can a scan miss a task? */
static bool jf_is_blind(void)
{
	return !jf_arch_can_scan() || jf_exits_any_lost();
}

/*
 * For tasks that a scan can miss, and for the data of what was replaced. 0, -ENOMEM or
 * -ETIMEDOUT.
 */
static int jf_wait_data(struct jf_wait *w)
{
	unsigned int lost = jf_exits_num_lost();
	bool overdue = jf_gps_overdue();
	bool blind = jf_is_blind();
	long patience = JF_PATIENCE, time;
	struct jf_gp *gp = NULL;

	/* Then only Tasks RCU covers the task. */
	if (blind)
		patience = MAX_SCHEDULE_TIMEOUT;
	else if (overdue)
		patience = 0;	/* while one does not end, nor does the next */
	time = min(patience, jf_time_left(w));
	if (time) {
		gp = jf_gp_begin();
		if (!gp && blind)
			return -ENOMEM;
	}

	if (jf_gp_wait(w->name, gp, time))
		jf_exits_found(lost);
	else if (blind)
		return -ETIMEDOUT;
	return 0;
}

/*
 * Where no stack can be scanned. This does not wait for a task that sleeps in its
 * target, and waits without end for a thread that never sleeps.
 */
static int jf_wait_blind(void)
{
	synchronize_rcu_tasks_rude();
	synchronize_rcu();
	return 0;
}

static int jf_wait_make(struct jf_wait *w)
{
	jf_scan_free(&w->scan);
	if (w->data)
		return jf_scan_make(&w->scan, &w->text, w->keys, &w->made);
	return jf_spans_copy(&w->scan.in, &w->text);
}

/* Until there is memory, if there is time. */
static int jf_wait_until(struct jf_wait *w, int (*fn)(struct jf_wait *w))
{
	int err;

	while ((err = fn(w)) == -ENOMEM && w->timeout == MAX_SCHEDULE_TIMEOUT)
		msleep(JF_PAUSE_MEM);
	return err;
}

static int jf_wait_quiet(struct jf_wait *w)
{
	int err = 0;

	w->begun = jiffies;
	w->told = jiffies;
	w->caller = current;
	if (w->data || jf_is_blind())
		err = jf_wait_until(w, jf_wait_data);
	if (!err && !jf_arch_can_scan()) {
		err = jf_wait_blind();
	} else if (!err) {
		err = jf_wait_until(w, jf_wait_make);
		if (!err && (w->scan.in.num || w->scan.calls.num ||
			     w->scan.tramps.num))
			err = jf_scan_until_quiet(w);
	}
	jf_scan_free(&w->scan);
	return err;
}

int jf_quiesce_spans(const char *name, struct jf_spans *spans, long timeout)
{
	struct jf_wait w = {
		.name = name,
		.text = *spans,
		.timeout = timeout,
	};

	return jf_wait_quiet(&w);
}

static int jf_quiesce_all(long timeout)
{
	struct jf_wait w = {
		.name = "quiesce",
		.data = true,
		.timeout = timeout,
	};
	int err;

	while ((err = jf_spans_add_retired(&w.text, false,
					   &w.keys)) == -ENOMEM &&
	       timeout == MAX_SCHEDULE_TIMEOUT) {
		jf_spans_free(&w.text);
		msleep(JF_PAUSE_MEM);
	}
	if (!err)
		err = jf_wait_quiet(&w);
	jf_spans_free(&w.text);
	if (!err)
		jf_retired_forget_all(w.keys, false);
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

/* --- callbacks ------------------------------------------------------------- */

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
	wait_for_completion(&b.done);
}
EXPORT_SYMBOL_GPL(jf_quiesce_barrier);

/* Is it a callback of @mod, or one for memory of @mod? */
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

/* --- a module is unloaded -------------------------------------------------- */

static int jf_spans_add_module(struct jf_spans *s, struct module *mod, u64 *seq)
{
	unsigned long start, end;
	unsigned int i;
	int err;

	/* A task in such code may be about to call into the module. */
	err = jf_spans_add_retired(s, true, seq);
	for (i = 0; !err && jf_module_text(mod, i, &start, &end); i++)
		err = jf_spans_add(s, start, end);
	return err;
}

/* Until its callbacks have been called; one may have asked for the next. */
static void jf_calls_drain(struct module *mod)
{
	unsigned long told = jiffies;

	while (jf_calls_into(mod)) {
		jf_quiesce_barrier();
		if (time_after(jiffies, told + JF_TELL)) {
			told = jiffies;
			pr_warn("%s: its callbacks ask for ever more callbacks\n",
				mod->name);
		}
	}
}

void jf_quiesce_module(struct module *mod, bool target)
{
	struct jf_wait w = {
		.name = mod->name,
		.data = true,
		.timeout = MAX_SCHEDULE_TIMEOUT,
	};
	u64 seq;

	jf_calls_drain(mod);
	if (!target)
		return;
	while (jf_spans_add_module(&w.text, mod, &seq)) {
		jf_spans_free(&w.text);
		msleep(JF_PAUSE_MEM);
	}
	jf_wait_quiet(&w);
	jf_spans_free(&w.text);
	/* A task that has just left may have asked for one. */
	jf_calls_drain(mod);
	jf_retired_forget_all(seq, true);
}

/* --- init and exit --------------------------------------------------------- */

int jf_quiesce_init(void)
{
	int err;

	jf_wq = alloc_workqueue("jumpfunc", WQ_UNBOUND, 0);
	if (!jf_wq)
		return -ENOMEM;
	err = jf_exits_init(jf_wq);
	if (err)
		destroy_workqueue(jf_wq);
	return err;
}

/* All modules that use this one are unloaded, and their text has been waited for. */
void jf_quiesce_exit(void)
{
	jf_exits_exit();
	destroy_workqueue(jf_wq);
	jf_gps_overdue();
	jf_function_forget(NULL);
}
