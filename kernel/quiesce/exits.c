// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that exit.
 *
 * A task that no parent waits for leaves the list of tasks before it is done: it runs
 * the last part of its exit unseen, and can be preempted there, say in a function
 * that is traced. So each one is noted when it begins to exit, and dropped when
 * its stack has been freed. One that was past that point when this module was loaded
 * is not seen.
 *
 * A task that is kept here keeps its other objects: credentials, user name space,
 * cgroup. These count, by limits that any user may run into. So as long as one is
 * kept, work checks again, as soon as the kernel itself could have freed it. The
 * next tasks that exit on the CPU check, too, or a storm of exits might fill the
 * list before the work gets a CPU.
 *
 *   probe				work
 *   puts a task on a list		(the work queue clears "pending")
 *   queue_delayed_work()		reads each list
 *
 * queue_delayed_work() orders: if it finds the work pending, the work that runs next
 * finds the task.
 */
#include "quiesce/exits.h"

#include "arch/stack.h"
#include "index/state.h"

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

/* Room for so many on each CPU, at first: the work makes more when half is taken. */
#define JF_EXITS	500
/* How many are dropped at a time. */
#define JF_EXITS_DROP	16
/* After how many exits that is done: fewer, or the list would stay long. */
#define JF_EXITS_SWEEP	8
/*
 * Jiffies until the work checks. Each time in vain it waits twice as long: a task
 * may stay at its end for hours.
 */
#define JF_EXITS_SOON	1
#define JF_EXITS_LATE	(HZ / 10)

struct jf_exits {
	raw_spinlock_t		lock;
	unsigned int		num;
	unsigned int		max;
	unsigned int		came;
	struct task_struct	**task;
};

/* Not static: modules have little memory of that kind. */
static struct jf_exits __percpu *jf_exits;
/*
 * How many found no room, and how many of these Tasks RCU has waited for since:
 * it alone knows of them.
 */
static atomic_t jf_lost, jf_found;
static struct tracepoint *jf_exit_tp;

static void jf_exits_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(jf_exits_again, jf_exits_work);
static struct workqueue_struct *jf_exits_wq;
/* How long the work pauses. Written by the work, and by a task that calls it sooner. */
static unsigned int jf_exits_pause = JF_EXITS_SOON;

/* Take off some whose stacks are freed (@all: any); to be put without the lock. */
static unsigned int jf_exits_sweep(struct jf_exits *e, struct task_struct **old,
				   bool all)
{
	unsigned int i, kept = 0, n = 0;

	for (i = 0; i < e->num; i++) {
		if (n < JF_EXITS_DROP && (all || !jf_task_has_stack(e->task[i])))
			old[n++] = e->task[i];
		else
			e->task[kept++] = e->task[i];
	}
	/* Partner of READ_ONCE() in jf_exits_drop(). */
	WRITE_ONCE(e->num, kept);
	return n;
}

/*
 * Soon, unless the work pauses for longer just now, in vain so far: then it is told of
 * the new one. If that is missed, it checks when the pause is over.
 */
static void jf_exits_call_work(void)
{
	/* Once: or a task that exits in each jiffy would push it away for ever. */
	if (READ_ONCE(jf_exits_pause) > JF_EXITS_SOON &&
	    xchg(&jf_exits_pause, JF_EXITS_SOON) > JF_EXITS_SOON)
		mod_delayed_work(jf_exits_wq, &jf_exits_again, JF_EXITS_SOON);
	else
		queue_delayed_work(jf_exits_wq, &jf_exits_again, JF_EXITS_SOON);
}

static void jf_exit_probe(void *data, JF_EXIT_PROTO)
{
	struct task_struct *old[JF_EXITS_DROP];
	struct jf_exits *e;
	unsigned long flags;
	unsigned int n = 0;

	/* If this task migrates in between: any CPU's list will do. */
	e = raw_cpu_ptr(jf_exits);
	raw_spin_lock_irqsave(&e->lock, flags);
	/*
	 * Few at a time, and seldom: most have lost their stack already. On RT, freeing a
	 * task may sleep (some kernels avoid that themselves), which is not allowed
	 * here.
	 */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && e->came++ % JF_EXITS_SWEEP == 0)
		n = jf_exits_sweep(e, old, false);
	if (e->num < e->max) {
		e->task[e->num] = get_task_struct(t);
		WRITE_ONCE(e->num, e->num + 1);
	} else {
		atomic_inc(&jf_lost);
	}
	raw_spin_unlock_irqrestore(&e->lock, flags);
	while (n)
		put_task_struct(old[--n]);
	jf_exits_call_work();
}

