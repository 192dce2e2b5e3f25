/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The common part of a program and a library of it. */
#ifndef HOSTILE_IMPORTS_H
#define HOSTILE_IMPORTS_H

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

DECLARE_JF_KEY_TRUE(app_on);
DECLARE_JF_KEY(app_off);
DECLARE_JF_KEY_ARRAY_TRUE(app_keys, 3);
DECLARE_JF_TRACE(app_event, JF_PROTO(int x), JF_ARGS(x));

/* In the first of all constructors, and in one when the library's tables are known. */
extern int lib_early_op, lib_early_keys, lib_early_own, lib_early_set;
extern int lib_then_op, lib_then_keys, lib_then_own;
extern int lib_then_set, lib_then_count, lib_then_watch;
extern int (*lib_early_target)(int x);
extern int lib_sum;
int lib_keys(void);
int lib_own(void);
int lib_own_set(void);
int lib_op(int x);
int lib_set(int on);
int lib_count(int up);
int lib_watch(int on);
void lib_fire(int x);

#endif /* HOSTILE_IMPORTS_H */
