// SPDX-License-Identifier: GPL-2.0
/*
 * Test module: defines events, in headers that this file has read before it
 * defines them; has sites of its own, and a probe beside the events' users.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "jf_event_trace.h"
#include "jf_event_2.h"

#define CREATE_TRACE_POINTS
#include "jf_event_trace.h"
#include "jf_event_2.h"

JF_TRACE_EVENT_PARAM("jf_event");
EXPORT_JF_TRACE_GPL(jf_event_one);
EXPORT_JF_TRACE_GPL(jf_event_many);

/* How often a condition was evaluated. */
unsigned int jf_event_asked;
module_param_named(asked, jf_event_asked, uint, 0400);

static int fire_set(const char *val, const struct kernel_param *kp)
{
	int i, n, err = kstrtoint(val, 0, &n);

	for (i = 0; !err && i < n; i++) {
		jf_trace_jf_event_one(i);
		jf_trace_jf_event_many(1, 2, 3, true, (void *)4, 5, 6, 7, 8, 9,
				       10, "twelve");
		trace_jf_event_plain(i);
		jf_trace_jf_event_of("host");
		jf_trace_jf_event_of_long(i ? "host" : "hosted");
		trace_jf_event_of_plain_long(i ? "host" : "hosted");
		jf_trace_jf_event_odd(i);
		trace_jf_event_of_plain("host");
		cond_resched();
	}
	return err;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

static int __init event_host_init(void)
{
	return 0;
}

static void __exit event_host_exit(void)
{
	/* A user that has them enabled now sees this one, too. */
	jf_trace_jf_event_one(-1);
}

module_init(event_host_init);
module_exit(event_host_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc test: a module with events");