/* How many were dropped; *@kept: how many are left. */
static unsigned int jf_exits_drop(bool all, unsigned int *kept)
{
	struct task_struct *old[JF_EXITS_DROP];
	unsigned int i, n, left, dropped = 0;
	int cpu;

	*kept = 0;
	for_each_possible_cpu(cpu) {
		struct jf_exits *e = per_cpu_ptr(jf_exits, cpu);

		/* A task that is added just now calls the work again. */
		if (!READ_ONCE(e->num))
			continue;
		do {
			raw_spin_lock_irq(&e->lock);
			n = jf_exits_sweep(e, old, all);
			left = e->num;
			raw_spin_unlock_irq(&e->lock);
			for (i = 0; i < n; i++)
				put_task_struct(old[i]);
			dropped += n;
		} while (n == JF_EXITS_DROP);
		*kept += left;
	}
	return dropped;
}

/*
 * A list that is half full gets twice the room, so that none of its tasks is lost:
 * many may stay at their end at the same time. Without memory it is tried again.
 */
static void jf_exits_grow(struct jf_exits *e)
{
	unsigned int max = 2 * READ_ONCE(e->max);
	struct task_struct **task;

	if (READ_ONCE(e->num) <= max / 4)
		return;
	task = kvmalloc_array(max, sizeof(*task), GFP_KERNEL | __GFP_NOWARN);
	if (!task)
		return;
	raw_spin_lock_irq(&e->lock);
	memcpy(task, e->task, e->num * sizeof(*task));
	swap(task, e->task);
	WRITE_ONCE(e->max, max);
	raw_spin_unlock_irq(&e->lock);
	kvfree(task);
}

static void jf_exits_work(struct work_struct *work)
{
	unsigned int kept, pause = jf_exits_pause;
	int cpu;

	if (jf_exits_drop(false, &kept) || !kept)
		pause = JF_EXITS_SOON;
	else
		pause = min_t(unsigned int, 2 * pause, JF_EXITS_LATE);
	for_each_possible_cpu(cpu)
		jf_exits_grow(per_cpu_ptr(jf_exits, cpu));
	/* Before the work is pending again. */
	WRITE_ONCE(jf_exits_pause, pause);
	if (kept)
		queue_delayed_work(jf_exits_wq, &jf_exits_again, pause);
}

void jf_exits_trim(void)
{
	unsigned int kept;

	jf_exits_drop(false, &kept);
}

void jf_exits_each_stopped(void (*fn)(struct task_struct *t, void *arg),
			   void *arg)
{
	unsigned int i;
	int cpu;

	/* On RT and elsewhere: the holder of the lock has interrupts off. */
	for_each_possible_cpu(cpu) {
		struct jf_exits *e = per_cpu_ptr(jf_exits, cpu);

		for (i = 0; i < e->num; i++)
			if (jf_task_has_stack(e->task[i]))
				fn(e->task[i], arg);
	}
}

unsigned int jf_exits_num_lost(void)
{
	return atomic_read(&jf_lost);
}

void jf_exits_found(unsigned int lost)
{
	int found = atomic_read(&jf_found);

	/* Another one may have waited for more of them since then. */
	while ((int)(lost - found) > 0 &&
	       !atomic_try_cmpxchg(&jf_found, &found, lost))
		;
}

bool jf_exits_any_lost(void)
{
	return atomic_read(&jf_lost) != atomic_read(&jf_found);
}

static void jf_find_exit(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		jf_exit_tp = tp;
}

static void jf_exits_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu_ptr(jf_exits, cpu)->task);
	free_percpu(jf_exits);
}

static int jf_exits_alloc(void)
{
	int cpu;

	jf_exits = alloc_percpu(struct jf_exits);
	if (!jf_exits)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct jf_exits *e = per_cpu_ptr(jf_exits, cpu);

		raw_spin_lock_init(&e->lock);
		e->max = JF_EXITS;
		e->task = kvmalloc_array(JF_EXITS, sizeof(*e->task),
					 GFP_KERNEL);
		if (!e->task) {
			jf_exits_free();
			return -ENOMEM;
		}
	}
	return 0;
}

int jf_exits_init(struct workqueue_struct *wq)
{
	int err = jf_exits_alloc();

	jf_exits_wq = wq;
	if (err || !jf_arch_can_scan())
		return err;
	for_each_kernel_tracepoint(jf_find_exit, NULL);
	if (jf_exit_tp) {
		err = tracepoint_probe_register(jf_exit_tp, jf_exit_probe,
						NULL);
	} else {
		pr_err("this kernel has no tracepoint sched_process_exit\n");
		err = -ENOENT;
	}
	if (err)
		jf_exits_free();
	return err;
}

void jf_exits_exit(void)
{
	unsigned int kept;

	if (jf_exit_tp) {
		tracepoint_probe_unregister(jf_exit_tp, jf_exit_probe, NULL);
		tracepoint_synchronize_unregister();
		cancel_delayed_work_sync(&jf_exits_again);
		jf_exits_drop(true, &kept);
	}
	jf_exits_free();
}
