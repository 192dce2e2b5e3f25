// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that exit.
 *
 * A task that nobody waits for leaves the list of tasks before it is done: it runs
 * the last part of its exit unseen, and can be preempted there, say in a function
 * that is traced. So each one is noted when it begins to exit, and dropped when
 * its stack has gone. One that was past that point when this module was loaded is
 * not seen.
 */
#include "core/exits.h"

#include "core/arch.h"
#include "core/state.h"

#include <linux/percpu.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#define JF_EXITS	500
/* How many are dropped at a time. */
#define JF_EXITS_DROP	16
/* And each time that so many have come: less, or the list would stay long. */
#define JF_EXITS_SWEEP	8

struct jf_exits {
	raw_spinlock_t		lock;
	unsigned int		num;
	unsigned int		came;
	struct task_struct	*task[JF_EXITS];
};

/* Not static: what modules can have of that is little. */
static struct jf_exits __percpu *jf_exits;
/*
 * How many found no room, and how many of these Tasks RCU has waited for since:
 * it alone knows of them.
 */
static atomic_t jf_lost, jf_found;
static struct tracepoint *jf_exit_tp;

/* Take some off whose stack has gone (@all: any); to be put without the lock. */
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
	e->num = kept;
	return n;
}

static void jf_exit_probe(void *data, JF_EXIT_PROTO)
{
	struct task_struct *old[JF_EXITS_DROP];
	struct jf_exits *e;
	unsigned long flags;
	unsigned int n = 0;

	/* If this task goes elsewhere meanwhile: any of them will do. */
	e = raw_cpu_ptr(jf_exits);
	raw_spin_lock_irqsave(&e->lock, flags);
	/* Few at a time, and seldom: most of them have gone by then. */
	if (e->came++ % JF_EXITS_SWEEP == 0)
		n = jf_exits_sweep(e, old, false);
	if (e->num < JF_EXITS)
		e->task[e->num++] = get_task_struct(t);
	else
		atomic_inc(&jf_lost);
	raw_spin_unlock_irqrestore(&e->lock, flags);
	while (n)
		put_task_struct(old[--n]);
}

static void jf_exits_drop(bool all)
{
	struct task_struct *old[JF_EXITS_DROP];
	unsigned int n;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct jf_exits *e = per_cpu_ptr(jf_exits, cpu);

		do {
			unsigned int i;

			raw_spin_lock_irq(&e->lock);
			n = jf_exits_sweep(e, old, all);
			raw_spin_unlock_irq(&e->lock);
			for (i = 0; i < n; i++)
				put_task_struct(old[i]);
		} while (n == JF_EXITS_DROP);
	}
}

void jf_exits_trim(void)
{
	jf_exits_drop(false);
}

void jf_exits_each_stopped(void (*fn)(struct task_struct *t, void *arg),
			   void *arg)
{
	unsigned int i;
	int cpu;

	/* On RT and elsewhere: who has the lock has interrupts off. */
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
	atomic_set(&jf_found, lost);
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

int jf_exits_init(void)
{
	int cpu, err;

	jf_exits = alloc_percpu(struct jf_exits);
	if (!jf_exits)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		raw_spin_lock_init(&per_cpu_ptr(jf_exits, cpu)->lock);
	if (!jf_arch_can_look())
		return 0;
	for_each_kernel_tracepoint(jf_find_exit, NULL);
	if (jf_exit_tp) {
		err = tracepoint_probe_register(jf_exit_tp, jf_exit_probe,
						NULL);
	} else {
		pr_err("this kernel has no tracepoint sched_process_exit\n");
		err = -ENOENT;
	}
	if (err)
		free_percpu(jf_exits);
	return err;
}

void jf_exits_exit(void)
{
	if (jf_exit_tp) {
		tracepoint_probe_unregister(jf_exit_tp, jf_exit_probe, NULL);
		tracepoint_synchronize_unregister();
		jf_exits_drop(true);
	}
	free_percpu(jf_exits);
}
