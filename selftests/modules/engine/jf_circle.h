/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dynamic functions that lead to each other: two in a row, and three.
 *
 *	circle_a -> circle_b -> circle_two
 *	circle_1 -> circle_2 -> circle_3 -> circle_three
 */
#ifndef JF_CIRCLE_H
#define JF_CIRCLE_H

#include <jumpfunc/dynfunc.h>

int circle_type(int a);

DECLARE_DYNFUNC(circle_a, circle_type);
DECLARE_DYNFUNC(circle_b, circle_type);
DECLARE_DYNFUNC(circle_1, circle_type);
DECLARE_DYNFUNC(circle_2, circle_type);
DECLARE_DYNFUNC(circle_3, circle_type);

#endif
