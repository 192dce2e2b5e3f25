// SPDX-License-Identifier: GPL-2.0
/*
 * A module that lends its probe to others. The probe sleeps, and then reads the data
 * that it was registered with.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "jf_trace_lend.h"

DEFINE_JF_TRACE(lend);
EXPORT_JF_TRACE_GPL(lend);

static unsigned int nap_ms = 3000;
module_param(nap_ms, uint, 0444);
MODULE_PARM_DESC(nap_ms, "how long the probe sleeps");

void jf_trace_lend_probe(void *data, int x)
{
	pr_info("inside\n");
	msleep(nap_ms);
	pr_info("its data is %d\n", READ_ONCE(*(int *)data));
}
EXPORT_SYMBOL_GPL(jf_trace_lend_probe);

static int hit_set(const char *val, const struct kernel_param *kp)
{
	jf_trace_lend(1);
	/* And no tail call. */
	barrier();
	return 0;
}

static const struct kernel_param_ops hit_ops = { .set = hit_set };
module_param_cb(hit, &hit_ops, NULL, 0200);
MODULE_PARM_DESC(hit, "hit the tracepoint");

static unsigned int rounds;
static int work_err, calls;

static void own_probe(void *data, int x)
{
	calls++;
}

/* No call of the tracepoint that the test counts leads here. */
static void other_probe(void *data, int x)
{
	calls += 100;
}

static void change_probes(void);

/* The first of two in a chain, which it leaves while it is in there. */
static void changing_probe(void *data, int x)
{
	WARN_ON(unregister_jf_trace_lend(changing_probe, NULL));
	WARN_ON(unregister_jf_trace_lend(own_probe, NULL));
	change_probes();
}

/* Chains, of which there are few: they are soon used up. */
static void change_probes(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < rounds; i++)
		err = register_jf_trace_lend(own_probe, &calls) ?:
		      register_jf_trace_lend(other_probe, NULL) ?:
		      unregister_jf_trace_lend(own_probe, &calls) ?:
		      unregister_jf_trace_lend(other_probe, NULL);
	work_err = err;
}

static void change_work(struct work_struct *work)
{
	change_probes();
}

/* @val: how often probes change, in a probe that is in a chain. */
static int inside_set(const char *val, const struct kernel_param *kp)
{
	int err = kstrtouint(val, 0, &rounds);

	err = err ?: register_jf_trace_prio_lend(changing_probe, NULL, 20);
	err = err ?: register_jf_trace_prio_lend(own_probe, NULL, 10);
	if (err)
		return err;
	calls = 0;
	jf_trace_lend(1);
	/* The second one of the chain that it was in, and nothing else. */
	pr_info("chain: %d calls\n", calls);
	return work_err;
}

static const struct kernel_param_ops inside_ops = { .set = inside_set };
module_param_cb(rounds_inside, &inside_ops, NULL, 0200);
MODULE_PARM_DESC(rounds_inside, "probes change so often, in a probe");

/* @val: how often probes change, in work that others need to free memory. */
static int rounds_set(const char *val, const struct kernel_param *kp)
{
	struct workqueue_struct *wq;
	struct work_struct work;
	int err = kstrtouint(val, 0, &rounds);

	if (err)
		return err;
	wq = alloc_workqueue("jf_trace_lend",
			     WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!wq)
		return -ENOMEM;
	INIT_WORK_ONSTACK(&work, change_work);
	queue_work(wq, &work);
	flush_work(&work);
	destroy_work_on_stack(&work);
	destroy_workqueue(wq);
	return work_err;
}

static const struct kernel_param_ops rounds_ops = { .set = rounds_set };
module_param_cb(rounds, &rounds_ops, NULL, 0200);
MODULE_PARM_DESC(rounds, "probes change so often, in a work item");

static int __init lend_init(void)
{
	return 0;
}

static void __exit lend_exit(void)
{
}

module_init(lend_init);
module_exit(lend_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A probe that others register");
