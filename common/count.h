/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The number of users of a key that has some, without a lock: for the kernel module
 * (kernel/update/keys.c) and for libjumpfunc (user/lib/entity.c). No kernel header is needed.
 *
 * API:
 *   jf_count_inc(&count)	one more: 0, -EOVERFLOW, or -EAGAIN: the count is 0
 *   jf_count_dec(&count)	one less: 0, or -EAGAIN: the count is 1 or 0
 *
 * How it works: a count above 0 means that the sites are on and stay on. Only the holder of
 * the lock moves it between 0 and 1. An updater that disables a key stores 0 before it writes
 * the first site, and stores 1 again if it fails. Partners: the stores of a count under the lock,
 * jf_apply() and jf_freeze() in jf_core.c, jf_count_set() in user/lib. A caller that adds a user to
 * 1 or more sees the sites as that store left them.
 */
#ifndef JF_COUNT_H
#define JF_COUNT_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#else
#include <errno.h>
#include <limits.h>
#endif

/* If *@count is *@seen it becomes @next; otherwise *@seen receives it. A full barrier. */
static inline int jf_count_swap(int *count, int *seen, int next)
{
#ifdef __KERNEL__
	int was = *seen;

	*seen = cmpxchg(count, was, next);
	return *seen == was;
#else
	/* Partner: jf_count_set() in user/lib, and link_proxy(). */
	return __atomic_compare_exchange_n(count, seen, next, 0, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
#endif
}

static inline int jf_count_load(const int *count)
{
#ifdef __KERNEL__
	return READ_ONCE(*count);
#else
	return __atomic_load_n(count, __ATOMIC_RELAXED);
#endif
}

static inline int jf_count_inc(int *count)
{
	int n = jf_count_load(count);

	do {
		if (n <= 0)
			return -EAGAIN;
		if (n == INT_MAX)
			return -EOVERFLOW;
	} while (!jf_count_swap(count, &n, n + 1));
	return 0;
}

static inline int jf_count_dec(int *count)
{
	int n = jf_count_load(count);

	do {
		if (n <= 1)
			return -EAGAIN;
	} while (!jf_count_swap(count, &n, n - 1));
	return 0;
}

#endif /* JF_COUNT_H */
