// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* How long it takes to change sites, one by one and in one transaction. */
#include "bench.h"

static struct jf_func update_funcs[MAX_UPDATE_SITES];
static struct jf_key update_keys[MANY];
static uint8_t *update_sites[MAX_UPDATE_SITES];

#define UPDATE_REPEATS	11

/* Functions with a trampoline each, or keys with a branch each. */
const struct update_size update_sizes[NR_UPDATE_SIZES] = {
	{ 1, false }, { 10, false }, { 100, false }, { 1000, false },
	{ MAX_UPDATE_SITES, false }, { 1000, true },
};
struct update_result update_results[NR_UPDATE_SIZES][2][2];

void make_update_sites(void)
{
	static struct jf_site_desc descs[MAX_UPDATE_SITES];
	struct jf_emit e;
	size_t i;

	begin(&e);
	for (i = 0; i < MAX_UPDATE_SITES; i++) {
		update_sites[i] = (uint8_t *)(uintptr_t)jf_emit_here(&e);
		jf_emit_jmp(&e, targets[0]);
		jf_emit_align(&e, 16);
		update_funcs[i] = (struct jf_func)JF_FUNC_INIT("update", targets[0],
							       JF_NULL_FORBIDDEN);
		descs[i].addr = update_sites[i];
		descs[i].func = &update_funcs[i];
		descs[i].form = JF_SITE_TAIL;
	}
	finish(&e);
	stress_die(jf_sites_add(descs, MAX_UPDATE_SITES), "jf_sites_add");

	begin(&e);
	memset(descs, 0, sizeof(descs));
	for (i = 0; i < MANY; i++) {
		descs[i].addr = (void *)(uintptr_t)jf_emit_here(&e);
		descs[i].key = &update_keys[i];
		descs[i].form = JF_SITE_BRANCH;
		update_keys[i] = (struct jf_key)JF_KEY_INIT("update", false);
		jf_emit_insn(&e, jf_insn_nop());
		jf_emit(&e, 1, 0xc3);
		descs[i].label = (void *)(uintptr_t)jf_emit_here(&e);
		jf_emit(&e, 1, 0xc3);
		jf_emit_align(&e, 16);
	}
	finish(&e);
	stress_die(jf_sites_add(descs, MANY), "jf_sites_add");
}

static _Atomic bool peers_stop;

static void *peer(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;

	stress_die(jf_thread_register(), "jf_thread_register");
	while (!atomic_load_explicit(&peers_stop, memory_order_relaxed)) {
		((void (*)(void))(uintptr_t)update_sites[i])();
		i = (i + 61) % MAX_UPDATE_SITES;
	}
	jf_thread_unregister();
	return NULL;
}

static int update_one(struct jf_batch *batch, bool key, unsigned int i, uint64_t turn)
{
	void *target = (void *)(uintptr_t)targets[turn % (MANY - 1) + 1];
	bool on = turn & 1;

	if (key && batch)
		return jf_key_batch_set(batch, &update_keys[i], on);
	if (key)
		return on ? jf_key_enable(&update_keys[i]) :
			    jf_key_disable(&update_keys[i]);
	return batch ? dynfunc_batch_set(batch, &update_funcs[i], target) :
		       dynfunc_update(&update_funcs[i], target);
}

/* @turn is another one each time, so that every site changes each time. */
static double update_once(size_t size, bool batched, uint64_t turn, uint64_t *broadcasts)
{
	struct jf_stats before, after;
	struct jf_batch batch;
	uint64_t start;
	unsigned int i;
	int err = 0;

	jf_stats_get(&before);
	start = stress_now_ns();
	jf_batch_init(&batch);
	for (i = 0; i < update_sizes[size].sites && !err; i++)
		err = update_one(batched ? &batch : NULL, update_sizes[size].keys, i, turn);
	if (!err && batched)
		err = jf_batch_commit(&batch);
	start = stress_now_ns() - start;
	stress_die(err, "update");
	jf_stats_get(&after);
	*broadcasts = after.sync_broadcasts - before.sync_broadcasts;
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
					   (void *)(uintptr_t)(i * 997)), "pthread_create");
	if (peers)
		usleep(1000);
	for (r = 0; r < UPDATE_REPEATS && !bench_stopped(); r++, done++)
		for (s = 0; s < NR_UPDATE_SIZES; s++)
			for (b = 0; b < 2; b++) {
				us[s][b][r] = update_once(s, b, ++turn, &broadcasts);
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
