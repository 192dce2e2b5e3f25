// SPDX-License-Identifier: GPL-2.0
/*
 * Lets the last step of jumpfunc's init that can fail do so, and gives other
 * tasks time to open the files that it has already shown.
 *
 *   delay	how long that step takes, in ms
 */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/processor.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

static unsigned int delay = 3000;
module_param(delay, uint, 0444);

static bool set;

static int fail_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	u64 end = ktime_get_mono_fast_ns() + delay * (u64)NSEC_PER_MSEC;

	while (ktime_get_mono_fast_ns() < end)
		cpu_relax();
	return 0;
}

static int fail_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	regs_set_return_value(regs, -ENOMEM);
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name	= "jf_events_init",
	.entry_handler	= fail_entry,
	.handler	= fail_return,
	.maxactive	= 4,
};

static int fail_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct module *mod = data;

	if (strcmp(mod->name, "jumpfunc"))
		return NOTIFY_DONE;
	if (val == MODULE_STATE_COMING) {
		set = !register_kretprobe(&probe);
	} else if (val == MODULE_STATE_GOING && set) {
		/* Some insmod try once more. */
		unregister_kretprobe(&probe);
		probe.kp.addr = NULL;
		probe.kp.flags = 0;
		set = false;
	}
	return NOTIFY_DONE;
}

static struct notifier_block nb = { .notifier_call = fail_notify };

static int __init init_fails_init(void)
{
	return register_module_notifier(&nb);
}

static void __exit init_fails_exit(void)
{
	unregister_module_notifier(&nb);
	if (set)
		unregister_kretprobe(&probe);
}

module_init(init_fails_init);
module_exit(init_fails_exit);
MODULE_DESCRIPTION("jumpfunc: makes its init fail at the end");
MODULE_LICENSE("GPL");
