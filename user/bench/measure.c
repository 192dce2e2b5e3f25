// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Runs the programs in rounds, in another order each time, and takes the minima and medians. */
#include "bench.h"

double ns_per_tick;

static uint64_t ticks_begin(void)
{
	uint64_t t;

	_mm_lfence();
	t = __rdtsc();
	_mm_lfence();
	return t;
}

static uint64_t ticks_end(void)
{
	unsigned int cpu;
	uint64_t t = __rdtscp(&cpu);

	_mm_lfence();
	return t;
}

static double sample(const struct program *p, unsigned int variant)
{
	uint64_t (*run)(uint64_t) = p->run[variant];
	uint64_t begin_at;

	if (p->flush[variant]) {
		/* Code and its predictions warm, flags in memory. */
		run(1);
		p->flush[variant]();
	}
	begin_at = ticks_begin();
	run(p->iterations);
	return (double)(ticks_end() - begin_at) /
	       ((double)p->iterations * layout_sites[p->layout]);
}

/* The shortest of three: another process's time slice is not the program's time. */
static uint64_t time_of(const struct program *p)
{
	uint64_t start, took, best = UINT64_MAX;
	int i;

	for (i = 0; i < 3; i++) {
		start = stress_now_ns();
		p->run[0](p->iterations);
		took = stress_now_ns() - start;
		if (took < best)
			best = took;
	}
	return best;
}

static void calibrate(struct program *p)
{
	uint64_t took;

	p->iterations = 1;
	if (p->flush[0])
		return;
	while ((took = time_of(p)) < SAMPLE_NS)
		p->iterations *= took < SAMPLE_NS / 8 ? 4 : 2;
}

int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void summarize(struct program *p, unsigned int rounds)
{
	qsort(p->ticks, rounds, sizeof(*p->ticks), by_value);
	p->raw_min = p->ticks[0];
	p->raw_median = (p->ticks[(rounds - 1) / 2] + p->ticks[rounds / 2]) / 2;
}

unsigned int measure(void)
{
	uint64_t start_ns, start_ticks, last;
	unsigned int round, rounds = 0;
	unsigned int order[MAX_PROGRAMS];
	size_t i;

	for (i = 0; i < nr_programs; i++)
		calibrate(&programs[i]);

	start_ns = last = stress_now_ns();
	start_ticks = ticks_begin();
	for (round = 0; round < opt.rounds && !bench_stopped(); round++) {
		shuffle(order, (unsigned int)nr_programs);
		for (i = 0; i < nr_programs; i++)
			programs[order[i]].ticks[round] = sample(&programs[order[i]], round % VARIANTS);
		rounds++;
		if (stress_now_ns() - last > 5000000000ULL) {
			last = stress_now_ns();
			fprintf(stderr, "# round %u of %lu\n", rounds, opt.rounds);
		}
	}
	ns_per_tick = (double)(stress_now_ns() - start_ns) /
		      (double)(ticks_end() - start_ticks);
	if (!rounds)
		return 0;
	for (i = 0; i < nr_programs; i++)
		summarize(&programs[i], rounds);
	for (i = 0; i < nr_programs; i++) {
		struct program *p = &programs[i];

		p->min = p->raw_min - p->base->raw_min;
		p->median = p->raw_median - p->base->raw_median;
	}
	return rounds;
}
