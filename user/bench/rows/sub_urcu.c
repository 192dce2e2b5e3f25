// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * SUBSCRIBERS of an event in an array that can be exchanged while it is in use: a pointer publishes
 * the array, and a read section of liburcu protects its readers, as in LTTng-UST. One function
 * serves all events, so little code is executed.
 */
#define _GNU_SOURCE
#define _LGPL_SOURCE
#define URCU_INLINE_SMALL_FUNCTIONS
#ifdef URCU_BP
#include <urcu/urcu-bp.h>
#define urcu(name)	urcu_bp_##name
#define ARRAY_ROW	"array-urcu-bp", "array, read section of urcu-bp"
#else
#include <urcu/urcu-memb.h>
#define urcu(name)	urcu_memb_##name
#define ARRAY_ROW	"array-urcu-memb", "array, read section of urcu-memb"
#endif

#include "row.h"

struct subscriber {
	bench_probe_fn *func;
	void *data;
};

struct subscriber OWN(arrays)[FEW][SUBSCRIBERS + 1], *OWN(published)[FEW];
int OWN(data)[FEW][SUBSCRIBERS][CACHE_LINE / sizeof(int)];

static __attribute__((noinline)) void iterate(struct subscriber **where, int number, long length)
{
	const struct subscriber *s;

	urcu(read_lock)();
	s = rcu_dereference(*where);
	if (s)
		do {
			s->func(s->data, number, length);
		} while ((++s)->func);
	urcu(read_unlock)();
}

#define NO_RANDOM
#define BODY
#define SITE(hi, lo)	iterate(&OWN(published)[SITE_INDEX(hi, lo)], bench_arg1, bench_arg2)
#include "loops.h"

/* One for all rows: a thread is registered once. */
#define REGISTERED	urcu(bench_registered)
bool REGISTERED __attribute__((weak));

static void fill(void)
{
	unsigned int i, n;

	if (!REGISTERED)
		urcu(register_thread)();
	REGISTERED = true;
	for (i = 0; i < FEW; i++) {
		for (n = 0; n < SUBSCRIBERS; n++)
			OWN(arrays)[i][n] = (struct subscriber){ bench_probes[n], OWN(data)[i][n] };
		rcu_set_pointer(&OWN(published)[i], OWN(arrays)[i]);
	}
}

#define ROW_OF(...)	BENCH_ROW_OF(__VA_ARGS__)
ROW_OF("subscribers", ARRAY_ROW, fill, SUBSCRIBERS);
