// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of functions with a site of one key each, in each of which the key leads to a
 * call at the end. While a quiesce reads them, another thread changes a key and a
 * dynamic function.
 *
 * /sys/kernel/debug/jf_crowd/
 *   do	write "quiesce": the key changes twice, then jf_quiesce()
 *   state	how long that took, and the longest change beside it, "name value", in ms
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

#include "../files.h"

static DEFINE_JF_KEY_FALSE(crowd);
static DEFINE_JF_KEY_FALSE(beside);
/* Functions of the kernel: as targets these are looked up in its symbols. */
DEFINE_DYNFUNC(beside_func, kfree);

static bool call_them;
module_param(call_them, bool, 0400);
MODULE_PARM_DESC(call_them, "call all of them, once");

#define F1(n)								\
	static noinline void crowd_##n(void *p)				\
	{								\
		if (jf_branch_unlikely(&crowd))				\
			return kfree(p);				\
		barrier();						\
	}
#define C1(n)	crowd_##n(p);
/* A macro is not expanded within itself. */
#define TEN1(x, n)	x(n##0) x(n##1) x(n##2) x(n##3) x(n##4)		\
			x(n##5) x(n##6) x(n##7) x(n##8) x(n##9)
#define TEN2(x, n)	x(n##0) x(n##1) x(n##2) x(n##3) x(n##4)		\
			x(n##5) x(n##6) x(n##7) x(n##8) x(n##9)
#define TEN3(x, n)	x(n##0) x(n##1) x(n##2) x(n##3) x(n##4)		\
			x(n##5) x(n##6) x(n##7) x(n##8) x(n##9)
#define F2(n)	TEN1(F1, n)
#define F3(n)	TEN2(F2, n)
#define F4(n)	TEN3(F3, n)
#define C2(n)	TEN1(C1, n)
#define C3(n)	TEN2(C2, n)

F4(1)
F4(2)
F4(3)
F4(4)

/* The compiler must not know that there is nothing to free. */
#define CALLS(n)							\
	static noinline void call_##n(void *p)				\
	{								\
		C3(n)							\
	}
TEN3(CALLS, 1)
TEN3(CALLS, 2)
TEN3(CALLS, 3)
TEN3(CALLS, 4)

static void call_all(void *p)
{
#define CALL(n)	call_##n(p);
	TEN1(CALL, 1)
	TEN1(CALL, 2)
	TEN1(CALL, 3)
	TEN1(CALL, 4)
}

static s64 quiesce_ms, change_ms;

static int change(bool on)
{
	int err = on ? jf_key_enable(&beside) : jf_key_disable(&beside);

	return err ?: dynfunc_update(beside_func, on ? kvfree : kfree);
}

static int change_beside(void *unused)
{
	bool on = false;
	ktime_t since;
	s64 ms;

	while (!kthread_should_stop()) {
		since = ktime_get();
		on = !on;
		if (change(on))
			pr_err("a change failed\n");
		ms = ktime_ms_delta(ktime_get(), since);
		if (ms > change_ms)
			change_ms = ms;
		msleep(20);
	}
	if (on)
		change(false);
	return 0;
}

static ssize_t do_write(struct file *file, const char __user *ubuf,
			size_t count, loff_t *pos)
{
	char buf[40], *cmd = test_command(buf, sizeof(buf), ubuf, count);
	struct task_struct *t;
	ktime_t since;

	if (IS_ERR(cmd))
		return PTR_ERR(cmd);
	if (strcmp(cmd, "quiesce"))
		return -EINVAL;
	if (jf_branch_unlikely(&beside))
		return -EBUSY;
	change_ms = 0;
	if (jf_key_enable(&crowd) || jf_key_disable(&crowd))
		return -EIO;
	t = kthread_run(change_beside, NULL, "crowd");
	if (IS_ERR(t))
		return PTR_ERR(t);
	since = ktime_get();
	jf_quiesce();
	quiesce_ms = ktime_ms_delta(ktime_get(), since);
	kthread_stop(t);
	return count;
}

TEST_WRITE_ONLY(do);

static int state_show(struct seq_file *m, void *v)
{
	seq_printf(m, "quiesce_ms %lld\n", quiesce_ms);
	seq_printf(m, "change_ms %lld\n", change_ms);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static struct dentry *dir;

static int __init crowd_init(void)
{
	if (call_them)
		call_all(NULL);
	dir = debugfs_create_dir("jf_crowd", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("state", 0400, dir, NULL, &state_fops);
	return 0;
}

static void __exit crowd_exit(void)
{
	debugfs_remove_recursive(dir);
}

module_init(crowd_init);
module_exit(crowd_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Thousands of functions with sites of one key");
