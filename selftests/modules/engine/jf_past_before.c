// SPDX-License-Identifier: GPL-2.0
/*
 * Is loaded, and is being unloaded, before jumpfunc is loaded: it needs nothing of
 * that at first. So many ms after its parameter was written it takes a call over.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/module.h>

struct jf_func;

static noinline long taken(long x)
{
	return x + 1000;
}

static int late_set(const char *val, const struct kernel_param *kp)
{
	int (*update)(struct jf_func *f, void *func);
	struct jf_func *f;
	unsigned int ms;
	int err = kstrtouint(val, 0, &ms);

	if (err)
		return err;
	msleep(ms);
	update = __symbol_get("__jf_func_update");
	f = __symbol_get("__jf_func_past_op");
	err = update && f ? update(f, taken) : -ENOENT;
	pr_info("late: state %d, update %d\n", THIS_MODULE->state, err);
	if (f)
		__symbol_put("__jf_func_past_op");
	if (update)
		__symbol_put("__jf_func_update");
	return err;
}

static const struct kernel_param_ops late_ops = { .set = late_set };
module_param_cb(late, &late_ops, NULL, 0200);
MODULE_PARM_DESC(late, "after so many ms");

static int __init before_init(void)
{
	return 0;
}

static void __exit before_exit(void)
{
}

module_init(before_init);
module_exit(before_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Takes a call over, when it was loaded before jumpfunc");
