// SPDX-License-Identifier: GPL-2.0
/*
 * A module that is a DKMS package of its own: see Makefile, dkms.conf and
 * debian/ beside it. Reading its parameter "value" calls a dynamic function.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include <jumpfunc/dynfunc.h>

static noinline int jf_sample_once(int x)
{
	return x;
}

static noinline int jf_sample_twice(int x)
{
	return 2 * x;
}

DEFINE_DYNFUNC(jf_sample_times, jf_sample_once);
DYNFUNC_TARGETS(jf_sample_times, jf_sample_once, jf_sample_twice);

static int value_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", dynfunc_call(jf_sample_times, 21));
}

static const struct kernel_param_ops value_ops = {
	.get	= value_get,
};

module_param_cb(value, &value_ops, NULL, 0444);
MODULE_PARM_DESC(value, "21, once or twice: what the dynamic function jf_sample_times returns");

static int __init jf_sample_dkms_init(void)
{
	return 0;
}

static void __exit jf_sample_dkms_exit(void)
{
}

module_init(jf_sample_dkms_init);
module_exit(jf_sample_dkms_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The jumpfunc developers");
MODULE_DESCRIPTION("Sample of a DKMS package that uses jumpfunc");
MODULE_VERSION("1");
