/* SPDX-License-Identifier: GPL-2.0 */
/* What a stack scan searches for (quiesce/sight.c). */
#ifndef JF_SIGHT_H
#define JF_SIGHT_H

#include "arch/arch.h"

/*
 * Make @sight: search for @text, for the calls that lead through what has changed,
 * and for what keys led to that had changed by replacement @keys. @seq: the latest
 * replacement that it knows of. 0, or -ENOMEM with @sight empty. Takes jf_mutex, may
 * sleep.
 */
int jf_sight_make(struct jf_sight *sight, const struct jf_spans *text,
		  u64 keys, u64 *seq);
void jf_sight_free(struct jf_sight *sight);
/*
 * Did the task that took this way take it without a call that has changed? Takes
 * jf_mutex, may sleep.
 */
bool jf_sight_is_other(struct jf_sight *sight, const struct jf_way *way);

#endif /* JF_SIGHT_H */
