/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Threads of another process, by ptrace() and /proc: the common part of the stop of all (stop.c)
 * and the loading of the agent (attach.c).
 *
 * API:
 *   thread_stat(), thread_is_none(), thread_sleeps()	what /proc says of a thread
 *   thread_seize(), thread_look()			a thread stops, without a signal
 *   thread_let_go()					it goes on, in its system call too
 *   stack_is_clear()					no word of a thread's stack is one of those
 *   why_not_traced()					why ptrace() is not permitted
 *   status_line()					a line of /proc/PID/status
 *   now_ns(), rest()					the monotonic clock, and a pause
 */
#ifndef JF_THREADS_H
#define JF_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct seized - a thread
 * @pid:    its process
 * @tid:    its number
 * @stands: it has stopped
 * @gone:   it has ended, or never executes text
 * @sig:    the signal that it was about to get
 */
struct seized {
	pid_t	pid;
	pid_t	tid;
	bool	stands;
	bool	gone;
	int	sig;
};

/* Its state, its flags, and where its stack was when it began. */
bool thread_stat(pid_t pid, pid_t tid, char *state, unsigned long *flags, unsigned long *stack);
/* One that has ended and is still listed, or executes none of the process's text. */
bool thread_is_none(pid_t pid, pid_t tid);
/* It cannot be interrupted: it waits for a disk, or for its child of vfork(). */
bool thread_sleeps(pid_t pid, pid_t tid);
/*
 * 0, also if it has ended, or -errno. Only the end of this process lets go of a thread that does
 * not stop.
 */
int thread_seize(struct seized *t);
/* Whether it stands by now. */
void thread_look(struct seized *t);

/*
 * A thread that stands goes on. System calls that are not restarted after a stop (signal(7)), as
 * epoll_wait() is not, and end with EINTR, are executed again if no signal has come; their
 * time-outs begin anew. The kernel goes on with a sleep by a call of its own, restart_syscall(). A
 * thread with a filter of system calls executes its sleep again, unless all filters can be read and
 * allow that call. False: it has ended.
 */
bool thread_let_go(const struct seized *t);
/*
 * One that was interrupted and did not stand: with a filter it is waited for, and goes on in its
 * call. The end of this process lets go of others.
 */
void thread_let_go_late(struct seized *t);
/* number_each() of a process's threads. */
int thread_each(pid_t pid, number_fn *fn, void *arg);
/* Has a thread of the process a filter of system calls. */
bool thread_any_filter(pid_t pid);

/**
 * struct stack_look - words that a stack must not have
 * @pid:      the process
 * @handlers: the thread can be in a signal handler on another stack (sigaltstack)
 * @is_in:    is this word one
 * @is_late:  it takes too long
 * @arg:      of both
 */
struct stack_look {
	pid_t	pid;
	bool	handlers;
	bool	(*is_in)(uint64_t word, void *arg);
	bool	(*is_late)(void *arg);
	void	*arg;
};

/*
 * From @at up to @end. False: it has such a word, or it cannot be told where the stack ends. If a
 * handler's frame says that a signal interrupted the thread on a lower stack, also from there. On a
 * handler's stack: all of that, then the stack that the frame names. The code that makes a
 * coroutine by a handler leaves such a frame, too: the frame proves no more than where the thread
 * was then.
 */
bool stack_is_clear(const struct stack_look *look, uint64_t at, uint64_t end);

/* Why ptrace() is not permitted, and the remedy. @untold: it is kcmp(). */
void why_not_traced(pid_t pid, bool untold, char *buf, size_t size);

/*
 * The text after @name in /proc/PID/status, cut to @size. False: it has no such line, or is gone.
 */
bool status_line(pid_t pid, const char *name, char *buf, size_t size);
/* The number that a process has in its own name space; 0: unknown. */
pid_t inner_number(pid_t pid);

uint64_t now_ns(void);
/* @ns: less than a second. */
void rest(long ns);

#endif /* JF_THREADS_H */
