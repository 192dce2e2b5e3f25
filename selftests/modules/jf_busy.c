// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel threads that are at work all the time and let others run by cond_resched()
 * alone, as threads that poll a network or a disk do.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned int threads = 4;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "how many (default 4)");

static unsigned long rounds;
module_param(rounds, ulong, 0444);
MODULE_PARM_DESC(rounds, "how many rounds they made");

#define BUSY_MAX	32
static struct task_struct *tasks[BUSY_MAX];

static int busy_thread(void *arg)
{
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++)
			cpu_relax();
		/* A number to be read by people: it need not be right. */
		data_race(rounds++);
		cond_resched();
	}
	return 0;
}

static void busy_exit(void)
{
	unsigned int i;

	for (i = 0; i < BUSY_MAX && tasks[i]; i++)
		kthread_stop(tasks[i]);
}

static int __init busy_init(void)
{
	struct task_struct *t;
	unsigned int i;

	if (threads > BUSY_MAX)
		return -EINVAL;
	for (i = 0; i < threads; i++) {
		t = kthread_run(busy_thread, NULL, "jf_busy/%u", i);
		if (IS_ERR(t)) {
			busy_exit();
			return PTR_ERR(t);
		}
		tasks[i] = t;
	}
	return 0;
}

module_init(busy_init);
module_exit(busy_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Kernel threads that are always at work");
