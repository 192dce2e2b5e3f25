// SPDX-License-Identifier: GPL-2.0
/*
 * Test module: sites of another module's events, and a probe on one of them that
 * knows nothing of the events' users.
 */
#include <linux/atomic.h>
#include <linux/module.h>

#include "jf_event_trace.h"

static atomic_t seen;

static void probe(void *data, int a)
{
	atomic_inc(data);
}

static int fire_set(const char *val, const struct kernel_param *kp)
{
	int i, n, err = kstrtoint(val, 0, &n);

	for (i = 0; !err && i < n; i++)
		jf_trace_jf_event_one(1000 + i);
	return err;
}

static int seen_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", atomic_read(&seen));
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);
static const struct kernel_param_ops seen_ops = { .get = seen_get };
module_param_cb(seen, &seen_ops, NULL, 0444);

static int __init event_guest_init(void)
{
	return register_jf_trace_jf_event_one(probe, &seen);
}

static void __exit event_guest_exit(void)
{
	/* A forgotten probe is removed, which the log of a test must not have. */
	if (unregister_jf_trace_jf_event_one(probe, &seen))
		pr_warn("jf_event_guest: cannot remove its probe\n");
}

module_init(event_guest_init);
module_exit(event_guest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc test: another module's events");
