/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The signals and the cancelling of a thread that has a lock, or must not end for another reason.
 *
 * libc leaves its own signals out of each set that it blocks, and one of them ends a cancelled
 * thread. Another thread can send that signal just before this one forbids cancelling. Then glibc
 * ends this thread in its next system call that is a cancellation point, all the same. So these
 * functions ask the kernel, which blocks each signal.
 *
 * A cancelled thread ends as soon as cancelling is allowed again. Its own signals are let in before
 * its clean-up handlers run.
 */
#ifndef JF_LIB_MASK_H
#define JF_LIB_MASK_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JF_MASK_OF(sig)		(UINT64_C(1) << ((sig) - 1))
#define JF_MASK_ALL		UINT64_MAX
/* All signals that a thread does not cause itself. */
#define JF_MASK_OTHERS		(JF_MASK_ALL & ~(JF_MASK_OF(SIGTRAP) | JF_MASK_OF(SIGSEGV) | JF_MASK_OF(SIGBUS) | \
				 JF_MASK_OF(SIGFPE) | JF_MASK_OF(SIGILL) | JF_MASK_OF(SIGSYS)))

/* @was: NULL, or gets the signals that were blocked. */
static inline void jf_mask_set(int how, uint64_t set, sigset_t *was)
{
	if (was)
		sigemptyset(was);
	syscall(SYS_rt_sigprocmask, how, &set, was, sizeof(set));
}

static inline void __jf_mask_restore(const sigset_t *const *was)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, *was, NULL, sizeof(uint64_t));
}

static inline void jf_mask_restore(const sigset_t *signals, int cancel)
{
	const sigset_t *was __attribute__((__cleanup__(__jf_mask_restore), __unused__)) = signals;
	int now;

	pthread_setcancelstate(cancel, &now);
}

#endif /* JF_LIB_MASK_H */
