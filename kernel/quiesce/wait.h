/* SPDX-License-Identifier: GPL-2.0 */
/* The interfaces between the files of this room: a wait until no task is in some text. */
#ifndef JF_WAIT_H
#define JF_WAIT_H

#include <linux/types.h>

#include "arch/stack.h"
#include "index/spans.h"

/* How long, in ms, until memory is asked for again. */
#define JF_PAUSE_MEM	100

struct jf_suspect;
struct module;
struct task_struct;

/**
 * struct jf_wait - a wait for quiet
 * @name:    of the waiter, for the log
 * @text:    the text of the search: it was replaced, or is about to be freed
 * @seq:     the latest replacement that @text has; 0: its records do not matter
 * @scan:    the part of it that is not in use again, as the architecture wants it
 * @made:    the latest change that @scan knows of
 * @suspect: the tasks that have to be scanned
 * @num:     how many these are
 * @max:     for how many there is room
 * @from:    while the CPUs stand still: the first one to scan
 * @to:      and the one after the last
 * @ns:      how long the CPUs stood still
 * @begun:   jiffies, when this began
 * @told:    jiffies, when the log was told the last time
 * @timeout: jiffies
 * @caller:  the task that waits: it is not waited for
 * @inside:  it is in the text itself
 * @stay:    gets the tasks that are inside when the time is over; NULL: they are not kept
 */
struct jf_wait {
	const char		*name;
	struct jf_spans		text;
	u64			seq;
	struct jf_scan		scan;
	u64			made;
	struct jf_suspect	*suspect;
	unsigned int		num, max, from, to;
	u64			ns;
	unsigned long		begun, told;
	long			timeout;
	struct task_struct	*caller;
	bool			inside;
	struct jf_stay		*stay;
};

/* --- rounds.c -------------------------------------------------------------- */

/*
 * Scan all tasks until each one has been seen outside. 0, -ETIMEDOUT, or -ENOMEM with
 * a timeout only.
 */
int jf_scan_until_quiet(struct jf_wait *w);
/* Jiffies until @w times out. */
long jf_time_left(const struct jf_wait *w);
/* @w waits for no task, but is held up by @err: the log says so now and then. */
void jf_tell_held_up(struct jf_wait *w, int err);

/* --- quiesce.c ------------------------------------------------------------- */

/* @w has a name, a text and a timeout. 0, -ETIMEDOUT or -ENOMEM, as above. */
int jf_wait_quiet(struct jf_wait *w);
/* Until no task is in anything that was replaced; then forget it. The same. */
int jf_quiesce_all(long timeout);

/* --- callback.c ------------------------------------------------------------ */

/* Wait until the callbacks of @mod have been called. False: not within @timeout. */
bool jf_calls_drain(struct module *mod, long timeout);

#endif /* JF_WAIT_H */
