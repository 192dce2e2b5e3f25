// SPDX-License-Identifier: GPL-2.0
/* A module that registers another one's probe, with data of its own. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>

#include "jf_trace_lend.h"

static int borrow_data = 42;

static bool forgets;
module_param(forgets, bool, 0444);
MODULE_PARM_DESC(forgets, "do not unregister the probe");

static int __init borrow_init(void)
{
	return register_jf_trace_lend(jf_trace_lend_probe, &borrow_data);
}

static void __exit borrow_exit(void)
{
	if (!forgets)
		WARN_ON(unregister_jf_trace_lend(jf_trace_lend_probe, &borrow_data));
	/* A probe that reads it after this module is unloaded finds that, or faults. */
	borrow_data = 0;
}

module_init(borrow_init);
module_exit(borrow_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Registers a probe of another module");
