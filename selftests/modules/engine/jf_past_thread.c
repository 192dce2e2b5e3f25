// SPDX-License-Identifier: GPL-2.0
/* A thread of a module that knows nothing of jumpfunc. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/kthread.h>
#include <linux/module.h>

static struct task_struct *thread;

static noinline int past_thread_loop(void *unused)
{
	asm volatile(".skip 512, 0x90");
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	asm volatile(".skip 512, 0x90");
	return 0;
}

static int __init past_thread_init(void)
{
	thread = kthread_run(past_thread_loop, NULL, "past_thread");
	return PTR_ERR_OR_ZERO(thread);
}

static void __exit past_thread_exit(void)
{
	kthread_stop(thread);
}

module_init(past_thread_init);
module_exit(past_thread_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A thread that is in no target");
