// SPDX-License-Identifier: GPL-2.0
/*
 * A dynamic function that modules call and take over after their last notifier.
 * Parameters that can only be written are commands of the test.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/async.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include <jumpfunc/batch.h>

#include "jf_past.h"

static noinline long past_default(long x)
{
	return x + 1;
}
DEFINE_DYNFUNC(past_op, past_default);
EXPORT_DYNFUNC_GPL(past_op);

DEFINE_JF_KEY_TRUE(past_key);
EXPORT_JF_KEY_GPL(past_key);

static noinline void past_hook_seen(int *seen)
{
	*seen = 1;
}
DEFINE_DYNFUNC_NULL(past_hook, past_hook_type);
EXPORT_DYNFUNC_GPL(past_hook);

static int change_set(const char *val, const struct kernel_param *kp)
{
	return jf_key_disable(&past_key) ?:
	       dynfunc_update(past_hook, past_hook_seen);
}

static const struct kernel_param_ops change_ops = { .set = change_set };
module_param_cb(change, &change_ops, NULL, 0200);
MODULE_PARM_DESC(change, "disable the key, and set the hook");

static unsigned int leaf_ms;
static bool inside;
module_param(inside, bool, 0444);
MODULE_PARM_DESC(inside, "a thread sleeps in past_leaf()");

noinline long past_leaf(long x)
{
	WRITE_ONCE(inside, true);
	msleep(leaf_ms);
	WRITE_ONCE(inside, false);
	return x + 4;
}
EXPORT_SYMBOL_GPL(past_leaf);

static int visitor(void *unused)
{
	dynfunc_call(past_op, 5);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static struct task_struct *thread;

/* Not by the writer: that would hold the parameters' lock. */
static int enter_set(const char *val, const struct kernel_param *kp)
{
	int err = kstrtouint(val, 0, &leaf_ms);

	if (err)
		return err;
	if (thread)
		kthread_stop(thread);
	thread = kthread_run(visitor, NULL, "jf_past");
	err = PTR_ERR_OR_ZERO(thread);
	if (err)
		thread = NULL;
	return err;
}

static const struct kernel_param_ops enter_ops = { .set = enter_set };
module_param_cb(enter, &enter_ops, NULL, 0200);
MODULE_PARM_DESC(enter, "call it, and sleep in past_leaf() for so many ms");

static int leaf_set(const char *val, const struct kernel_param *kp)
{
	bool leaf;
	int err = kstrtobool(val, &leaf);

	return err ?: dynfunc_update(past_op, leaf ? past_leaf : past_default);
}

static const struct kernel_param_ops leaf_ops = { .set = leaf_set };
module_param_cb(leaf, &leaf_ops, NULL, 0200);
MODULE_PARM_DESC(leaf, "lead it to past_leaf(), or where it led at first");

static int call_set(const char *val, const struct kernel_param *kp)
{
	pr_info("past_op(5) is %ld\n", dynfunc_call(past_op, 5));
	return 0;
}

static const struct kernel_param_ops call_ops = { .set = call_set };
module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "call it");

static int quiesce_set(const char *val, const struct kernel_param *kp)
{
	return jf_quiesce_timeout(3 * HZ);
}

static const struct kernel_param_ops quiesce_ops = { .set = quiesce_set };
module_param_cb(quiesce, &quiesce_ops, NULL, 0200);
MODULE_PARM_DESC(quiesce, "wait for quiet, three seconds at most");

static unsigned int busy_ms;

static void probe(void *data, async_cookie_t cookie)
{
	msleep(busy_ms);
}

/* As disks are probed: unloading a module, whichever it is, waits for that. */
static int busy_set(const char *val, const struct kernel_param *kp)
{
	int err = kstrtouint(val, 0, &busy_ms);

	if (!err)
		async_schedule(probe, NULL);
	return err;
}

static const struct kernel_param_ops busy_ops = { .set = busy_set };
module_param_cb(busy, &busy_ops, NULL, 0200);
MODULE_PARM_DESC(busy, "do something asynchronous for so many ms");

static int __init past_init(void)
{
	return 0;
}

static void __exit past_exit(void)
{
	if (thread)
		kthread_stop(thread);
}

module_init(past_init);
module_exit(past_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A dynamic function for modules that are unloaded");
