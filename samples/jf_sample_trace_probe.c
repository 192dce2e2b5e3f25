// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: probes on another module's tracepoints. One function counts for two
 * tracepoints, each with a counter of its own as its data; a second probe on the
 * same tracepoint reads arguments, and runs first because of its priority.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/module.h>

#include "jf_sample_trace.h"

static atomic_long_t begun, ended, failed;

static void count_begin(void *data, unsigned int id)
{
	atomic_long_inc(data);
}

static void count_end(void *data, unsigned int id, u64 ns, int result)
{
	atomic_long_inc(data);
}

static void count_failed(void *data, unsigned int id, u64 ns, int result)
{
	if (result)
		atomic_long_inc(data);
}

static int seen_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%ld begun, %ld ended, %ld failed\n", atomic_long_read(&begun),
		       atomic_long_read(&ended), atomic_long_read(&failed));
}

static const struct kernel_param_ops seen_ops = {
	.get = seen_get,
};
module_param_cb(seen, &seen_ops, NULL, 0444);
MODULE_PARM_DESC(seen, "what the probes have seen");

static int __init sample_trace_probe_init(void)
{
	int err;

	err = register_jf_trace_sample_job_begin(count_begin, &begun);
	if (err)
		return err;
	err = register_jf_trace_sample_job_end(count_end, &ended);
	if (err)
		goto err_begin;
	err = register_jf_trace_prio_sample_job_end(count_failed, &failed,
						    JF_TRACE_PRIO_DEFAULT + 1);
	if (err)
		goto err_end;
	return 0;

err_end:
	WARN_ON(unregister_jf_trace_sample_job_end(count_end, &ended));
err_begin:
	WARN_ON(unregister_jf_trace_sample_job_begin(count_begin, &begun));
	return err;
}

/*
 * The counters are this module's own memory, which is freed only after all tasks
 * have left the probes. Had they been allocated, jf_quiesce() would have to stand
 * before kfree().
 */
static void __exit sample_trace_probe_exit(void)
{
	if (unregister_jf_trace_sample_job_end(count_failed, &failed) ||
	    unregister_jf_trace_sample_job_end(count_end, &ended) ||
	    unregister_jf_trace_sample_job_begin(count_begin, &begun))
		pr_err("cannot unregister all probes, this is left to the core\n");
}

module_init(sample_trace_probe_init);
module_exit(sample_trace_probe_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: probes on another module's tracepoints");
