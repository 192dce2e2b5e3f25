/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the storms: a thread on each CPU that calls all the time,
 * and a timer on each CPU that calls from hard interrupts.
 */
#ifndef CALLERS_H
#define CALLERS_H

#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "test_compat.h"

/**
 * struct callers - all callers of a module
 * @name:   the name of the threads, before a slash and the CPU
 * @thread: their function, with the CPU as argument, until kthread_should_stop()
 * @tick:   function of the timers; it ends with callers_again(). NULL: no timers
 * @us:     their period; 0: no timers
 * @tasks:  the threads; NULL when not running
 */
struct callers {
	const char *name;
	int (*thread)(void *cpu);
	enum hrtimer_restart (*tick)(struct hrtimer *t);
	unsigned int us;
	struct task_struct **tasks;
};

static DEFINE_PER_CPU(struct hrtimer, callers_timers);
static struct cpumask callers_ticking;

static void callers_start_timer(void *data)
{
	const struct callers *c = data;

	test_timer_start(this_cpu_ptr(&callers_timers), c->tick, c->us);
}

static inline enum hrtimer_restart callers_again(const struct callers *c, struct hrtimer *t)
{
	hrtimer_forward_now(t, ns_to_ktime(c->us * 1000ULL));
	return HRTIMER_RESTART;
}

/* No thread or timer calls any more when it returns. */
static void callers_stop(struct callers *c)
{
	int cpu;

	if (!c->tasks)
		return;
	for_each_possible_cpu(cpu) {
		if (cpumask_test_cpu(cpu, &callers_ticking))
			hrtimer_cancel(per_cpu_ptr(&callers_timers, cpu));
		if (c->tasks[cpu])
			kthread_stop(c->tasks[cpu]);
	}
	cpumask_clear(&callers_ticking);
	kfree(c->tasks);
	c->tasks = NULL;
}

/* On all CPUs or, with an error, on none. May sleep. */
static int callers_start(struct callers *c)
{
	int cpu, err = 0;

	c->tasks = kcalloc(nr_cpu_ids, sizeof(*c->tasks), GFP_KERNEL);
	if (!c->tasks)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct task_struct *p;

		p = kthread_create_on_node(c->thread, (void *)(long)cpu, cpu_to_node(cpu), "%s/%d", c->name, cpu);
		if (IS_ERR(p)) {
			err = PTR_ERR(p);
			break;
		}
		kthread_bind(p, cpu);
		/* The updater and the shell want a share of the CPU, too. */
		set_user_nice(p, 10);
		c->tasks[cpu] = p;
		wake_up_process(p);
		if (c->tick && c->us) {
			smp_call_function_single(cpu, callers_start_timer, c, 1);
			cpumask_set_cpu(cpu, &callers_ticking);
		}
	}
	cpus_read_unlock();
	if (err)
		callers_stop(c);
	return err;
}

#endif /* CALLERS_H */
