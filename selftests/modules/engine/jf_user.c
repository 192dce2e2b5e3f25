// SPDX-License-Identifier: GPL-2.0
/*
 * A module with tables: sites of another module's dynamic function, and a target for
 * it. It is unloaded without undoing its update.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>

#include "jf_host.h"

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "fail to initialise, after the update");

DECLARE_DYNFUNC(keys_op, keys_type);

static noinline u64 user_op(u64 x)
{
	return x + KEYS_USER;
}

/* A function of its own, and a chain through it. */
DEFINE_DYNFUNC(user_own, user_op);
DYNFUNC_TARGETS(keys_op, user_op);

static int __init user_init(void)
{
	int err = dynfunc_update(keys_op, dynfunc_user_own);

	if (err)
		return err;
	if (dynfunc_call(keys_op, 5) != 5 + KEYS_USER)
		return -EIO;
	msleep(10);
	return fail ? -ENODEV : 0;
}

static void __exit user_exit(void)
{
}

module_init(user_init);
module_exit(user_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sites and targets of another module's function");
