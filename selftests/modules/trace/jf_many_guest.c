// SPDX-License-Identifier: GPL-2.0
/* A module that leads a call of jf_trace_many.ko into itself, and is kept for that. */
#include <linux/module.h>

#include "jf_many.h"

static noinline void guest(void)
{
}

static int __init guest_init(void)
{
	return dynfunc_update_flags(many_call, guest, JF_PIN);
}

static void __exit guest_exit(void)
{
}

module_init(guest_init);
module_exit(guest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Is called by another module, and kept for it");
