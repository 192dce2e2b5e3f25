// SPDX-License-Identifier: GPL-2.0
/* A dynamic function that leads to itself from the first: to be refused. Nothing calls it. */
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>

int circle_self_type(int a);

DECLARE_DYNFUNC(circle_self, circle_self_type);
DEFINE_DYNFUNC(circle_self, dynfunc_circle_self);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A dynamic function that leads to itself");
