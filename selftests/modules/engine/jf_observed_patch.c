// SPDX-License-Identifier: GPL-2.0
/*
 * A livepatch of jf_observed: of a target, a probe, and a function that has a
 * site. It knows nothing of jumpfunc. While it is on, each of them adds a
 * million more.
 */
#include <linux/atomic.h>
#include <linux/livepatch.h>
#include <linux/module.h>

static long new_two(long x)
{
	return x + 2 + 1000000;
}

/* Its site is not executed now. */
static long new_tramp(long x)
{
	return x + 1000000;
}

static void new_single(void *data, long x)
{
	atomic_long_add(x + 1000000, data);
}

static struct klp_func funcs[] = {
	{ .old_name = "obs_two", .new_func = new_two },
	{ .old_name = "obs_tramp", .new_func = new_tramp },
	{ .old_name = "obs_single", .new_func = new_single },
	{ }
};

static struct klp_object objs[] = {
	{ .name = "jf_observed", .funcs = funcs },
	{ }
};

static struct klp_patch patch = {
	.mod	= THIS_MODULE,
	.objs	= objs,
};

static int __init observed_patch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit observed_patch_exit(void)
{
}

module_init(observed_patch_init);
module_exit(observed_patch_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("jumpfunc test: a livepatch");
