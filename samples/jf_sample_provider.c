// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: a module with three dynamic functions that others may change.
 *
 *   sample_filter	has a target from the start
 *   sample_hook	does nothing until it is set
 *   sample_quota	returns 0, "no quota", until it is set
 *
 * After loading, see /sys/kernel/debug/jumpfunc/functions. For example
 *   echo sample_filter=accept_all > /sys/kernel/debug/jumpfunc/functions
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/minmax.h>
#include <linux/module.h>

#include "jf_sample.h"

static noinline bool accept_short(const struct sample_packet *p, unsigned int max)
{
	return p->len <= max;
}

static noinline bool accept_all(const struct sample_packet *p, unsigned int max)
{
	return true;
}

static noinline void print_packet(const struct sample_packet *p)
{
	pr_info("%u bytes for port %u\n", p->len, p->port);
}

static noinline long two_per_port(u16 port)
{
	return 2;
}

DEFINE_DYNFUNC(sample_filter, accept_short);
DEFINE_DYNFUNC_NULL(sample_hook, sample_hook_type);
DEFINE_DYNFUNC_RET0(sample_quota, sample_quota_type);

EXPORT_DYNFUNC_GPL(sample_filter);
EXPORT_DYNFUNC_GPL(sample_hook);
EXPORT_DYNFUNC_GPL(sample_quota);

DYNFUNC_TARGETS(sample_filter, accept_short, accept_all);
DYNFUNC_TARGETS(sample_hook, print_packet);
DYNFUNC_TARGETS(sample_quota, two_per_port);

long sample_receive(const struct sample_packet *p)
{
	long quota;

	dynfunc_call(sample_hook, p);
	if (!dynfunc_call(sample_filter, p, 1500))
		return 0;
	quota = dynfunc_call(sample_quota, p->port);
	return quota ? min_t(long, quota, p->len) : p->len;
}
EXPORT_SYMBOL_GPL(sample_receive);

static int __init sample_provider_init(void)
{
	struct sample_packet p = { .len = 60, .port = 7 };

	/* They can be called from the first line on, from __init text as well. */
	pr_info("loaded, a packet of %u bytes gives %ld\n", p.len, sample_receive(&p));
	return 0;
}

static void __exit sample_provider_exit(void)
{
}

module_init(sample_provider_init);
module_exit(sample_provider_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: defines and exports dynamic functions");
