/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The losses of a trace, by ring.
 *
 * API:
 *   losses_read(l, folder)	of a trace, or of all traces in a folder
 *   losses_say(l)		the line at the end of a command
 *   losses_say_begins(l)	rings whose first records are not there any more
 *   losses_free(l)
 *   say_losses(folder)		read, say, free
 */
#ifndef JF_LOSSES_H
#define JF_LOSSES_H

#include "index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOSSES_TIDS	3
/* After a number. */
#define LOST_CALLS	" calls found no room in the agent: 4,096 of a thread can be within each other, and 8,192 on other stacks " \
			"at once, as far as there is memory; take fewer functions (-e)"

/**
 * struct ring_losses - of a ring
 * @ring:        its number in the trace
 * @seq:         of its oldest packet
 * @begin:       when that was begun, as the trace counts
 * @records:     that are there
 * @overwritten: that were, by later ones
 * @discarded:   that found no room
 * @pid:         of the process
 * @tid:         threads that have written what is there
 * @num_tids:    how many, also those beyond LOSSES_TIDS
 * @threads:     that have had the ring, with those that have nothing there any more
 * @timed:       @seconds and @ns are known
 * @seconds:     @begin since 1970
 * @ns:          and nanoseconds
 */
struct ring_losses {
	uint64_t	ring;
	uint64_t	seq;
	uint64_t	begin;
	uint64_t	records;
	uint64_t	overwritten;
	uint64_t	discarded;
	int		pid;
	uint32_t	tid[LOSSES_TIDS];
	unsigned int	num_tids;
	uint64_t	threads;
	bool		timed;
	int64_t		seconds;
	uint64_t	ns;
};

/**
 * struct thread_name - of a thread that has records
 * @pid:  of its process
 * @tid:  its number
 * @name: as the kernel had it
 */
struct thread_name {
	int		pid;
	uint32_t	tid;
	char		name[17];
};

/**
 * struct process_name - of a trace's process
 * @pid:  its number
 * @name: as the metadata has it
 */
struct process_name {
	int	pid;
	char	name[72];
};

/**
 * struct losses - of one trace or several
 * @records:     that are there
 * @overwritten: that were, by later ones
 * @discarded:   that found no room, with those that had no ring
 * @no_ring:     those alone
 * @calls:       of those that were discarded, calls for which the agent had no room
 * @why:         the last of these had none: an error number, or 0: more rings are not allowed
 * @removed:     files of packets that are not there any more
 * @err:         0, or why not all of it is known, -errno
 * @kept:        one of them is of mode keep
 * @ring:        of all traces, those first that have lost most
 * @num:         how many
 * @thread:      of all traces, by number
 * @num_threads: how many
 * @process:     each trace's
 * @num_processes: how many
 * @first:       of the present trace; as the members below, while it is read
 * @index:       by the ring's number
 * @uuid:        of the trace
 * @dir:         its folder
 * @pid:         its process
 * @freq:        of its clock; 0: it has none
 * @seconds:     of the clock's offset
 * @offset:      and cycles
 */
struct losses {
	uint64_t		records;
	uint64_t		overwritten;
	uint64_t		discarded;
	uint64_t		no_ring;
	uint64_t		calls;
	int			why;
	uint64_t		removed;
	int			err;
	bool			kept;
	struct ring_losses	*ring;
	size_t			num;
	struct thread_name	*thread;
	size_t			num_threads;
	struct process_name	*process;
	size_t			num_processes;
	size_t			first;
	struct index		index;
	uint8_t			uuid[16];
	int			dir;
	int			pid;
	uint64_t		freq;
	int64_t			seconds;
	uint64_t		offset;
};

/* 0, or -errno, which it has said: then not all is known. */
int losses_read(struct losses *l, const char *folder);
void losses_free(struct losses *l);
/* STATUS_OK, STATUS_LOST, or STATUS_FAILED if not all is known. */
int losses_say(const struct losses *l);
void losses_say_begins(const struct losses *l);
int say_losses(const char *folder);

#endif /* JF_LOSSES_H */
