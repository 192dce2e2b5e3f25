// SPDX-License-Identifier: GPL-2.0
/*
 * A dynamic function that modules call and take over when their last notifier is
 * behind them. Parameters that can only be written do what the test asks for.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/async.h>
#include <linux/delay.h>
#include <linux/module.h>

#include <jumpfunc/batch.h>

#include "jf_past.h"

static noinline long past_default(long x)
{
	return x + 1;
}
DEFINE_DYNFUNC(past_op, past_default);
EXPORT_DYNFUNC_GPL(past_op);

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

/* As disks are looked for: who unloads a module, whichever it is, waits for that. */
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
}

module_init(past_init);
module_exit(past_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A dynamic function for modules that go");
