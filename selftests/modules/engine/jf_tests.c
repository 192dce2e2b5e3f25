// SPDX-License-Identifier: GPL-2.0
/*
 * A target that executes branches all the time. Where nothing is patched it is
 * mostly in their tests, which stand elsewhere.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

static DEFINE_JF_KEY_FALSE(tests_key);
static bool inside, stop;
static int sink;

static noinline long tests_loop(long x)
{
	WRITE_ONCE(inside, true);
#ifdef CONFIG_X86_64
	/* No register has the function's address any more, as after any other call. */
	asm volatile("xor %%eax, %%eax; xor %%ecx, %%ecx; xor %%edx, %%edx;"
		     "xor %%esi, %%esi; xor %%edi, %%edi; xor %%r8d, %%r8d;"
		     "xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor %%r11d, %%r11d"
		     : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
		     "r11", "cc");
#endif
	while (!READ_ONCE(stop)) {
		if (jf_branch_unlikely(&tests_key))
			WRITE_ONCE(sink, 1);
		if (jf_branch_unlikely(&tests_key))
			WRITE_ONCE(sink, 2);
		if (jf_branch_unlikely(&tests_key))
			WRITE_ONCE(sink, 3);
		if (jf_branch_unlikely(&tests_key))
			WRITE_ONCE(sink, 4);
	}
	WRITE_ONCE(inside, false);
	return sink;
}

static noinline long tests_idle(long x)
{
	return x;
}
DEFINE_DYNFUNC(tests_op, tests_loop);

static int visitor(void *unused)
{
	dynfunc_call(tests_op, 5);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* @val: how often. The test reads the log. */
static int run_set(const char *val, const struct kernel_param *kp)
{
	unsigned int i, n, early = 0;
	struct task_struct *t;
	int err = kstrtouint(val, 0, &n);

	for (i = 0; !err && i < n; i++) {
		WRITE_ONCE(stop, false);
		err = dynfunc_update(tests_op, tests_loop);
		if (err)
			break;
		t = kthread_run(visitor, NULL, "jf_tests");
		if (IS_ERR(t))
			return PTR_ERR(t);
		while (!READ_ONCE(inside))
			msleep(10);
		err = dynfunc_update(tests_op, tests_idle);
		if (!err && !jf_quiesce_timeout(HZ))
			early += READ_ONCE(inside);
		WRITE_ONCE(stop, true);
		kthread_stop(t);
	}
	if (!err)
		pr_info("%u of %u returned early\n", early, n);
	return err;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "replace it while it runs, so often");

static int __init tests_init(void)
{
	return 0;
}

static void __exit tests_exit(void)
{
}

module_init(tests_init);
module_exit(tests_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A target that is mostly in the tests of branches");
