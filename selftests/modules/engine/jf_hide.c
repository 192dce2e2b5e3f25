// SPDX-License-Identifier: GPL-2.0
/*
 * Hide-outs: threads that stay where a stack scan for old targets might miss them.
 *
 * As that of jf_hall, this module's notifier runs after jumpfunc's and before the
 * memory of an unloaded module is freed; threads inside then are counted as "early"
 * and waited for, so that a failed test does not end the machine.
 *
 * /sys/kernel/debug/jf_hide/
 *   do		write one of
 *		  shut, open	the gate; threads that wait for it leave
 *		  site		a thread makes one call
 *		  side		one makes a call of the other function
 *		  ptr CPU	a real-time thread makes one, by a pointer
 *		  live		a target of this module that stays at work until the gate
 *				opens
 *		  pass		the first target again
 *		  other		the first target of the other function again
 *		  hog CPU MS	one of higher priority takes that CPU, for so long
 *		  quiesce	jf_quiesce()
 *		  quiesce MS	jf_quiesce_timeout()
 *		  atomic N	N callbacks from each of eight threads, with preemption
 *				off, and jf_quiesce_barrier()
 *   stick	a task that closes this waits for the gate
 *   state	all known values, "name value"
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "../files.h"
#include "jf_hide.h"

/* No thread waits longer: a test that fails has to end. */
#define HIDE_LIMIT	(90 * HZ)

atomic_t hide_inside = ATOMIC_INIT(0);
EXPORT_SYMBOL_GPL(hide_inside);
void *hide_room;
EXPORT_SYMBOL_GPL(hide_room);

static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool gate_open = true;
/* Threads of ours that are on their way, and those in hide_live(). */
static atomic_t walkers, living;
/* Tasks that close "stick". */
static atomic_t stuck;
static int early;
static s64 quiesce_ms;

noinline void hide_wait(void)
{
	wait_event_timeout(gate, READ_ONCE(gate_open), HIDE_LIMIT);
}
EXPORT_SYMBOL_GPL(hide_wait);

noinline u64 hide_pass(u64 x)
{
	return x + 1;
}
EXPORT_SYMBOL_GPL(hide_pass);

DEFINE_DYNFUNC(hide_op, hide_pass);
EXPORT_DYNFUNC_GPL(hide_op);
DEFINE_DYNFUNC(hide_other, hide_pass);
EXPORT_DYNFUNC_GPL(hide_other);

static noinline u64 hide_live(u64 x)
{
	unsigned long end = jiffies + HIDE_LIMIT;

	atomic_inc(&living);
	while (!READ_ONCE(gate_open) && time_before(jiffies, end)) {
		cpu_relax();
		cond_resched();
	}
	atomic_dec(&living);
	return x;
}

/* --- threads ------------------------------------------------------------- */

static noinline void hide_by_site(void)
{
	dynfunc_call(hide_op, 1);
	/* No jump to it: this caller is on the stack. */
	barrier();
}

static noinline void hide_by_pointer(void)
{
	u64 (*f)(u64 x) = __JF_POINTER(hide_op);

	OPTIMIZER_HIDE_VAR(f);
	f(1);
	barrier();
}

static int site_thread(void *arg)
{
	hide_by_site();
	atomic_dec(&walkers);
	return 0;
}

static int side_thread(void *arg)
{
	dynfunc_call(hide_other, 1);
	atomic_dec(&walkers);
	return 0;
}

static int pointer_thread(void *arg)
{
	hide_by_pointer();
	atomic_dec(&walkers);
	return 0;
}

void hide_leaves(void)
{
	atomic_dec(&walkers);
}
EXPORT_SYMBOL_GPL(hide_leaves);

static int hog_thread(void *arg)
{
	unsigned long end = jiffies + msecs_to_jiffies((unsigned long)arg);

	while (time_before(jiffies, end))
		cpu_relax();
	atomic_dec(&walkers);
	return 0;
}

static int start(int (*fn)(void *), unsigned long arg, int cpu,
		 void (*policy)(struct task_struct *))
{
	struct task_struct *t = kthread_create(fn, (void *)arg, "jf_hide");

	if (IS_ERR(t))
		return PTR_ERR(t);
	if (cpu >= 0)
		kthread_bind(t, cpu);
	if (policy)
		policy(t);
	atomic_inc(&walkers);
	wake_up_process(t);
	return 0;
}

/* --- callbacks, from atomic context -------------------------------------- */

#define ATOMIC_THREADS	8

static atomic_t atomic_asked, atomic_called;
/* How many had not been called when jf_quiesce_barrier() returned. */
static int atomic_missed;

static void atomic_callback(struct jf_quiesce_head *head)
{
	atomic_inc(&atomic_called);
	kfree(head);
}

static int atomic_thread(void *arg)
{
	struct jf_quiesce_head *head;
	unsigned long n;

	for (n = 0; n < (unsigned long)arg; n++) {
		head = kmalloc(sizeof(*head), GFP_KERNEL);
		if (!head)
			break;
		atomic_inc(&atomic_asked);
		preempt_disable();
		jf_call_quiesced(head, atomic_callback);
		preempt_enable();
		cond_resched();
	}
	atomic_dec(&walkers);
	return 0;
}

static void slow_callback(struct jf_quiesce_head *head)
{
	msleep(1000);
}

