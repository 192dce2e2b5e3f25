/* SPDX-License-Identifier: GPL-2.0 */
/* What jf_past*.c share. */
#ifndef JF_PAST_H
#define JF_PAST_H

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

DECLARE_JF_KEY(past_key);
long past_type(long x);
void past_hook_type(int *seen);
/* Sleeps, if it is asked to. */
long past_leaf(long x);

#endif /* JF_PAST_H */
