// SPDX-License-Identifier: GPL-2.0
/* Replaces and quiesces in its init, whose text may stand right after the rest. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/dynfunc.h>

static noinline long past_init_one(long x)
{
	return x + 1;
}

static noinline long past_init_two(long x)
{
	return x + 2;
}
DEFINE_DYNFUNC(past_init, past_init_one);

/*
 * For all to call: a sealed function without a type has no 16 bytes in front, which
 * kernels that know FineIBT overwrite, and this may be the first one of the text.
 */
long past_init_large(long x);
noinline long __init past_init_large(long x)
{
	asm volatile(".skip 32768, 0x90");
	return x;
}

static int __init past_early_init(void)
{
	int err = dynfunc_update(past_init, past_init_two);

	if (!err)
		jf_quiesce();
	return err;
}

static void __exit past_init_exit(void)
{
}

module_init(past_early_init);
module_exit(past_init_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Quiesces in its init");
