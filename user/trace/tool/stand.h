/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * All threads of a process stand, by ptrace().
 *
 * API:
 *   stand_all(s)	those that are there, and those that they make until they stand; 0 or -errno
 *   let_go(s)		they go on
 *   let_late_go(s)	those that were seized, and did not stand
 *   is_past(s, ms)	has the stop lasted so long
 */
#ifndef JF_STAND_H
#define JF_STAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "threads.h"

/* Processes with the same memory. */
#define SHARERS_MAX	64U
/* The kernel's numbers of threads are below. */
#define TIDS_MAX	(1U << 22)

/**
 * struct standing - threads that are to stand
 * @pid:    the process, and those that have its memory
 * @pids:   of them
 * @thread: those that are known
 * @num:    of them
 * @room:   for how many there is room
 * @known:  a bit for each number of a thread
 * @since:  when the first of them was to stand
 * @asleep: the thread that cannot be interrupted
 * @untold: it cannot be told which processes have this memory
 * @one:    a thread that has it
 */
struct standing {
	pid_t			pid[SHARERS_MAX];
	unsigned int		pids;
	struct seized		*thread;
	size_t			num;
	size_t			room;
	uint8_t			*known;
	uint64_t		since;
	pid_t			asleep;
	bool			untold;
	pid_t			one;
};

int stand_all(struct standing *s);
void let_go(struct standing *s);
void let_late_go(struct standing *s);
bool is_past(const struct standing *s, unsigned int ms);

#endif /* JF_STAND_H */
