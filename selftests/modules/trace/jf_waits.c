// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that sleeps in a probe, called by code that is replaced in that time. Some have to
 * wait for it, and others do not.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kmod.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "jf_waits.h"

DEFINE_JF_TRACE(waits);
EXPORT_JF_TRACE_GPL(waits);

static bool hold = true;
module_param(hold, bool, 0644);
MODULE_PARM_DESC(hold, "the probe sleeps");

static bool ask;
module_param(ask, bool, 0644);
MODULE_PARM_DESC(ask, "then it asks for the module jf_waits_guest");

static int entries;
static int counts[3];
static struct task_struct *thread;

void jf_waits_sleeper(void *data, int x)
{
	WRITE_ONCE(entries, entries + 1);
	while (READ_ONCE(hold))
		msleep(20);
	if (READ_ONCE(ask))
		request_module("jf_waits_guest");
	(*(int *)data)++;
}
EXPORT_SYMBOL_GPL(jf_waits_sleeper);

void jf_waits_counter(void *data, int x)
{
	(*(int *)data)++;
}
EXPORT_SYMBOL_GPL(jf_waits_counter);

int jf_waits_change(void (*probe)(void *data, int x), void *data, bool add)
{
	return add ? register_jf_trace_waits(probe, data) :
		     unregister_jf_trace_waits(probe, data);
}
EXPORT_SYMBOL_GPL(jf_waits_change);

/* The return address of a task: it is in no tail call. */
static noinline void hit(void)
{
	jf_trace_waits(1);
	barrier();
}

static int hit_thread(void *unused)
{
	hit();
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void stop_thread(void)
{
	hold = false;
	if (!IS_ERR_OR_NULL(thread))
		kthread_stop(thread);
	thread = NULL;
}

int jf_waits_enter(void)
{
	int before;

	/* An insmod that fails tries it twice. */
	stop_thread();
	before = READ_ONCE(entries);
	hold = true;
	thread = kthread_run(hit_thread, NULL, "jf_waits");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	while (READ_ONCE(entries) == before)
		msleep(20);
	return 0;
}
EXPORT_SYMBOL_GPL(jf_waits_enter);

/* @val: 1: a thread hits the tracepoint; 0: it has ended. */
static int enter_set(const char *val, const struct kernel_param *kp)
{
	bool enter;
	int err = kstrtobool(val, &enter);

	if (err)
		return err;
	if (enter)
		return jf_waits_enter();
	stop_thread();
	return 0;
}

static const struct kernel_param_ops enter_ops = { .set = enter_set };
module_param_cb(enter, &enter_ops, NULL, 0200);
MODULE_PARM_DESC(enter, "a thread hits the tracepoint");

/* @val: one probe more, or no more: either replaces the caller of the others. */
static int more_set(const char *val, const struct kernel_param *kp)
{
	bool more;
	int err = kstrtobool(val, &more);

	if (err)
		return err;
	return more ? register_jf_trace_waits(jf_waits_counter, &counts[2]) :
		      unregister_jf_trace_waits(jf_waits_counter, &counts[2]);
}

static const struct kernel_param_ops more_ops = { .set = more_set };
module_param_cb(more, &more_ops, NULL, 0200);
MODULE_PARM_DESC(more, "it has one probe more");

static int __init waits_init(void)
{
	int err = register_jf_trace_prio_waits(jf_waits_sleeper, &counts[0], 10);

	return err ?: register_jf_trace_waits(jf_waits_counter, &counts[1]);
}

static void __exit waits_exit(void)
{
	stop_thread();
}

module_init(waits_init);
module_exit(waits_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A probe that sleeps");
