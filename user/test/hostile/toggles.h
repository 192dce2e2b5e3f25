/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A thread that changes a key all the time, beside a heap of the program's own. */
#ifndef HOSTILE_TOGGLES_H
#define HOSTILE_TOGGLES_H

#include <jumpfunc/branch.h>
#include <stdatomic.h>

#include "heap.h"

DEFINE_JF_KEY_FALSE(key);

/* True in the thread that makes changes. */
static __thread int changes;
static _Atomic int stop;

static void *toggle(void *arg)
{
	changes = 1;
	while (!stop) {
		(void)!jf_key_enable(&key);
		(void)!jf_key_disable(&key);
	}
	return arg;
}

/* A site: without one nothing would be changed. */
int is_on(void);
int is_on(void)
{
	return jf_branch_unlikely(&key);
}

#endif /* HOSTILE_TOGGLES_H */
