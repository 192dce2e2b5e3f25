/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A thread of another process is borrowed: it stands, by ptrace(), calls functions that its
 * borrower names, and is given back as it was (borrow.c).
 *
 * API:
 *   borrow_begin()	of a thread that stands
 *   borrow_put()	text for the functions
 *   borrow_call()	it calls a function
 *   borrow_end()	it goes on where it stood
 *   borrow_leave()	after -ETIMEDOUT: it is given back, or finishes the call by itself
 */
#ifndef JF_BORROW_H
#define JF_BORROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "threads.h"

#define BORROW_XSTATE_MAX	16384
/* Of borrow_put(). */
#define BORROW_TEXT_MAX		4096

/**
 * struct borrow - a borrowed thread
 * @pid:      its process
 * @tid:      its number
 * @mem:      the memory of the process
 * @mmap:     the function of its C library, and @munmap
 * @restorer: code that does the system call SYS_rt_sigreturn, at which the return address of a
 *            signal handler leads
 * @marker:   a signal that it ignores by default
 * @thread:   as it stood
 * @until:    when it is to be given back
 * @saved:    its registers, and @xstate the others, @xsize bytes of these
 * @mask:     the signals that it blocks
 * @context:  where its stack has all of that, in the form of a signal handler's frame
 * @stack:    memory for the calls, 0 before there is any; and @code
 * @since:    when it stood
 */
struct borrow {
	pid_t			pid;
	pid_t			tid;
	int			mem;
	uint64_t		mmap;
	uint64_t		munmap;
	uint64_t		restorer;
	int			marker;
	struct seized		thread;
	uint64_t		until;
	struct user_regs_struct	saved;
	uint8_t			xstate[BORROW_XSTATE_MAX];
	size_t			xsize;
	uint64_t		mask;
	uint64_t		context;
	uint64_t		stack;
	uint64_t		code;
	uint64_t		since;
};

/*
 * 0 or -errno, after which the thread has to be given back all the same; -ENOSPC: its stack has
 * no room.
 */
int borrow_begin(struct borrow *b);
/* Its address in the process, until the next one; 0: it does not fit. */
uint64_t borrow_put(struct borrow *b, const char *text);
/* 0; -ESRCH: the thread has ended; -ETIMEDOUT: the function has not returned yet. */
int borrow_call(struct borrow *b, uint64_t function, uint64_t first, uint64_t second, uint64_t *result);
/* 0 or -ESRCH. */
int borrow_end(struct borrow *b);
/*
 * True: it only waited for a lock between @low and @high, and holds none; it goes on where it
 * stood. False: it will go on there when the call returns.
 */
bool borrow_leave(struct borrow *b, uint64_t low, uint64_t high);

#endif /* JF_BORROW_H */
