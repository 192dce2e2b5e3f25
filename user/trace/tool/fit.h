/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The thread by which attach.c loads the agent: which one fits (fit.c). */
#ifndef JF_FIT_H
#define JF_FIT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "borrow.h"
#include "objects.h"
#include "threads.h"

#define RANGES_MAX	512

/**
 * struct range - of text that the thread must not be in
 * @from: its first byte
 * @to:   the byte after its last one
 */
struct range {
	uint64_t	from;
	uint64_t	to;
};

/**
 * struct attach - of the agent to a process
 * @pid:      the process
 * @agent:    the agent's file
 * @objects:  of the process
 * @linker:   the dynamic linker, and @libc
 * @range:    which the thread must not be in
 * @ranges:   how many
 * @full:     some ranges had no room
 * @borrow:   the thread
 * @dlopen:   functions of the C library, and @dlerror, which may be 0, @errno_at, @cancel
 * @mode:     of dlopen()
 * @attach:   __jf_agent_attach(); 0: the agent is to be loaded
 * @own:      the program has malloc() within itself
 * @late:     when the thread has to go on
 * @fits:     why no thread did, NULL: one did
 * @tried:    the result of the last thread; -EAGAIN: another one may do it
 * @unwinder: libdw's, NULL: none
 */
struct attach {
	pid_t			pid;
	char			agent[PATH_MAX];
	struct objects		objects;
	const struct object	*linker;
	const struct object	*libc;
	struct range		range[RANGES_MAX];
	size_t			ranges;
	bool			full;
	struct borrow		borrow;
	uint64_t		dlopen;
	uint64_t		dlerror;
	uint64_t		errno_at;
	uint64_t		cancel;
	uint64_t		mode;
	uint64_t		attach;
	bool			own;
	uint64_t		late;
	const char		*fits;
	int			tried;
	void			*unwinder;
};

/* No thread fits that is there. */
void add_range(struct attach *a, uint64_t from, uint64_t to);
/* The same of functions of an object that have such locks. */
void add_object(struct attach *a, const struct object *o);
/* For stacks that seem to have such a function. */
void begin_unwinder(struct attach *a);
/* Why a thread that stands does not fit; NULL: it does. */
const char *why_unfit(struct attach *a, const struct seized *t);

#endif /* JF_FIT_H */
