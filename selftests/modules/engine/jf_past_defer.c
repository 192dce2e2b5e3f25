// SPDX-License-Identifier: GPL-2.0
/*
 * A parameter's operation that leaves the last user of a key to jumpfunc, by its last
 * call, which takes long just where the work is about to be queued.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

#include <jumpfunc/branch.h>

static DEFINE_JF_KEY_DEFERRED_FALSE(past_deferred, 3 * HZ);

static int off_set(const char *val, const struct kernel_param *kp)
{
	return jf_key_dec_deferred(&past_deferred);
}

static const struct kernel_param_ops off_ops = { .set = off_set };
module_param_cb(off, &off_ops, NULL, 0200);
MODULE_PARM_DESC(off, "leave the key's user to jumpfunc");

static int __init past_defer_init(void)
{
	return jf_key_inc(&past_deferred.key);
}

static void __exit past_defer_exit(void)
{
}

module_init(past_defer_init);
module_exit(past_defer_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A parameter whose operation queues work late");
