// SPDX-License-Identifier: GPL-2.0
/* A probe, or data, for the tracepoint of jf_waits. */
#include <linux/errno.h>
#include <linux/module.h>

#include "jf_waits.h"

static bool data;
module_param(data, bool, 0444);
MODULE_PARM_DESC(data, "only the data of the probes is in here");

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "a thread is in front of the probe, and the load fails");

static int count;

static void guest_probe(void *arg, int x)
{
	(*(int *)arg)++;
}

static int guest_change(bool add)
{
	void (*probe)(void *arg, int x) = data ? jf_waits_sleeper : guest_probe;

	return add ? register_jf_trace_waits(probe, &count) :
		     unregister_jf_trace_waits(probe, &count);
}

static int __init guest_init(void)
{
	int err = guest_change(true);

	if (err || !fail)
		return err;
	err = jf_waits_enter() ?: -ENODEV;
	guest_change(false);
	return err;
}

static void __exit guest_exit(void)
{
	guest_change(false);
}

module_init(guest_init);
module_exit(guest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A probe of a tracepoint whose probes sleep");
