// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that called a dynamic function by its name, with no site, and whose target
 * has jumped to a function outside, where it is at work: what keeps the target is
 * that it will return to a call of a trampoline that has been changed.
 *
 * /sys/kernel/debug/jf_named/
 *   do		write one of
 *		  go		a thread makes the call, and is at work when this returns
 *		  leave		it ends
 *		  probe, bare	a kprobe on its call, and none
 *		  quiesce MS	another target, then jf_quiesce_timeout()
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/dynfunc.h>

#include "../files.h"

/* A test that fails has to end. */
#define NAMED_LIMIT	(60 * HZ)

static bool leave = true;
static atomic_t at_work = ATOMIC_INIT(0), threads = ATOMIC_INIT(0);
static u64 result;

static noinline u64 named_work(u64 x)
{
	unsigned long end = jiffies + NAMED_LIMIT;

	atomic_inc(&at_work);
	while (!READ_ONCE(leave) && time_before(jiffies, end)) {
		cpu_relax();
		cond_resched();
	}
	atomic_dec(&at_work);
	/* A compiler that knew the result would not jump here. */
	OPTIMIZER_HIDE_VAR(x);
	return x;
}

static noinline u64 named_leads_away(u64 x)
{
	return named_work(x + 2);
}

static noinline u64 named_pass(u64 x)
{
	return x + 1;
}

DEFINE_DYNFUNC(named_op, named_pass);

static noinline void named_caller(void)
{
	WRITE_ONCE(result, dynfunc_named_op(1));
	/* No jump to it: this caller is on the stack. */
	barrier();
}

static int named_thread(void *arg)
{
	named_caller();
	atomic_dec(&threads);
	return 0;
}

static int go(void)
{
	struct task_struct *t;
	unsigned long end = jiffies + NAMED_LIMIT;
	int err = dynfunc_update(named_op, named_leads_away);

	if (err)
		return err;
	WRITE_ONCE(leave, false);
	t = kthread_run(named_thread, NULL, "jf_named");
	if (IS_ERR(t))
		return PTR_ERR(t);
	atomic_inc(&threads);
	while (!atomic_read(&at_work) && time_before(jiffies, end))
		msleep(20);
	return atomic_read(&at_work) ? 0 : -ETIME;
}

static struct kprobe kp;

/* The last call in there: sanitizers may have put some in front. */
static int probe(void)
{
	const u8 *text = (const u8 *)named_caller;
	s32 disp;
	int i;

	for (i = 0; i < 100; i++) {
#ifdef CONFIG_ARM64
		if (i % 4)
			continue;
		memcpy(&disp, text + i, sizeof(disp));
		if ((u32)disp >> 26 != 0x25 ||
		    (unsigned long)text + i + (disp << 6 >> 4) != (unsigned long)dynfunc_named_op)
			continue;
#else
		memcpy(&disp, text + i + 1, sizeof(disp));
		if (text[i] != 0xe8 ||
		    (unsigned long)text + i + 5 + disp - (unsigned long)dynfunc_named_op + 16 > 16)
			continue;
#endif
		memset(&kp, 0, sizeof(kp));
		kp.addr = (kprobe_opcode_t *)text + i;
		return register_kprobe(&kp);
	}
	return -ENOENT;
}

static int quiesce(unsigned int ms)
{
	return dynfunc_update(named_op, named_pass) ?:
	       jf_quiesce_timeout(msecs_to_jiffies(ms));
}

static int do_command(const char *cmd)
{
	unsigned int ms;

	if (!strcmp(cmd, "go"))
		return go();
	if (!strcmp(cmd, "probe"))
		return probe();
	if (!strcmp(cmd, "bare"))
		unregister_kprobe(&kp);
	else if (!strcmp(cmd, "leave"))
		WRITE_ONCE(leave, true);
	else if (sscanf(cmd, "quiesce %u", &ms) == 1)
		return quiesce(ms);
	else
		return -EINVAL;
	return 0;
}

TEST_COMMANDS;

static struct dentry *dir;

static int __init named_init(void)
{
	dir = debugfs_create_dir("jf_named", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	return 0;
}

static void __exit named_exit(void)
{
	debugfs_remove_recursive(dir);
	WRITE_ONCE(leave, true);
	while (atomic_read(&threads))
		msleep(20);
	/* It has yet to return. */
	msleep(200);
}

module_init(named_init);
module_exit(named_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A thread that called by name, and is elsewhere");
