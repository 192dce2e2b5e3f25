/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The signals and the cancelling of a thread that has a lock, or must not end for another reason.
 *
 * Another thread can cancel this one just before it forbids that. Then the signal that ends this
 * thread is on its way, and glibc obeys the signal in the next system call that is a cancellation
 * point, all the same. So a call that does nothing comes first: glibc waits there for the signal.
 *
 * A cancelled thread ends as soon as cancelling is allowed again. Its own signals are let in before
 * its clean-up handlers run.
 */
#ifndef JF_LIB_MASK_H
#define JF_LIB_MASK_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

/**
 * struct __jf_guard - restores the signals of a thread that ends within a function
 * @was: the signals that it blocked before, or NULL
 */
struct __jf_guard {
	const sigset_t	*was;
};

static inline void __jf_guard_end(const struct __jf_guard *g)
{
	if (g->was)
		pthread_sigmask(SIG_SETMASK, g->was, NULL);
}

/* @was: the signals that the thread blocked before, or NULL. The state for jf_cancel_allow(). */
static inline int jf_cancel_forbid(const sigset_t *was)
{
	struct __jf_guard guard __attribute__((__cleanup__(__jf_guard_end))) = { was };
	int state, type, saved = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS) {
		close(-1);
		pthread_setcanceltype(type, NULL);
	}
	errno = saved;
	guard.was = NULL;
	return state;
}

/* The thread can end here. */
static inline void jf_cancel_allow(int state, const sigset_t *was)
{
	struct __jf_guard guard __attribute__((__cleanup__(__jf_guard_end), __unused__)) = { was };
	int now;

	pthread_setcancelstate(state, &now);
}

#endif /* JF_LIB_MASK_H */
