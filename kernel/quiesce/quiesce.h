/* SPDX-License-Identifier: GPL-2.0 */
/* Waits until no task is left in some text (kernel/quiesce/quiesce.c). */
#ifndef JF_QUIESCE_H
#define JF_QUIESCE_H

#include <linux/types.h>

#include "index/spans.h"

struct jf_suspect;
struct module;
struct workqueue_struct;

/**
 * struct jf_stay - tasks that were inside when a wait timed out
 * @suspect: they, with references
 * @num:     how many; 0: it is not known which
 */
struct jf_stay {
	struct jf_suspect	*suspect;
	unsigned int		num;
};

/* Where number @i was; 0: that is not known. */
unsigned long jf_stay_where(const struct jf_stay *s, unsigned int i);
/* True if a stay can be over: a task has executed something since, or that is unknown. */
bool jf_stay_moved(const struct jf_stay *s);
void jf_stay_free(struct jf_stay *s);

/**
 * jf_quiesce_spans() - wait until no task is in certain text
 * @name:    of the waiter, for the log
 * @spans:   the text; nothing may lead there any more
 * @timeout: jiffies, or MAX_SCHEDULE_TIMEOUT. 0: each task is scanned once
 * @stay:    with -ETIMEDOUT, the tasks that were inside; empty before
 *
 * This finds code only: a function that the text jumped to as its last act may
 * still use the data of the text. Context: may sleep, no locks of ours, not
 * under cpus_read_lock(). Return: 0, -ETIMEDOUT, or -ENOMEM with a timeout
 * only.
 */
int jf_quiesce_spans(const char *name, const struct jf_spans *spans, long timeout,
		     struct jf_stay *stay);
/*
 * The text of a module is about to be freed, and nothing leads into it any more:
 * wait until its callbacks have run and, if it has ever been a @target, until
 * no task is in it. It is not enough that no task is in the former targets,
 * since these may have called a helper in the module by a jump.
 * 0; or, with a @timeout (jiffies) other than MAX_SCHEDULE_TIMEOUT, -ETIMEDOUT, -EBUSY
 * or -ENOMEM: call it again.
 */
int jf_quiesce_module(struct module *mod, bool target, long timeout);

/* For work that waits for others. */
extern struct workqueue_struct *jf_wq;

int jf_quiesce_init(void);
void jf_quiesce_exit(void);

#endif /* JF_QUIESCE_H */
