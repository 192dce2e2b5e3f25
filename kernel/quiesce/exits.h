/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks that exit, and may be on no list of the kernel any more (kernel/quiesce/exits.c). */
#ifndef JF_EXITS_H
#define JF_EXITS_H

#include <linux/types.h>

struct task_struct;
struct workqueue_struct;

/*
 * Call @fn for each of them that has a stack. With all CPUs stopped.
 */
void jf_exits_each_stopped(void (*fn)(struct task_struct *t, void *arg),
			   void *arg);
/* Drop those whose stack has gone. May sleep. */
void jf_exits_trim(void);

/*
 * Of some tasks only Tasks RCU knows, because they found no room here: how many these
 * are so far, that it has waited for so many since, and whether some are left.
 */
unsigned int jf_exits_num_lost(void);
void jf_exits_found(unsigned int lost);
bool jf_exits_any_lost(void);

/* @wq: for the work that drops tasks. */
int jf_exits_init(struct workqueue_struct *wq);
void jf_exits_exit(void);

#endif /* JF_EXITS_H */
