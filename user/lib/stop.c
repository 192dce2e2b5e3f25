// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Breakpoints that are no sites' (text.c), and where a thread goes on that meets one.
 *
 * A table by address, which the SIGTRAP handler reads without a lock. An entry is never removed:
 * its second word becomes 0. A table that is too small is replaced by one of twice the size and
 * stays where it is, for handlers that read it: so all tables together take at most twice the
 * memory of the last.
 */
#include "lib.h"

struct stop {
	_Atomic uintptr_t	at;
	_Atomic uintptr_t	to;
};

struct table {
	size_t		size;
	size_t		used;
	struct stop	stop[];
};

static struct table *_Atomic stops;

static size_t hash(uintptr_t at)
{
	return (size_t)((uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

/* The entry of @at, or the free one that will be. A quarter of all is free. */
static struct stop *look_up(struct table *t, uintptr_t at)
{
	size_t i = hash(at);

	for (;; i++) {
		struct stop *s = &t->stop[i & (t->size - 1)];
		uintptr_t have = atomic_load_explicit(&s->at, memory_order_relaxed);

		if (have == at || !have)
			return s;
	}
}

uintptr_t jf_stop_find(uintptr_t at)
{
	/* Pairs with the store in grow(): the entries that it had are there. */
	struct table *t = atomic_load_explicit(&stops, memory_order_acquire);
	struct stop *s = t ? look_up(t, at) : NULL;

	if (!s || atomic_load_explicit(&s->at, memory_order_relaxed) != at)
		return 0;
	/* Pairs with jf_stop_set(): its target was written before. */
	return atomic_load_explicit(&s->to, memory_order_acquire);
}

static int grow(void)
{
	struct table *t = atomic_load_explicit(&stops, memory_order_relaxed), *more;
	size_t size = t ? 2 * t->size : 256, i;

	more = jf_zalloc(sizeof(*more) + size * sizeof(more->stop[0]));
	if (!more)
		return -ENOMEM;
	more->size = size;
	for (i = 0; t && i < t->size; i++) {
		uintptr_t at = atomic_load_explicit(&t->stop[i].at, memory_order_relaxed);
		uintptr_t to = atomic_load_explicit(&t->stop[i].to, memory_order_relaxed);
		struct stop *s = to ? look_up(more, at) : NULL;

		if (!s)
			continue;
		atomic_store_explicit(&s->at, at, memory_order_relaxed);
		atomic_store_explicit(&s->to, to, memory_order_relaxed);
		more->used++;
	}
	/* Pairs with the load in jf_stop_find(). */
	atomic_store_explicit(&stops, more, memory_order_release);
	return 0;
}

int jf_stop_set(uintptr_t at, uintptr_t to)
{
	struct table *t = atomic_load_explicit(&stops, memory_order_relaxed);
	struct stop *s;

	if ((!t || t->used >= t->size / 4 * 3) && grow())
		return -ENOMEM;
	t = atomic_load_explicit(&stops, memory_order_relaxed);
	s = look_up(t, at);
	/*
	 * Pairs with jf_stop_find(), which may see the address first: that is as if neither were
	 * there.
	 */
	atomic_store_explicit(&s->to, to, memory_order_release);
	if (!atomic_load_explicit(&s->at, memory_order_relaxed)) {
		t->used++;
		atomic_store_explicit(&s->at, at, memory_order_release);
	}
	return 0;
}

void jf_stop_forget(uintptr_t start, uintptr_t end)
{
	struct table *t = atomic_load_explicit(&stops, memory_order_relaxed);
	size_t i;

	for (i = 0; t && i < t->size; i++) {
		uintptr_t at = atomic_load_explicit(&t->stop[i].at, memory_order_relaxed);

		if (at >= start && at < end)
			atomic_store_explicit(&t->stop[i].to, 0, memory_order_relaxed);
	}
}
