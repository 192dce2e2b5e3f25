// SPDX-License-Identifier: GPL-2.0
/*
 * A module that knows nothing of jumpfunc: functions that call each other when a
 * parameter is written, and one that the kernel does not trace.
 */
#include <linux/module.h>

static unsigned long sum;
module_param(sum, ulong, 0444);
MODULE_PARM_DESC(sum, "what the functions have computed");

static noinline __noclone void foreign_add(unsigned long a, unsigned long b,
					   unsigned long c, unsigned long d,
					   unsigned long e, unsigned long f)
{
	WRITE_ONCE(sum, sum + a + b + c + d + e + f);
}

static noinline __noclone notrace void foreign_secret(unsigned long a)
{
	WRITE_ONCE(sum, sum + a);
}

static noinline __noclone void foreign_step(unsigned long i)
{
	foreign_add(i, 2, 3, 4, 5, 6);
	foreign_secret(i);
}

static int calls_set(const char *val, const struct kernel_param *kp)
{
	unsigned long i, num;
	int err = kstrtoul(val, 0, &num);

	for (i = 0; !err && i < num; i++)
		foreign_step(i);
	return err;
}

static const struct kernel_param_ops calls_ops = { .set = calls_set };
module_param_cb(calls, &calls_ops, NULL, 0200);
MODULE_PARM_DESC(calls, "call foreign_step() so often");

static int __init foreign_init(void)
{
	return 0;
}

/* Traced, unlike __exit functions, and by two names. */
static void foreign_exit(void)
{
	WRITE_ONCE(sum, 0);
}

module_init(foreign_init);
module_exit(foreign_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Functions of a module without a tracepoint");
