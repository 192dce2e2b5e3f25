// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The cost of an event of two arguments: the minimum of many short runs, which take turns, so that
 * a disturbance of the machine disturbs all of them alike. With THREADS, all threads run the same
 * contender at the same time. usage: trace_bench [ROUNDS [THREADS]]; bench.sh has LTTng-UST record
 * at the same time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/record.h>

#define CREATE_TRACE_POINTS
#include "events.h"

#define LOOP	20000

static FILE *null;

__attribute__((__noinline__))
static void empty_loop(long n)
{
	long i;

	for (i = 0; i < n; i++)
		__asm__ volatile("" ::: "memory");
}

__attribute__((__noinline__))
static void ours_loop(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		jf_trace_two((u32)i, (u64)n);
		__asm__ volatile("" ::: "memory");
	}
}

__attribute__((__noinline__))
static void rdtsc_loop(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		uint64_t t = __jf_rdtsc();

		__asm__ volatile("" : : "r" (t) : "memory");
	}
}

__attribute__((__noinline__))
static void fprintf_loop(long n)
{
	long i;

	for (i = 0; i < n / 20; i++)
		fprintf(null, "%u %llu\n", (unsigned int)i, (unsigned long long)n);
}

#ifdef HAVE_LTTNG
void lttng_loop(long n);
#endif

static void record(enum jf_record_clock clock)
{
	struct jf_record_options o;

	memset(&o, 0, sizeof(o));
	o.clock = clock;
	o.parent = getenv("JF_BENCH_DIR");
	if (jf_record_start(&o) || jf_record_enable("jfbench:two") != 1) {
		fprintf(stderr, "cannot record\n");
		exit(1);
	}
}

static void tsc_on(void) { record(JF_RECORD_CLOCK_AUTO); }
static void none_on(void) { record(JF_RECORD_CLOCK_NONE); }
static void mono_on(void) { record(JF_RECORD_CLOCK_MONOTONIC); }

static void all_off(void)
{
	char folder[4096], path[4200];
	unsigned int i, k;

	if (jf_record_folder(folder, sizeof(folder)) < 0 || jf_record_stop())
		return;
	for (i = 0; i < 64; i++) {
		for (k = 0; k < 8; k++) {
			snprintf(path, sizeof(path), "%s/r%u-%u", folder, i, k);
			unlink(path);
		}
	}
	snprintf(path, sizeof(path), "%s/lost", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/metadata", folder);
	unlink(path);
	rmdir(folder);
}

static const struct row {
	const char	*name;
	void		(*loop)(long n);
	void		(*on)(void);
	double		per;
} rows[] = {
	{ "an empty loop", empty_loop, NULL, 1 },
	{ "rdtsc alone", rdtsc_loop, NULL, 1 },
	{ "ours, off", ours_loop, NULL, 1 },
	{ "ours, time stamp by rdtsc", ours_loop, tsc_on, 1 },
	{ "ours, without a time stamp", ours_loop, none_on, 1 },
	{ "ours, CLOCK_MONOTONIC", ours_loop, mono_on, 1 },
#ifdef HAVE_LTTNG
	{ "LTTng-UST", lttng_loop, NULL, 1 },
#endif
	{ "fprintf to /dev/null", fprintf_loop, NULL, 1.0 / 20 },
};

#define ROWS	(sizeof(rows) / sizeof(*rows))

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static pthread_barrier_t barrier;
static const struct row *present;
static double results[64];

static void *run(void *arg)
{
	double best = 1e9, t;
	int i;

	present->loop(LOOP);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < 20; i++) {
		t = now();
		present->loop(LOOP);
		t = (now() - t) / LOOP / present->per;
		if (t < best)
			best = t;
	}
	results[(long)arg] = best;
	pthread_barrier_wait(&barrier);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20, threads = argc > 2 ? atoi(argv[2]) : 1, r;
	double *all = (double *)calloc(ROWS * (size_t)rounds, sizeof(double));
	pthread_t t[64];
	size_t i;
	long k;

	if (rounds < 1 || threads < 1 || threads > 64 || !all)
		return 2;
	null = fopen("/dev/null", "w");
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < ROWS; i++) {
			double sum = 0;

			present = &rows[i];
			if (present->on)
				present->on();
			pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
			for (k = 0; k < threads; k++)
				pthread_create(&t[k], NULL, run, (void *)k);
			for (k = 0; k < threads; k++) {
				pthread_join(t[k], NULL);
				sum += results[k];
			}
			pthread_barrier_destroy(&barrier);
			if (present->on)
				all_off();
			all[i * (size_t)rounds + (size_t)r] = sum / threads;
		}
	}
	printf("%-30s %10s %10s   (ns an event, %d threads, %d rounds)\n", "", "min", "median", threads, rounds);
	for (i = 0; i < ROWS; i++) {
		double *mine = all + i * (size_t)rounds;

		qsort(mine, (size_t)rounds, sizeof(*mine), compare);
		printf("%-30s %10.2f %10.2f\n", rows[i].name, mine[0], mine[rounds / 2]);
	}
	free(all);
	return 0;
}
