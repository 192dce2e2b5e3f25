/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The common part of a program with the static library and an object with libjumpfunc.so. */
#ifndef HOSTILE_OTHER_COPY_H
#define HOSTILE_OTHER_COPY_H

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

int app_first(int i);
DECLARE_JF_KEY_TRUE(app_on);
DECLARE_DYNFUNC(app_op, app_first);

int plugin_on(void);
int plugin_op(int i);
int plugin_set(int on);
int plugin_own(int on);

#endif /* HOSTILE_OTHER_COPY_H */
