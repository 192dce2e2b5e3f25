// SPDX-License-Identifier: GPL-2.0
/*
 * The first task of the name "past_writer" that calls mod_delayed_work_on() takes four
 * seconds until it is there, as if it had been preempted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/workqueue.h>

static atomic_t done;
static bool slow;
module_param(slow, bool, 0444);
MODULE_PARM_DESC(slow, "a task is about to queue the work");

static bool slowly(int cpu, struct workqueue_struct *wq,
		   struct delayed_work *work, unsigned long delay)
{
	unsigned long end = jiffies + 4 * HZ;
	bool was;

	WRITE_ONCE(slow, true);
	/* By the clock: where the CPU is emulated, a delay loop may be over at once. */
	while (time_before(jiffies, end))
		cpu_relax();
	was = mod_delayed_work_on(cpu, wq, work, delay);
	/* And no tail call. */
	barrier();
	return was;
}

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	if (strcmp(current->comm, "past_writer") || atomic_xchg(&done, 1))
		return 0;
	instruction_pointer_set(regs, (unsigned long)slowly);
	return 1;
}

/* With it the probe is not optimised, and may change where execution continues. */
static void post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name = "mod_delayed_work_on",
	.pre_handler = pre,
	.post_handler = post,
};

static int __init past_slow_init(void)
{
	return register_kprobe(&probe);
}

static void __exit past_slow_exit(void)
{
	unregister_kprobe(&probe);
}

module_init(past_slow_init);
module_exit(past_slow_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Takes long to queue work");
