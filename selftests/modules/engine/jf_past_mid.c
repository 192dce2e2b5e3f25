// SPDX-License-Identifier: GPL-2.0
/* Another's dynamic function leads to the trampoline of its own, and that to a sleeper. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

#include "jf_past.h"

DECLARE_DYNFUNC(past_op, past_type);

static noinline long mid_default(long x)
{
	return x + 3;
}
DEFINE_DYNFUNC(past_mid, mid_default);

static int __init past_mid_init(void)
{
	return dynfunc_update(past_mid, past_leaf) ?:
	       dynfunc_update(past_op, dynfunc_past_mid);
}

static void __exit past_mid_exit(void)
{
}

module_init(past_mid_init);
module_exit(past_mid_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A trampoline between others");
