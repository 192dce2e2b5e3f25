/* SPDX-License-Identifier: GPL-2.0 */
/* What a stack scan searches for (quiesce/scan.c). */
#ifndef JF_SCAN_H
#define JF_SCAN_H

#include "arch/stack.h"

/*
 * Make @scan: search for @text, for the calls that lead through what has changed,
 * and for what keys led to that had changed by replacement @keys. @seq: the latest
 * replacement that it knows of. 0, or -ENOMEM with @scan empty. Takes jf_mutex, may
 * sleep.
 */
int jf_scan_make(struct jf_scan *scan, const struct jf_spans *text,
		 u64 keys, u64 *seq);
void jf_scan_free(struct jf_scan *scan);
/*
 * Did the task that took this way take it without a call that has changed? Takes
 * jf_mutex, may sleep.
 */
bool jf_scan_is_other(struct jf_scan *scan, const struct jf_way *way);

#endif /* JF_SCAN_H */
