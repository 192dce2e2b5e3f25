// SPDX-License-Identifier: GPL-2.0
/*
 * Counts those of a task's memory allocations that jumpfunc makes while it is told that
 * a module is loaded, and lets one of them fail. The loader makes thousands of its own,
 * before and behind.
 *
 *   nth	write N: the Nth from now on fails, of the task that wrote it. Read: how many
 *		would still have to come before that one; 0: it has failed
 *
 * The count is the task's fail_nth, which two notifiers put in place and take away: one
 * right in front of jumpfunc's, one right behind.
 */
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>

static struct task_struct *who;		/* only compared */
static unsigned int left;
static bool inside;

static void enter(void)
{
	WRITE_ONCE(current->fail_nth, left);
	inside = left;
}

static void leave(void)
{
	left = READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
	inside = false;
}

static int before_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	if (current != who)
		return NOTIFY_DONE;
	/* COMING was refused in between, and this is the GOING that undoes it. */
	if (inside)
		leave();
	enter();
	return NOTIFY_DONE;
}

static int after_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	if (current == who && inside)
		leave();
	return NOTIFY_DONE;
}

static struct notifier_block before = {
	.notifier_call	= before_notify,
	.priority	= INT_MAX,
};

static struct notifier_block after = {
	.notifier_call	= after_notify,
	/* jumpfunc's has the one between. */
	.priority	= INT_MAX - 2,
};

static int nth_set(const char *val, const struct kernel_param *kp)
{
	int err = kstrtouint(val, 0, &left);

	if (err)
		return err;
	who = left ? current : NULL;
	inside = false;
	return 0;
}

static int nth_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%u\n", left);
}

static const struct kernel_param_ops nth_ops = {
	.set = nth_set,
	.get = nth_get,
};

module_param_cb(nth, &nth_ops, NULL, 0600);
MODULE_PARM_DESC(nth, "which allocation fails of those that jumpfunc makes for a module; 0: none");

static int __init nth_init(void)
{
	int err = register_module_notifier(&before);

	if (err)
		return err;
	err = register_module_notifier(&after);
	if (err)
		unregister_module_notifier(&before);
	return err;
}

static void __exit nth_exit(void)
{
	unregister_module_notifier(&after);
	unregister_module_notifier(&before);
}

module_init(nth_init);
module_exit(nth_exit);
MODULE_DESCRIPTION("jumpfunc: lets allocations fail that it makes for modules that are loaded");
MODULE_LICENSE("GPL");
