// SPDX-License-Identifier: GPL-2.0
/* Sample: jf_sample_both_middle.c as a kernel module, which shows it when it is loaded. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "jf_sample_both.h"

static void say(const char *what, long value)
{
	pr_info("%s: %ld\n", what, value);
}

static int __init both_init(void)
{
	return both_run(say);
}

static void __exit both_exit(void)
{
}

module_init(both_init);
module_exit(both_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: one source for a module and a program");
