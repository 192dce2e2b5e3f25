// SPDX-License-Identifier: GPL-2.0
/*
 * Offers a function to jf_leave_m, and is unloaded while that waits for its task. See
 * jf_leave.c.
 */
#include <linux/module.h>

#include "jf_leave.h"

static int leave_far(int x)
{
	return x + 3;
}

static int __init leave_offer_init(void)
{
	leave_offer = leave_far;
	return 0;
}

static void __exit leave_offer_exit(void)
{
	leave_offer = NULL;
}

module_init(leave_offer_init);
module_exit(leave_offer_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jf_leave: a target of a module that is unloaded");
