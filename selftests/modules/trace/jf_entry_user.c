// SPDX-License-Identifier: GPL-2.0
/*
 * Two probes of jf_entry that check their arguments about jf_foreign's functions, and
 * commands for jf_probes_set(). Unloaded with leave=1 it does not unregister them.
 */
#include <linux/module.h>
#include <linux/string.h>

#include <jumpfunc/entry.h>

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "unload with the probes registered");

static atomic_t adds, steps, others, bad;

static int counter_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops counter_ops = { .get = counter_get };
module_param_cb(adds, &counter_ops, &adds, 0444);
module_param_cb(steps, &counter_ops, &steps, 0444);
module_param_cb(others, &counter_ops, &others, 0444);
module_param_cb(bad, &counter_ops, &bad, 0444);

static void entered(void *data, const struct jf_entry *e, unsigned long caller,
		    const void *args)
{
	unsigned int i;

	if (data != &adds)
		atomic_inc(&bad);
	if (strcmp(e->module, "jf_foreign") || strcmp(e->function, "foreign_add")) {
		atomic_inc(&others);
		return;
	}
	atomic_inc(&adds);
	for (i = 1; i < 6; i++)
		if (jf_entry_arg(args, i) != i + 1)
			atomic_inc(&bad);
	if (jf_entry_arg(args, 6) || !caller)
		atomic_inc(&bad);
}

static void stepped(void *data, const struct jf_entry *e, unsigned long caller,
		    const void *args)
{
	if (data != &steps)
		atomic_inc(&bad);
	if (!strcmp(e->function, "foreign_step"))
		atomic_inc(&steps);
}

static int set_set(const char *val, const struct kernel_param *kp)
{
	return jf_probes_set(val);
}

static const struct kernel_param_ops set_ops = { .set = set_set };
module_param_cb(set, &set_ops, NULL, 0200);
MODULE_PARM_DESC(set, "a command for jf_probes_set()");

static int __init entry_user_init(void)
{
	int err = register_jf_trace_jf_entry(entered, &adds);

	if (err)
		return err;
	err = register_jf_trace_jf_entry(stepped, &steps);
	if (err)
		WARN_ON(unregister_jf_trace_jf_entry(entered, &adds));
	return err;
}

static void __exit entry_user_exit(void)
{
	if (leave)
		return;
	WARN_ON(unregister_jf_trace_jf_entry(entered, &adds));
	WARN_ON(unregister_jf_trace_jf_entry(stepped, &steps));
}

module_init(entry_user_init);
module_exit(entry_user_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probes of entries of another module's functions");
