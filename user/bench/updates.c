// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* How long it takes to change sites, one by one and in one transaction. */
#include "library.h"
#define ROW	update
#define VARIANT	0
#include "row.h"

#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>

#define UPDATE_REPEATS	11

/* Functions with a trampoline each, and keys with a branch each. */
static void other_target(void) { __asm__ volatile("nop"); }
static void first_target(void) { }
#define DEFINE_ONE(hi, lo)	DEFINE_DYNFUNC(update_##hi##lo, first_target);
FOR_ALL(DEFINE_ONE)
static DEFINE_JF_KEY_ARRAY_FALSE(update_keys, MANY);
#define CALL_ONE(hi, lo)						\
	static void call_##hi##lo(void)					\
	{								\
		dynfunc_update_##hi##lo();				\
		if (jf_branch_unlikely(&update_keys[SITE_INDEX(hi, lo)])) \
			__asm__ volatile("" ::: "memory");		\
	}
FOR_ALL(CALL_ONE)

#define FUNC_ROW(hi, lo)	&__jf_func_update_##hi##lo,
static struct jf_func *const update_funcs[MANY] = { FOR_ALL(FUNC_ROW) };
#define CALL_ROW(hi, lo)	call_##hi##lo,
static void (*const update_calls[MANY])(void) = { FOR_ALL(CALL_ROW) };

const struct update_size update_sizes[NR_UPDATE_SIZES] = {
	{ 1, false }, { 10, false }, { 100, false }, { 1000, false }, { 1000, true },
};
struct update_result update_results[NR_UPDATE_SIZES][2][2];

static _Atomic bool peers_stop;

static void *peer(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;

	while (!atomic_load_explicit(&peers_stop, memory_order_relaxed)) {
		update_calls[i]();
		i = (i + 61) % MANY;
	}
	return NULL;
}

static void update_one(struct jf_batch *batch, bool key, unsigned int i, uint64_t turn)
{
	bool on = turn & 1;

	if (key)
		jf_key_batch_set(batch, &update_keys[i], on);
	else
		__jf_batch_set_func(batch, update_funcs[i],
				    (void *)(uintptr_t)(on ? other_target : first_target));
}

/* @turn is another one each time, so that every site changes each time. */
static double update_once(size_t size, bool batched, uint64_t turn, uint64_t *broadcasts)
{
	struct jf_stats before, after;
	struct jf_batch batch;
	uint64_t start;
	unsigned int i;
	int err = 0;

	jf_stats_get(&before, sizeof(before));
	start = stress_now_ns();
	jf_batch_init(&batch);
	for (i = 0; i < update_sizes[size].sites && !err; i++) {
		update_one(&batch, update_sizes[size].keys, i, turn);
		if (!batched)
			err = jf_batch_commit(&batch);
	}
	if (batched)
		err = jf_batch_commit(&batch);
	start = stress_now_ns() - start;
	stress_die(err, "update");
	jf_stats_get(&after, sizeof(after));
	*broadcasts = after.syncs - before.syncs;
	return (double)start / 1e3;
}

void measure_updates(unsigned int peers)
{
	double us[NR_UPDATE_SIZES][2][UPDATE_REPEATS];
	pthread_t threads[256];
	uint64_t broadcasts;
	unsigned int i, r, done = 0;
	static uint64_t turn;
	size_t s, b;

	atomic_store(&peers_stop, false);
	for (i = 0; i < peers; i++)
		stress_die(-pthread_create(&threads[i], NULL, peer,
					   (void *)(uintptr_t)(i * 997 % MANY)), "pthread_create");
	if (peers)
		usleep(1000);
	for (r = 0; r < UPDATE_REPEATS && !bench_stopped(); r++, done++)
		for (s = 0; s < NR_UPDATE_SIZES; s++)
			for (b = 0; b < 2; b++) {
				/* Once there, and back: each site changes each time. */
				us[s][b][r] = update_once(s, b, ++turn, &broadcasts);
				us[s][b][r] = (us[s][b][r] + update_once(s, b, ++turn, &broadcasts)) / 2;
				update_results[s][b][!!peers].broadcasts = broadcasts;
			}
	atomic_store(&peers_stop, true);
	for (i = 0; i < peers; i++)
		pthread_join(threads[i], NULL);
	for (s = 0; done && s < NR_UPDATE_SIZES; s++)
		for (b = 0; b < 2; b++) {
			struct update_result *u = &update_results[s][b][!!peers];

			qsort(us[s][b], done, sizeof(double), by_value);
			u->min_us = us[s][b][0];
			u->median_us = us[s][b][done / 2];
			u->done = true;
		}
}
