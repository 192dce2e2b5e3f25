// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of this module's own on jf_trace_set's tracepoints, registered in one batch
 * and removed in one, or left to the core: while that module changes the others.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/module.h>

#include "jf_trace_set.h"

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "do not unregister them on unload");

static int cookies[NSET];
static atomic_t calls, bad;
/* Set when no call may come any more. */
static bool unregistered;

static void guest(void *data, u64 a, u64 b)
{
	int *c = data;

	if (c < cookies || c >= cookies + NSET || *c != c - cookies || b != SET_ARG(a) ||
	    READ_ONCE(unregistered)) {
		if (!atomic_fetch_inc(&bad))
			pr_err("jf_trace_set_guest: BAD: a call with data %p, unregistered %d\n", data, unregistered);
		return;
	}
	/* To be in here when the module is unloaded. */
	if (!(atomic_inc_return(&calls) & 0xff))
		udelay(50);
}

static int calls_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d %d\n", atomic_read(&calls), atomic_read(&bad));
}

static const struct kernel_param_ops calls_ops = {
	.get = calls_get,
};
module_param_cb(calls, &calls_ops, NULL, 0444);
MODULE_PARM_DESC(calls, "calls, and bad ones among them");

static int all(bool add)
{
	struct jf_batch b;

	jf_batch_init(&b);
	/* Errors are returned by the commit. */
#define GUEST(n)							\
	if (add)							\
		jf_trace_batch_register(&b, set##n, guest, &cookies[n], 1); \
	else								\
		jf_trace_batch_unregister(&b, set##n, guest, &cookies[n]);
	EACH_SET(GUEST)
	return jf_batch_commit(&b);
}

static int __init guest_init(void)
{
	unsigned int i;

	for (i = 0; i < NSET; i++)
		cookies[i] = i;
	return all(true);
}

static void __exit guest_exit(void)
{
	if (leave)
		return;
	if (all(false))
		pr_err("jf_trace_set_guest: BAD: cannot unregister\n");
	jf_quiesce();
	WRITE_ONCE(unregistered, true);
	msleep(2);
}

module_init(guest_init);
module_exit(guest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probes that change in batches beside jf_trace_set's");
