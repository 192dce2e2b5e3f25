// SPDX-License-Identifier: GPL-2.0
/*
 * A module without tables: it knows nothing of jumpfunc's headers and has just a
 * function that a dynamic function leads to. It is unloaded without undoing that.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/timekeeping.h>

#include "jf_host.h"

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "fail to initialise, after the update");

static unsigned int spin_us;
module_param(spin_us, uint, 0444);
MODULE_PARM_DESC(spin_us, "how long the target stays inside, without sleeping");

struct jf_func;
extern struct jf_func __jf_func_keys_op;
int __jf_func_update(struct jf_func *f, void *func);

static noinline u64 plain_op(u64 x)
{
	u64 end = ktime_get_ns() + spin_us * 1000ULL;

	/* Can be preempted anywhere in here. */
	while (spin_us && ktime_get_ns() < end)
		cpu_relax();
	return x + KEYS_PLAIN;
}

static int __init plain_init(void)
{
	int err = __jf_func_update(&__jf_func_keys_op, plain_op);

	if (err)
		return err;
	/* So that there are calls to be late. */
	msleep(10);
	return fail ? -ENODEV : 0;
}

static void __exit plain_exit(void)
{
}

module_init(plain_init);
module_exit(plain_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A target in a module without tables");
