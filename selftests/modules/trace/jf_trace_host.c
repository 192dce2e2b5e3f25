// SPDX-License-Identifier: GPL-2.0
/*
 * Hits a tracepoint from a thread and a timer on every CPU while it is loaded,
 * so that others' probes can change under load.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "jf_trace_host.h"
#include "../callers.h"

DEFINE_JF_TRACE(th2);
EXPORT_JF_TRACE_GPL(th2);

static struct callers callers;

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
	return callers_again(&callers, t);
}

static int __init host_init(void)
{
	callers = (struct callers){ "jf_trace_host", hit_thread, hit_tick, 300 };
	return callers_start(&callers);
}

static void __exit host_exit(void)
{
	callers_stop(&callers);
}

module_init(host_init);
module_exit(host_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Hits a tracepoint from threads and timers on all CPUs");
