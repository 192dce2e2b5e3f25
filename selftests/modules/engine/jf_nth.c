// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the memory allocations of a task that jumpfunc makes in its notifier, when a
 * module is loaded or unloaded, and lets one of them fail. The loader makes thousands
 * of its own, before and after.
 *
 *   nth	write N: the Nth from now on fails, of the task that wrote it. Read: how many
 *		are left until that one; 0: it has failed
 *   all	whether those that follow that one fail, too: where one fails, kvmalloc()
 *		has another way
 *
 * Two notifiers, one right before jumpfunc's and one right after, say when it
 * counts. Return probes on the two functions by which the kernel lets allocations fail
 * give the answer; the kernel's own count could not go on after the first one.
 */
#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

static bool all;
module_param(all, bool, 0600);
MODULE_PARM_DESC(all, "those after the one that fails do, too");

static struct task_struct *watched;
static unsigned int left;
static bool inside, hit;

/* kmemleak's own have __GFP_NOMEMALLOC. */
static bool shall_fail(gfp_t gfp)
{
	if (current != watched || !inside || !in_task() ||
	    gfp & (__GFP_NOFAIL | __GFP_NOMEMALLOC))
		return false;
	if (left)
		left--;
	if (left || (hit && !all))
		return false;
	hit = true;
	return true;
}

/* Not 0: the function's own result. */
static int slab_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return !shall_fail((__force gfp_t)regs_get_kernel_argument(regs, 1));
}

static int slab_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	regs_set_return_value(regs, -ENOMEM);
	return 0;
}

static int page_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return !shall_fail((__force gfp_t)regs_get_kernel_argument(regs, 0));
}

static int page_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	regs_set_return_value(regs, true);
	return 0;
}

static struct kretprobe slab = {
	.kp.symbol_name	= "should_failslab",
	.entry_handler	= slab_entry,
	.handler	= slab_return,
	.maxactive	= 64,
};

static struct kretprobe pages = {
	.kp.symbol_name	= "should_fail_alloc_page",
	.entry_handler	= page_entry,
	.handler	= page_return,
	.maxactive	= 64,
};

static struct kretprobe *probes[] = { &slab, &pages };

static int before_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	/* If it was refused in between, this is the GOING that undoes it. */
	if (current == watched)
		inside = !inside;
	return NOTIFY_DONE;
}

static int after_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	if (current == watched)
		inside = false;
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

static void watch(struct task_struct *task)
{
	if (watched)
		put_task_struct(watched);
	if (task)
		get_task_struct(task);
	inside = false;
	watched = task;
}

static int nth_set(const char *val, const struct kernel_param *kp)
{
	int err = kstrtouint(val, 0, &left);

	if (err)
		return err;
	hit = false;
	watch(left ? current : NULL);
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
	int err;

	err = register_kretprobes(probes, ARRAY_SIZE(probes));
	if (err)
		return err;
	err = register_module_notifier(&before);
	if (err)
		goto err_probes;
	err = register_module_notifier(&after);
	if (err)
		goto err_before;
	return 0;

err_before:
	unregister_module_notifier(&before);
err_probes:
	unregister_kretprobes(probes, ARRAY_SIZE(probes));
	return err;
}

static void __exit nth_exit(void)
{
	unregister_module_notifier(&after);
	unregister_module_notifier(&before);
	unregister_kretprobes(probes, ARRAY_SIZE(probes));
	watch(NULL);
}

module_init(nth_init);
module_exit(nth_exit);
MODULE_DESCRIPTION("jumpfunc: lets allocations fail that it makes for modules that are loaded and unloaded");
MODULE_LICENSE("GPL");
