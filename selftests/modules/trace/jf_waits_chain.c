// SPDX-License-Identifier: GPL-2.0
/*
 * A notifier of modules. To add one takes a lock that no task gets while another one is in a
 * notifier; and as soon as a task asks for the lock, no module is loaded.
 */
#include <linux/module.h>
#include <linux/notifier.h>

static int chain_call(struct notifier_block *nb, unsigned long event, void *data)
{
	return NOTIFY_DONE;
}

static struct notifier_block chain_nb = {
	.notifier_call = chain_call,
};

static int __init chain_init(void)
{
	return register_module_notifier(&chain_nb);
}

static void __exit chain_exit(void)
{
	unregister_module_notifier(&chain_nb);
}

module_init(chain_init);
module_exit(chain_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A notifier of modules");
