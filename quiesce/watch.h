/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks that come anew to what is searched for (quiesce/watch.c). */
#ifndef JF_WATCH_H
#define JF_WATCH_H

#include "arch/stack.h"

/*
 * Find out whether @t, which a scan has found at @where, returning to @back if that is
 * not 0, is outside at times. *@watch: as jf_arch_watch() has it. Takes jf_mutex, may
 * sleep. 0; -ENOENT if no instruction is found; -ENOMEM, or as jf_arch_watch().
 */
int jf_watch_add(struct jf_watch **watch, const struct jf_scan *scan,
		  struct task_struct *t, unsigned long where, unsigned long back);

#endif /* JF_WATCH_H */
