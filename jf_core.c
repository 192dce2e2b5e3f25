// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Dynamic functions, jump labels and static-call tracepoints for modules");
