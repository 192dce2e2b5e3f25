// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: a module that calls another module's dynamic functions and changes
 * them: one by one, then together in a batch. See the log after loading.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/module.h>

#include "jf_sample.h"

static atomic_t seen = ATOMIC_INIT(0);

static noinline bool accept_web(const struct sample_packet *p, unsigned int max)
{
	return p->port == 80 && p->len <= max;
}

static noinline void count_packet(const struct sample_packet *p)
{
	atomic_inc(&seen);
}

static noinline long hundred_bytes(u16 port)
{
	return 100;
}

/* Through the core's debugfs file they may be chosen by name as well. */
DYNFUNC_TARGETS(sample_filter, accept_web);
DYNFUNC_TARGETS(sample_hook, count_packet);

static void show(const char *when)
{
	struct sample_packet web = { .len = 1000, .port = 80 };
	struct sample_packet big = { .len = 9000, .port = 22 };

	bool site[2], tramp[2];
	long received[2];

	/* The same call from a site of ours and through the trampoline. */
	site[0] = dynfunc_call(sample_filter, &web, 1500);
	site[1] = dynfunc_call(sample_filter, &big, 1500);
	tramp[0] = dynfunc_sample_filter(&web, 1500);
	tramp[1] = dynfunc_sample_filter(&big, 1500);
	/* And from sites of the provider. */
	received[0] = sample_receive(&web);
	received[1] = sample_receive(&big);
	pr_info("%s: filter %d %d, by trampoline %d %d, received %ld %ld, seen %d\n",
		when, site[0], site[1], tramp[0], tramp[1],
		received[0], received[1], atomic_read(&seen));
}

/* All three change, or none. */
static int take_over(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, sample_filter, accept_web);
	dynfunc_batch_set(&b, sample_hook, count_packet);
	dynfunc_batch_set(&b, sample_quota, hundred_bytes);
	return jf_batch_commit(&b);
}

static int __init sample_consumer_init(void)
{
	int err;

	show("as found");
	err = dynfunc_update(sample_hook, count_packet);
	if (err)
		return err;
	show("with a hook");
	err = take_over();
	if (err)
		goto err_hook;
	show("after a batch");
	return 0;

err_hook:
	WARN_ON(dynfunc_update(sample_hook, NULL));
	return err;
}

/*
 * The core undoes the rest: a dynamic function that still leads into this module falls back to its
 * initial target. The filter is left to it.
 */
static void __exit sample_consumer_exit(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, sample_hook, NULL);
	dynfunc_batch_set(&b, sample_quota, NULL);
	if (jf_batch_commit(&b))
		pr_err("cannot undo the updates\n");
	show("at the end");
}

module_init(sample_consumer_init);
module_exit(sample_consumer_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: calls and updates another module's dynamic functions");
