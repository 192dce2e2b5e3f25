/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Counting the events of a trace's folder that is being written: the records since the last time.
 *
 * API:
 *   tally_begin(t, folder)	records that are there already do not count
 *   tally_look(t)		t->event[id].now, t->seen, t->total, and the same of each ring
 *   tally_end(t)
 *   tally_metadata(dir, &size)	the metadata of a folder, for free(); NULL: it cannot be read
 *
 * Records that were overwritten between two looks are in totals alone. Of which events they were is
 * estimated ring by ring: another thread's are others. The folder may be hostile.
 */
#ifndef JF_TALLY_H
#define JF_TALLY_H

#include "index.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_EVENTS	65536

/**
 * struct tally_event - an event of the trace
 * @name: of it, or NULL
 * @now:  records since the last time that were seen
 * @made: since the last time, also those that were not seen: an estimate
 * @ever: since tally_begin()
 */
struct tally_event {
	char		*name;
	uint64_t	now;
	double		made;
	uint64_t	ever;
};

/**
 * struct tally_packet - of a file
 * @ring:  as its name says
 * @seq:   of its last packet, the last time
 * @mark:  its state then, so that a file that has not changed is not read
 * @count: by id: how many that had
 * @room:  ids of @count
 */
struct tally_packet {
	uint64_t	ring;
	uint64_t	seq;
	uint64_t	mark[2];
	uint32_t	*count;
	uint32_t	room;
};

/**
 * struct tally_ring - of a thread, or of several one after the other
 * @ring:      its number
 * @tid:       thread of the newest packet
 * @name:      of that
 * @seq:       of that
 * @over:      records that were overwritten before it
 * @lost:      that were discarded
 * @records:   that its packets have now
 * @sums:      totals of the last time
 * @seen:      records since the last time that were seen
 * @total:     that were made since then
 * @discarded: that found no room since then
 * @count:     by id: those that were seen
 * @room:      ids of @count
 */
struct tally_ring {
	uint64_t	ring;
	uint32_t	tid;
	char		name[17];
	uint64_t	seq;
	uint64_t	over;
	uint64_t	lost;
	uint64_t	records;
	uint64_t	sums[2];
	uint64_t	seen;
	uint64_t	total;
	uint64_t	discarded;
	uint32_t	*count;
	uint32_t	room;
};

/**
 * struct tally - of a folder
 * @folder:    of the trace
 * @dir:       opened
 * @packet:    its files
 * @num:       how many
 * @by_name:   index of @packet, by the numbers in a file's name
 * @by_ring:   index of @ring
 * @ring:      those that there are
 * @rings:     how many
 * @event:     by id
 * @last:      the highest id that has a name or a record
 * @seen:      records since the last time that were seen
 * @total:     that were made since then
 * @discarded: that found no room since then
 * @metadata:  its size, the last time
 */
struct tally {
	char			folder[PATH_MAX];
	int			dir;
	struct tally_packet	*packet;
	size_t			num;
	struct index		by_name;
	struct index		by_ring;
	struct tally_ring	*ring;
	size_t			rings;
	struct tally_event	*event;
	uint32_t		last;
	uint64_t		seen;
	uint64_t		total;
	uint64_t		discarded;
	uint64_t		metadata;
};

/* 0, -ENODATA: no trace, or the error of a system call. */
int tally_begin(struct tally *t, const char *folder);
int tally_look(struct tally *t);
void tally_end(struct tally *t);
char *tally_metadata(int dir, uint64_t *size);

#endif /* JF_TALLY_H */
