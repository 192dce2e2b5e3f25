/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A lock of one word, for code that runs where no C library may be called, and in signal handlers.
 * A thread that waits sleeps in the kernel, and the one that has the lock runs with its priority
 * for that time: a real-time thread that waited by itself would keep an ordinary one from ever
 * giving the lock back.
 *
 * A file that includes it defines JF_FUTEX(word, op, value, timeout), the system call, which
 * returns -errno.
 *
 * API:
 *   jf_pi_lock(word, own), jf_pi_unlock(word)
 */
#ifndef JF_PI_LOCK_H
#define JF_PI_LOCK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Of futex(). There is no header of the kernel for musl. */
#ifndef FUTEX_LOCK_PI_PRIVATE
#define FUTEX_WAIT_PRIVATE	(0 | 128)
#define FUTEX_LOCK_PI_PRIVATE	(6 | 128)
#define FUTEX_UNLOCK_PI_PRIVATE	(7 | 128)
#define FUTEX_TID_MASK		0x3fffffff
#endif

static inline bool jf_pi_take(uint32_t *word, uint32_t from, uint32_t own)
{
	/* Acquire: pairs with jf_pi_unlock(). */
	return __atomic_compare_exchange_n(word, &from, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/**
 * jf_pi_wait() - wait for a lock, once
 * @word: of the lock
 * @own:  this thread's number
 *
 * A kernel or a filter may not know such locks: then this waits for a while. The thread that has it
 * may have ended.
 *
 * Return: true, the thread has it
 */
static inline bool jf_pi_wait(uint32_t *word, uint32_t own)
{
	static const struct timespec a_while = { .tv_nsec = 1000000 };
	uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
	long err;

	if (!seen)
		return jf_pi_take(word, 0, own);
	err = JF_FUTEX(word, FUTEX_LOCK_PI_PRIVATE, 0, NULL);
	if (!err) {
		/* Pairs with jf_pi_unlock(). */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		return true;
	}
	if (err == -ESRCH)
		return jf_pi_take(word, seen, own);
	if (err != -EINTR && err != -EAGAIN)
		JF_FUTEX(word, FUTEX_WAIT_PRIVATE, seen, &a_while);
	return false;
}

/**
 * jf_pi_lock() - take the lock
 * @word: of it; 0: no thread has it
 * @own:  this thread's number
 *
 * Context: with signals blocked, if a handler may want it.
 */
static inline void jf_pi_lock(uint32_t *word, uint32_t own)
{
	if (jf_pi_take(word, 0, own))
		return;
	while (!jf_pi_wait(word, own))
		;
}

/**
 * jf_pi_unlock() - give it back
 * @word: of the lock, which this thread has
 */
static inline void jf_pi_unlock(uint32_t *word)
{
	uint32_t own = __atomic_load_n(word, __ATOMIC_RELAXED) & FUTEX_TID_MASK;

	/* Release: pairs with jf_pi_take(). Else a thread waits in the kernel. */
	if (!__atomic_compare_exchange_n(word, &own, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		JF_FUTEX(word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL);
}

#endif /* JF_PI_LOCK_H */
