// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: a module with two tracepoints. While one has no probe, it costs its
 * function a nop.
 *
 * For example, with jf_sample_trace_probe loaded
 *   echo 3 > /sys/module/jf_sample_trace/parameters/jobs
 *   cat /sys/module/jf_sample_trace_probe/parameters/seen
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>

#include "jf_sample_trace.h"

DEFINE_JF_TRACE(sample_job_begin);
DEFINE_JF_TRACE(sample_job_end);
EXPORT_JF_TRACE_GPL(sample_job_begin);
EXPORT_JF_TRACE_GPL(sample_job_end);

static int work(unsigned int id)
{
	return id % 3 ? 0 : -EIO;
}

static noinline void job(unsigned int id)
{
	u64 begin = 0;
	int result;

	jf_trace_sample_job_begin(id);
	/* The time is taken only if a probe gets it. */
	if (jf_trace_sample_job_end_enabled())
		begin = ktime_get_ns();
	result = work(id);
	/* jf_trace() does not evaluate its arguments while there is no probe. */
	jf_trace(sample_job_end, id, begin ? ktime_get_ns() - begin : 0, result);
}

static int jobs_set(const char *val, const struct kernel_param *kp)
{
	static unsigned int id;
	unsigned int i, n;
	int err = kstrtouint(val, 0, &n);

	/* The lock of module parameters keeps others out of here. */
	for (i = 0; !err && i < n; i++)
		job(id++);
	return err;
}

static const struct kernel_param_ops jobs_ops = {
	.set = jobs_set,
};
module_param_cb(jobs, &jobs_ops, NULL, 0200);
MODULE_PARM_DESC(jobs, "write a number: do so many jobs; every third one fails");

static int __init sample_trace_init(void)
{
	return 0;
}

static void __exit sample_trace_exit(void)
{
}

module_init(sample_trace_init);
module_exit(sample_trace_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: two tracepoints");
