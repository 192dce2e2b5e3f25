// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: a module with trace events that cost a nop while they are off.
 *
 * For example
 *   trace-cmd record -e jf_sample \
 *      sh -c 'echo 9 > /sys/module/jf_sample_event/parameters/packets'
 *   perf record -e jf_sample:jf_sample_drop ...
 *   bpftrace -e 'tracepoint:jf_sample:jf_sample_rx { @[args->queue] = count(); }'
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

/* The types that the events look into have to be known where they are defined. */
struct jf_sample_packet {
	char	dev[8];
	u32	id;
	u32	len;
};

#define CREATE_TRACE_POINTS
#include "jf_sample_event_trace.h"

/* "insmod jf_sample_event.ko trace_event=jf_sample_rx": on from the start. */
JF_TRACE_EVENT_PARAM("jf_sample");

/* For other modules with such sites or with probes of their own. */
EXPORT_JF_TRACE_GPL(jf_sample_rx);
EXPORT_JF_TRACE_GPL(jf_sample_pass);
EXPORT_JF_TRACE_GPL(jf_sample_drop);

/* Every third packet is too long. */
static noinline void receive(struct jf_sample_packet *p)
{
	jf_trace_jf_sample_rx(p, p->id % 4);
	if (p->len > 1500)
		jf_trace_jf_sample_drop(p->id, -EMSGSIZE);
	else
		jf_trace_jf_sample_pass(p->id, 0);
}

static void receive_many(unsigned int n)
{
	static struct jf_sample_packet p = { .dev = "jf0" };

	/* The lock of module parameters keeps others out of here. */
	while (n--) {
		p.len = p.id % 3 == 2 ? 9000 : 100 + p.id % 3;
		receive(&p);
		p.id++;
		cond_resched();
	}
}

static int packets_set(const char *val, const struct kernel_param *kp)
{
	unsigned int n;
	int err = kstrtouint(val, 0, &n);

	if (!err)
		receive_many(n);
	return err;
}

static const struct kernel_param_ops packets_ops = {
	.set = packets_set,
};
module_param_cb(packets, &packets_ops, NULL, 0200);
MODULE_PARM_DESC(packets, "write a number: receive so many packets; every third one is dropped");

static int __init sample_event_init(void)
{
	/* So that a user who enabled the events already has something to see. */
	receive_many(3);
	return 0;
}

static void __exit sample_event_exit(void)
{
}

module_init(sample_event_init);
module_exit(sample_event_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: trace events");
