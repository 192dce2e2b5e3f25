// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamic functions that lead to each other in a circle from the first: to be refused.
 * Nothing calls them.
 */
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>

int circle_bad_type(int a);

DECLARE_DYNFUNC(circle_bad_y, circle_bad_type);
DECLARE_DYNFUNC(circle_bad_z, circle_bad_type);
DEFINE_DYNFUNC(circle_bad_x, dynfunc_circle_bad_y);
DEFINE_DYNFUNC(circle_bad_y, dynfunc_circle_bad_z);
DEFINE_DYNFUNC(circle_bad_z, dynfunc_circle_bad_x);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Dynamic functions in a circle");
