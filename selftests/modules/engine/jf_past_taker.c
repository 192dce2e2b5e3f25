// SPDX-License-Identifier: GPL-2.0
/*
 * A module without tables that takes a call over: at once, so many ms after its
 * parameter was written, by when it may be being unloaded, or with a function that
 * was __init text.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/module.h>

/* Declared here, so that the module has no tables. */
struct jf_func;
extern struct jf_func __jf_func_past_op;
int __jf_func_update(struct jf_func *f, void *func);

static void *early;

static noinline long taken(long x)
{
	return x + 1000;
}

static noinline long __init taken_early(long x)
{
	return x + 2000;
}

static bool now;
module_param(now, bool, 0);
MODULE_PARM_DESC(now, "when it is loaded");

static int late_set(const char *val, const struct kernel_param *kp)
{
	unsigned int ms;
	int err = kstrtouint(val, 0, &ms);

	if (err)
		return err;
	msleep(ms);
	err = __jf_func_update(&__jf_func_past_op, taken);
	pr_info("late: state %d, update %d\n", THIS_MODULE->state, err);
	return err;
}

static const struct kernel_param_ops late_ops = { .set = late_set };
module_param_cb(late, &late_ops, NULL, 0200);
MODULE_PARM_DESC(late, "after so many ms");

static int early_set(const char *val, const struct kernel_param *kp)
{
	return __jf_func_update(&__jf_func_past_op, early);
}

static const struct kernel_param_ops early_ops = { .set = early_set };
module_param_cb(early, &early_ops, NULL, 0200);
MODULE_PARM_DESC(early, "with text that was its __init text");

static int __init taker_init(void)
{
	early = taken_early;
	OPTIMIZER_HIDE_VAR(early);
	return now ? __jf_func_update(&__jf_func_past_op, taken) : 0;
}

static void __exit taker_exit(void)
{
}

module_init(taker_init);
module_exit(taker_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Takes a call over, early or late");
