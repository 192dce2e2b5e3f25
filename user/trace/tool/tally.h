/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Counting the events of a trace's folder that is being written: what was recorded since the last time.
 *
 * API:
 *   tally_begin(t, folder)	what is there already does not count
 *   tally_look(t)		what came since: t->event[id].now, t->seen, t->total
 *   tally_end(t)
 *
 * Records that were overwritten between two looks are in t->total alone. The folder may be hostile.
 */
#ifndef JF_TALLY_H
#define JF_TALLY_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_EVENTS	65536

/**
 * struct tally_event - an event of the trace
 * @name: of it, or NULL
 * @now:  records since the last time that were seen
 * @ever: since tally_begin()
 */
struct tally_event {
	char		*name;
	uint64_t	now;
	uint64_t	ever;
};

/**
 * struct tally_packet - of a file
 * @used:  it is one
 * @ring:  as its name says
 * @seq:   that it had the last time
 * @mark:  what it had, so that a file that has not changed is not read
 * @count: by id: how many it had
 * @room:  ids of @count
 */
struct tally_packet {
	char		name[32];
	uint64_t	ring;
	uint64_t	seq;
	uint64_t	mark[2];
	uint32_t	*count;
	uint32_t	room;
};

/**
 * struct tally - of a folder
 * @folder:    of the trace
 * @dir:       opened
 * @packet:    its files
 * @num:       how many
 * @event:     by id
 * @seen:      records since the last time that were seen
 * @total:     that were made since then
 * @discarded: that found no room since then
 * @sums:      totals of the last time
 * @metadata:  its size, the last time
 */
struct tally {
	char			folder[PATH_MAX];
	int			dir;
	struct tally_packet	*packet;
	size_t			num;
	struct tally_event	*event;
	uint64_t		seen;
	uint64_t		total;
	uint64_t		discarded;
	uint64_t		sums[2];
	uint64_t		metadata;
};

/* 0, -ENODATA: no trace, or the error of a system call. */
int tally_begin(struct tally *t, const char *folder);
int tally_look(struct tally *t);
void tally_end(struct tally *t);

#endif /* JF_TALLY_H */
