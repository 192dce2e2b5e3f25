// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Part of a program that has got probes from many.py: enables and disables all of them while
 * the program runs, counts, and judges each time that a thread comes to a probe. In the end
 * it writes one line into the file that JF_PROBED_OUT names.
 *
 * A pass in whose course the stage does not change is to be told to the subscriber if the
 * probes are on, and not if they are off; while they are changed either will do.
 */
#include <jumpfunc/sdt.h>
#include <jumpfunc/stats.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count.h"

/* many.py writes these. */
extern const unsigned int jf_probed_num;
extern const char *const jf_probed_names[];
extern struct jf_probed_counts {
	unsigned long passes, told, hits;
} jf_probed_counts[];

/* In the lower two bits of a stage; above is a number that no two stages share. */
enum { OFF, ON, CHANGE };

static unsigned int stage, end;
static unsigned long missed, stray, wrong, changes, odd, slowest;
/* How many probes were enabled the first time: all that the compiler has kept. */
static int probes;
static pthread_t changer;

static void count(unsigned long *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

void jf_pass_begins(unsigned int probe, struct jf_pass *pass)
{
	(void)probe;
	pass->told = 0;
	pass->stage = __atomic_load_n(&stage, __ATOMIC_SEQ_CST);
}

void jf_pass_ends(unsigned int probe, struct jf_pass *pass)
{
	unsigned int now;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	now = __atomic_load_n(&stage, __ATOMIC_SEQ_CST);
	count(&jf_probed_counts[probe].passes);
	if (pass->told) {
		count(&jf_probed_counts[probe].told);
		if (pass->told != 1 + probe)
			count(&wrong);
	}
	if (now != pass->stage)
		return;
	if ((now & 3) == ON && !pass->told)
		count(&missed);
	if ((now & 3) == OFF && pass->told)
		count(&stray);
}

static void hit(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	unsigned int probe = (unsigned int)words[0];
	struct jf_pass *pass = (struct jf_pass *)words[1];

	if (data != &stage || probe >= jf_probed_num || strcmp(sdt->tp.name, jf_probed_names[probe])) {
		count(&wrong);
		return;
	}
	count(&jf_probed_counts[probe].hits);
	pass->told = 1 + probe;
}

static void stage_set(unsigned int what)
{
	__atomic_store_n(&stage, ((stage | 3) + 1) | what, __ATOMIC_SEQ_CST);
}

static void change(int on)
{
	struct jf_stats before, after;
	struct timespec a, b;
	unsigned long ns;
	int num;

	stage_set(CHANGE);
	jf_stats_get(&before, sizeof(before));
	clock_gettime(CLOCK_MONOTONIC, &a);
	num = on ? jf_sdt_register("zstd:*", hit, &stage) : jf_sdt_unregister("zstd:*", hit, &stage);
	clock_gettime(CLOCK_MONOTONIC, &b);
	jf_stats_get(&after, sizeof(after));
	stage_set(on ? ON : OFF);
	if (!changes)
		probes = num;
	if (num <= 0 || num != probes || after.commits - before.commits != 1 || after.syncs - before.syncs > 3)
		odd++;
	ns = (unsigned long)((b.tv_sec - a.tv_sec) * 1000000000L + (b.tv_nsec - a.tv_nsec));
	slowest = ns > slowest ? ns : slowest;
	changes++;
}

static void *run(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&end, __ATOMIC_SEQ_CST)) {
		change(1);
		usleep(20000);
		change(0);
		/* Nothing but a change between two others, every second time. */
		if (changes % 4)
			usleep(20000);
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	if (pthread_create(&changer, NULL, run, NULL))
		abort();
}

__attribute__((destructor)) static void over(void)
{
	unsigned long passes = 0, told = 0, hits = 0, differ = 0, reached = 0;
	const char *path = getenv("JF_PROBED_OUT");
	FILE *out = path ? fopen(path, "a") : NULL;
	unsigned int i;

	__atomic_store_n(&end, 1, __ATOMIC_SEQ_CST);
	pthread_join(changer, NULL);
	jf_quiesce();
	for (i = 0; i < jf_probed_num; i++) {
		struct jf_probed_counts *c = &jf_probed_counts[i];

		passes += c->passes;
		told += c->told;
		hits += c->hits;
		reached += c->passes != 0;
		differ += c->told != c->hits;
	}
	if (!out || fprintf(out, "changes %lu odd %lu slowest %lu probes %d reached %lu passes %lu told %lu hits %lu "
			    "differ %lu missed %lu stray %lu wrong %lu\n", changes, odd, slowest, probes, reached,
			    passes, told, hits, differ, missed, stray, wrong) < 0 || fclose(out))
		abort();
}
