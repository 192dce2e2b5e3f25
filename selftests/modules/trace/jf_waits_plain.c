// SPDX-License-Identifier: GPL-2.0
/* A probe for the tracepoint of jf_waits, in a module that knows nothing of jumpfunc. */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/types.h>

int jf_waits_change(void (*probe)(void *data, int x), void *data, bool add);
int jf_waits_enter(void);

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "a thread is in front of the probe, and the load fails");

static int count;

static void plain_probe(void *data, int x)
{
	(*(int *)data)++;
}

static int __init plain_init(void)
{
	int err = jf_waits_change(plain_probe, &count, true);

	if (err || !fail)
		return err;
	err = jf_waits_enter() ?: -ENODEV;
	jf_waits_change(plain_probe, &count, false);
	return err;
}

static void __exit plain_exit(void)
{
	jf_waits_change(plain_probe, &count, false);
}

module_init(plain_init);
module_exit(plain_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A probe of a module without tables");
