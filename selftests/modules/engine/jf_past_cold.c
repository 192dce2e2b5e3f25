// SPDX-License-Identifier: GPL-2.0
/* A target that sleeps in the part that the compiler split off, while it is replaced. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/dynfunc.h>

static bool inside;
static int sink;

static noinline __cold void rare(long x)
{
	WRITE_ONCE(inside, true);
	msleep(3000);
	WRITE_ONCE(inside, false);
	barrier();
}

static noinline long past_cold_slow(long x)
{
	WRITE_ONCE(sink, x);
	if (unlikely(x > 100)) {
		rare(x);
		WRITE_ONCE(sink, sink + 1);
		barrier();
	}
	return x + READ_ONCE(sink);
}

static noinline long past_cold_other(long x)
{
	return x;
}
DEFINE_DYNFUNC(past_cold, past_cold_slow);

/* Parameters are set before its init function is called. */
static int early_set(const char *val, const struct kernel_param *kp)
{
	int err = dynfunc_update(past_cold, past_cold_other) ?:
		  dynfunc_update(past_cold, past_cold_slow);

	return err ?: jf_quiesce_timeout(HZ);
}

static const struct kernel_param_ops early_ops = { .set = early_set };
module_param_cb(early, &early_ops, NULL, 0200);
MODULE_PARM_DESC(early, "replace and wait for quiet, before init");

static int visitor(void *unused)
{
	dynfunc_call(past_cold, 500);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int __init past_cold_init(void)
{
	struct task_struct *t = kthread_run(visitor, NULL, "past_cold");
	int err, got;
	bool in;

	if (IS_ERR(t))
		return PTR_ERR(t);
	while (!READ_ONCE(inside))
		msleep(10);
	err = dynfunc_update(past_cold, past_cold_other);
	got = jf_quiesce_timeout(HZ);
	in = READ_ONCE(inside);
	pr_info("update %d, quiesce %d, %s\n", err, got,
		in ? "inside" : "outside");
	kthread_stop(t);
	return 0;
}

static void __exit past_cold_exit(void)
{
}

module_init(past_cold_init);
module_exit(past_cold_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Asleep in a cold part");
