// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: a module whose probes are calls of functions that do not exist, and subscribers.
 *
 * For example
 *   M=jf_sample_calls
 *   echo $M:jobs:begin=print_begin >/sys/kernel/debug/jumpfunc/functions
 *   echo 3 >/sys/module/$M/parameters/jobs
 *   echo $M:jobs:begin=none >/sys/kernel/debug/jumpfunc/functions
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include <jumpfunc/tracepoint.h>

#include "jf_sample_calls.h"

DECLARE_DYNFUNC(__dtrace_jobs___begin, __dtrace_jobs___begin);
DECLARE_DYNFUNC(__dtrace_jobs___part, __dtrace_jobs___part);
DECLARE_DYNFUNC(__dtrace_jobs___end, __dtrace_jobs___end);

static noinline void print_begin(unsigned int id, const char *name)
{
	pr_info("begin %u %s\n", id, name);
}

/* Two of its arguments are on the stack. */
static noinline void print_part(unsigned int id, u8 part, long a, long b, long c, long d, long e,
				long f)
{
	pr_info("part %u %u %ld %ld %ld %ld %ld %ld\n", id, part, a, b, c, d, e, f);
}

/* Several subscribers are those of a tracepoint, which calls them from a chain. */
DECLARE_JF_TRACE(sample_calls_end, JF_PROTO(unsigned int id, int result), JF_ARGS(id, result));
DEFINE_JF_TRACE(sample_calls_end);

static noinline void trace_end(unsigned int id, int result)
{
	jf_trace_sample_calls_end(id, result);
}

static struct subscriber {
	const char *name;
} first = { "first" }, second = { "second" };

static void print_end(void *data, unsigned int id, int result)
{
	struct subscriber *s = data;

	pr_info("%s: end %u %d\n", s->name, id, result);
}

DYNFUNC_TARGETS(__dtrace_jobs___begin, print_begin);
DYNFUNC_TARGETS(__dtrace_jobs___part, print_part);
DYNFUNC_TARGETS(__dtrace_jobs___end, trace_end);

module_param_named(names, sample_calls_names, uint, 0400);
MODULE_PARM_DESC(names, "so many names of jobs were made, for subscribers of jobs:begin");

static int jobs_set(const char *val, const struct kernel_param *kp)
{
	unsigned int i, n;
	int err = kstrtouint(val, 0, &n);

	for (i = 1; !err && i <= n; i++)
		sample_calls_job(i);
	return err;
}

static const struct kernel_param_ops jobs_ops = {
	.set = jobs_set,
};
module_param_cb(jobs, &jobs_ops, NULL, 0200);
MODULE_PARM_DESC(jobs, "write a number: do so many jobs; every third one fails");

/* All probes in one transaction, or none of them. */
static int all_set(const char *val, const struct kernel_param *kp)
{
	struct jf_batch b;
	bool on;
	int err = kstrtobool(val, &on);

	if (err)
		return err;
	jf_batch_init(&b);
	dynfunc_batch_set(&b, __dtrace_jobs___begin, on ? print_begin : NULL);
	dynfunc_batch_set(&b, __dtrace_jobs___part, on ? print_part : NULL);
	dynfunc_batch_set(&b, __dtrace_jobs___end, on ? trace_end : NULL);
	return jf_batch_commit(&b);
}

static const struct kernel_param_ops all_ops = {
	.set = all_set,
};
module_param_cb(all, &all_ops, NULL, 0200);
MODULE_PARM_DESC(all, "write 1 or 0: enable or disable all probes");

static int __init sample_calls_init(void)
{
	int err;

	err = register_jf_trace_sample_calls_end(print_end, &first);
	if (err)
		return err;
	err = register_jf_trace_sample_calls_end(print_end, &second);
	if (err)
		WARN_ON(unregister_jf_trace_sample_calls_end(print_end, &first));
	return err;
}

static void __exit sample_calls_exit(void)
{
	if (unregister_jf_trace_sample_calls_end(print_end, &second) ||
	    unregister_jf_trace_sample_calls_end(print_end, &first))
		pr_err("cannot unregister all probes, this is left to the core\n");
}

module_init(sample_calls_init);
module_exit(sample_calls_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: calls of functions that do not exist, as probes");
