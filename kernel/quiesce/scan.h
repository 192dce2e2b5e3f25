/* SPDX-License-Identifier: GPL-2.0 */
/* The text that a stack scan searches for (kernel/quiesce/scan.c). */
#ifndef JF_SCAN_H
#define JF_SCAN_H

#include "arch/stack.h"

/*
 * Make @scan: search for @text, less the code that is in use or forgotten. @begun: the latest
 * replacement that the wait covers, 0: no record is asked for; @seq: the latest change
 * that @scan knows of. 0, or -ENOMEM with @scan empty. Takes jf_mutex, may sleep.
 */
int jf_scan_make(struct jf_scan *scan, const struct jf_spans *text, u64 begun,
		 u64 *seq);
void jf_scan_free(struct jf_scan *scan);

#endif /* JF_SCAN_H */
