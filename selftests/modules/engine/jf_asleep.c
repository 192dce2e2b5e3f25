// SPDX-License-Identifier: GPL-2.0
/*
 * A thread sleeps in a target of the module's own, until @hold is 0: the unload waits
 * for it. It is no task that suspending the machine would freeze.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>

static bool hold = true;
module_param(hold, bool, 0600);
MODULE_PARM_DESC(hold, "the thread sleeps");

static noinline void sleeps(void)
{
	while (READ_ONCE(hold))
		msleep(50);
	/* No last call. */
	barrier();
}

DEFINE_DYNFUNC_LOCAL(asleep, sleeps, JF_SLEEPABLE);

static int asleep_thread(void *unused)
{
	dynfunc_call(asleep);
	return 0;
}

static int __init asleep_init(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(asleep_thread, NULL, "jf_asleep"));
}

/* The thread goes on. */
static void __exit asleep_exit(void)
{
}

module_init(asleep_init);
module_exit(asleep_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A thread sleeps in a target");
