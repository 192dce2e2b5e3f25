/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * How often each thread has come by each event, as a trace's folder has it: by counters
 * (JF_RECORD_COUNT), or by its records.
 *
 * API:
 *   counts_each(dir, fn, arg)	calls @fn for each counter that is not 0
 *   records_each(dir, fn, arg)	the same for the records of each packet
 *   put_records(to, folder)	a table of that
 *
 * The folder may be hostile: only numbers are read, and names that are shown.
 */
#ifndef JF_COUNT_H
#define JF_COUNT_H

#include <stdint.h>
#include <stdio.h>

struct jf_counts;

/* @counts: of the thread; its @count[] is not there. @id: of the event. */
typedef void counts_fn(const struct jf_counts *counts, uint32_t id, uint64_t num, void *arg);

/* @dir: the folder, opened. 0, or -errno: then not all was read. */
int counts_each(int dir, counts_fn *fn, void *arg);
int records_each(int dir, counts_fn *fn, void *arg);
/* STATUS_OK, or STATUS_FAILED, of which the user was told. */
int put_records(FILE *to, const char *folder);

#endif /* JF_COUNT_H */
