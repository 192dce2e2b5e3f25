// SPDX-License-Identifier: GPL-2.0
/* A dynamic function whose initial target is another module's. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/dynfunc.h>

long past_lib_default(long x);
DEFINE_DYNFUNC(past_user, past_lib_default);

static noinline long past_user_other(long x)
{
	return x + 2;
}

static bool quiet = true;
module_param(quiet, bool, 0);
MODULE_PARM_DESC(quiet, "wait for quiet");

static int __init past_user_init(void)
{
	int err = dynfunc_update(past_user, past_user_other);

	if (!err && quiet)
		jf_quiesce();
	return err;
}

static void __exit past_user_exit(void)
{
}

module_init(past_user_init);
module_exit(past_user_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Replaces what another module provides");
