// SPDX-License-Identifier: GPL-2.0
/* A library with the initial target of another module's dynamic function, and no tables. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

long past_lib_default(long x);
noinline long past_lib_default(long x)
{
	return x + 1;
}
EXPORT_SYMBOL_GPL(past_lib_default);

/* So that the next module at this address has room. As past_init_large(), exported. */
long past_lib_large(long x);
noinline long past_lib_large(long x)
{
	asm volatile(".skip 16384, 0x90");
	return x;
}

static int __init past_lib_init(void)
{
	return 0;
}

static void __exit past_lib_exit(void)
{
}

module_init(past_lib_init);
module_exit(past_lib_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("The initial target of a function of another module");
