// SPDX-License-Identifier: GPL-2.0
/*
 * Hits a tracepoint from a thread and a timer on every CPU while it is loaded,
 * so that others' probes can come and go under load.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "jf_trace_host.h"
#include "../test_compat.h"

DEFINE_JF_TRACE(th2);
EXPORT_JF_TRACE_GPL(th2);

#define PERIOD_NS	(300 * 1000)

static DEFINE_PER_CPU(struct hrtimer, timers);
static struct cpumask ticking;
static struct task_struct **threads;

static int hit_thread(void *arg)
{
	u64 a = 1;
	int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 64; i++, a++)
			jf_trace_th2(a, TH_ARG(a));
		cond_resched_tasks_rcu_qs();
		usleep_range(50, 100);
	}
	return 0;
}

static enum hrtimer_restart hit_tick(struct hrtimer *t)
{
	u64 a = ktime_get_ns();

	jf_trace_th2(a, TH_ARG(a));
	hrtimer_forward_now(t, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	test_timer_start(this_cpu_ptr(&timers), hit_tick, PERIOD_NS / NSEC_PER_USEC);
}

static void stop_all(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (cpumask_test_cpu(cpu, &ticking))
			hrtimer_cancel(per_cpu_ptr(&timers, cpu));
		if (threads[cpu])
			kthread_stop(threads[cpu]);
	}
	kfree(threads);
}

static int __init host_init(void)
{
	int cpu, err = 0;

	threads = kcalloc(nr_cpu_ids, sizeof(*threads), GFP_KERNEL);
	if (!threads)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct task_struct *p;

		p = kthread_create_on_node(hit_thread, NULL, cpu_to_node(cpu),
					   "jf_trace_host/%d", cpu);
		if (IS_ERR(p)) {
			err = PTR_ERR(p);
			break;
		}
		kthread_bind(p, cpu);
		set_user_nice(p, 10);
		threads[cpu] = p;
		wake_up_process(p);
		smp_call_function_single(cpu, start_timer, NULL, 1);
		cpumask_set_cpu(cpu, &ticking);
	}
	cpus_read_unlock();
	if (err)
		stop_all();
	return err;
}

static void __exit host_exit(void)
{
	stop_all();
}

module_init(host_init);
module_exit(host_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Hits a tracepoint from threads and timers on all CPUs");
