// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Calls of many dynamic functions that lie side by side, with targets on cache lines of their own:
 * so the relays of several functions want the same addresses. All calls are in place all the same.
 * A thread that makes them all the time gets the result of the target before a change or after it.
 *
 * usage: test_dense
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>

#include "tap.h"

#define REP16(m, p)	m(p##0) m(p##1) m(p##2) m(p##3) m(p##4) m(p##5) m(p##6) m(p##7)		\
			m(p##8) m(p##9) m(p##a) m(p##b) m(p##c) m(p##d) m(p##e) m(p##f)
#define REP256(m, p)	REP16(m, p##0) REP16(m, p##1) REP16(m, p##2) REP16(m, p##3)			\
			REP16(m, p##4) REP16(m, p##5) REP16(m, p##6) REP16(m, p##7)			\
			REP16(m, p##8) REP16(m, p##9) REP16(m, p##a) REP16(m, p##b)			\
			REP16(m, p##c) REP16(m, p##d) REP16(m, p##e) REP16(m, p##f)
#define REP1024(m)	REP256(m, 0) REP256(m, 1) REP256(m, 2) REP256(m, 3)
#define NUM		1024
#define ROUNDS		20

/* The result of a target: the number of its function, and its own. */
#define ID(i, which)	((0x##i) << 4 | (which))

#define TARGET(i, which)										\
	static __attribute__((noinline, aligned(64))) int target_##which##_##i(void)			\
	{												\
		return ID(i, which);									\
	}
#define PARTS(i)											\
	TARGET(i, 0)											\
	TARGET(i, 1)											\
	TARGET(i, 2)											\
	DEFINE_DYNFUNC(op_##i, target_0_##i);								\
	static __attribute__((noinline)) int call_##i(void)						\
	{												\
		return dynfunc_call(op_##i);								\
	}
REP1024(PARTS)

#define ENTRY(i)	call_##i,
static int (*const calls[NUM])(void) = { REP1024(ENTRY) };

static int change(int which)
{
	struct jf_batch b;

	jf_batch_init(&b);
#define SET(i)		if (dynfunc_batch_set(&b, op_##i, which == 1 ? target_1_##i : target_2_##i)) return -1;
	REP1024(SET)
	return jf_batch_commit(&b);
}

/* On aarch64 all of them go by trampolines. */
static uint64_t trampolined(void)
{
#ifdef __x86_64__
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s.trampolined;
#else
	return 0;
#endif
}

/* All of them have the target @which. */
static bool all_call(int which)
{
	int i, wrong = 0;

	for (i = 0; i < NUM; i++)
		wrong += calls[i]() != (i << 4 | which);
	return !wrong;
}

static atomic_bool over;

static void *caller(void *arg)
{
	unsigned long wrong = 0;
	int i, got;

	(void)arg;
	while (!atomic_load(&over))
		for (i = 0; i < NUM; i++) {
			got = calls[i]();
			wrong += got >> 4 != i || (got & 15) > 2;
		}
	return (void *)wrong;
}

int main(void)
{
	pthread_t thread;
	void *wrong;
	int i;

	CHECK(all_call(0), "before the first change");
	CHECK(change(1) == 0 && all_call(1), "the first change");
	CHECK(trampolined() == 0, "%llu calls are not in place", (unsigned long long)trampolined());
	finish("many functions side by side: each call is in place");

	if (pthread_create(&thread, NULL, caller, NULL))
		return 1;
	for (i = 0; i < ROUNDS; i++)
		CHECK(change(1 + i % 2) == 0 && all_call(1 + i % 2), "change %d", i);
	CHECK(trampolined() == 0, "%llu calls are not in place", (unsigned long long)trampolined());
	atomic_store(&over, true);
	pthread_join(thread, &wrong);
	CHECK(!wrong, "%lu calls were wrong", (unsigned long)wrong);
	finish("... while a thread makes them, between two other targets");
	return tap_end();
}