void hide_ask_slow(void)
{
	static struct jf_quiesce_head head;

	jf_call_quiesced(&head, slow_callback);
}
EXPORT_SYMBOL_GPL(hide_ask_slow);

static int do_atomic(unsigned int n)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < ATOMIC_THREADS; i++)
		err = start(atomic_thread, n, -1, NULL);
	while (atomic_read(&walkers))
		msleep(20);
	jf_quiesce_barrier();
	WRITE_ONCE(atomic_missed,
		   atomic_read(&atomic_asked) - atomic_read(&atomic_called));
	return err;
}

/* --- modules that are unloaded ------------------------------------------- */

static int hide_notify(struct notifier_block *nb, unsigned long event,
		       void *data)
{
	const struct module *mod = data;
	unsigned long end = jiffies + HIDE_LIMIT;
	int n = atomic_read(&hide_inside);

	if (event != MODULE_STATE_GOING || !n ||
	    (strcmp(mod->name, "jf_hide_m") && strcmp(mod->name, "jf_hide_cb")))
		return NOTIFY_OK;
	pr_info("%s would be freed with %d inside\n", mod->name, n);
	WRITE_ONCE(early, early + n);
	while (atomic_read(&hide_inside) && time_before(jiffies, end))
		msleep(20);
	/* The last one has yet to return. */
	msleep(200);
	return NOTIFY_OK;
}

static struct notifier_block hide_nb = {
	.notifier_call = hide_notify,
	/* After jumpfunc, and all others. */
	.priority = INT_MIN,
};

/* --- files --------------------------------------------------------------- */

static int do_quiesce(int ms)
{
	ktime_t since = ktime_get();
	int err = 0;

	if (ms < 0)
		jf_quiesce();
	else
		err = jf_quiesce_timeout(msecs_to_jiffies(ms));
	WRITE_ONCE(quiesce_ms, ktime_ms_delta(ktime_get(), since));
	return err;
}

static int do_command(const char *cmd)
{
	int a = -1, b = 0;
	char what[16];

	if (sscanf(cmd, "%15s %d %d", what, &a, &b) < 1)
		return -EINVAL;
	if (!strcmp(what, "shut")) {
		WRITE_ONCE(gate_open, false);
		return 0;
	}
	if (!strcmp(what, "open")) {
		WRITE_ONCE(gate_open, true);
		wake_up_all(&gate);
		return 0;
	}
	if (!strcmp(what, "site"))
		return start(site_thread, 0, -1, NULL);
	if (!strcmp(what, "side"))
		return start(side_thread, 0, -1, NULL);
	/* With any other policy it would get a share of the hog's CPU, since 6.12. */
	if (!strcmp(what, "ptr"))
		return start(pointer_thread, 0, a, sched_set_fifo_low);
	if (!strcmp(what, "live"))
		return dynfunc_update(hide_op, hide_live);
	if (!strcmp(what, "pass"))
		return dynfunc_update(hide_op, hide_pass);
	if (!strcmp(what, "other"))
		return dynfunc_update(hide_other, hide_pass);
	if (!strcmp(what, "hog"))
		return start(hog_thread, b, a, sched_set_fifo);
	if (!strcmp(what, "quiesce"))
		return do_quiesce(a);
	if (!strcmp(what, "atomic"))
		return do_atomic(max(a, 0));
	return -EINVAL;
}

TEST_COMMANDS;

static int stick_release(struct inode *inode, struct file *file)
{
	atomic_inc(&stuck);
	hide_wait();
	atomic_dec(&stuck);
	return 0;
}

static const struct file_operations stick_fops = {
	.owner		= THIS_MODULE,
	.open		= simple_open,
	.release	= stick_release,
};

static int state_show(struct seq_file *m, void *v)
{
	seq_printf(m, "inside %d\n", atomic_read(&hide_inside));
	seq_printf(m, "living %d\n", atomic_read(&living));
	seq_printf(m, "walkers %d\n", atomic_read(&walkers));
	seq_printf(m, "stuck %d\n", atomic_read(&stuck));
	seq_printf(m, "early %d\n", READ_ONCE(early));
	seq_printf(m, "quiesce_ms %lld\n", READ_ONCE(quiesce_ms));
	seq_printf(m, "asked %d\n", atomic_read(&atomic_asked));
	seq_printf(m, "called %d\n", atomic_read(&atomic_called));
	seq_printf(m, "missed %d\n", READ_ONCE(atomic_missed));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static struct dentry *dir;

static int __init hide_init(void)
{
	int err;

	hide_room = vmalloc(HIDE_ROOM);
	if (!hide_room)
		return -ENOMEM;
	err = register_module_notifier(&hide_nb);
	if (err) {
		vfree(hide_room);
		return err;
	}
	dir = debugfs_create_dir("jf_hide", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("stick", 0600, dir, NULL, &stick_fops);
	debugfs_create_file("state", 0400, dir, NULL, &state_fops);
	return 0;
}

static void __exit hide_exit(void)
{
	debugfs_remove_recursive(dir);
	WRITE_ONCE(gate_open, true);
	wake_up_all(&gate);
	while (atomic_read(&walkers))
		msleep(20);
	/* They have yet to return. */
	msleep(200);
	unregister_module_notifier(&hide_nb);
	vfree(hide_room);
}

module_init(hide_init);
module_exit(hide_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Threads that stay where a search may miss them");
