/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The interfaces between the parts of the native benchmark; main.c lists its measurements. */
#ifndef JF_USER_BENCH_H
#define JF_USER_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <x86intrin.h>

#include "stress_common.h"

#define MANY		1024
#define FEW		64
#define MAX_SUBSCRIBERS	8
#define MAX_PROGRAMS	192
#define MAX_ROUNDS	5000
/*
 * Every row is compiled so many times, into places of their own, which take turns:
 * branch prediction at times stumbles over one placement of one program.
 */
#ifndef VARIANTS
#define VARIANTS	3
#endif
#define SAMPLE_NS	250000		/* one sample runs at least so long */
#define CACHE_LINE	64

enum layout {
	STRAIGHT,
	RANDOM,
	ONE,
	NR_LAYOUTS,
};

struct program {
	enum layout layout;
	unsigned int subscribers;
	const char *group, *name, *text;
	uint64_t (*run[VARIANTS])(uint64_t iterations);
	void (*flush[VARIANTS])(void);	/* before each sample, or NULL */
	struct program *base;
	uint64_t iterations;
	double *ticks;		/* per site, one for each round */
	double min, median;	/* without the base's */
	double raw_min, raw_median;
};

struct bench_options {
	unsigned long rounds;
	const char *csv;
	bool updates;
};

extern struct bench_options opt;
bool bench_stopped(void);

/* rows.c: the programs, each of which a compiler has made of one source in rows/ */
extern struct program programs[MAX_PROGRAMS];
extern size_t nr_programs;
extern const unsigned int layout_sites[];
void shuffle(unsigned int *order, unsigned int n);
void add_rows(void);
const struct program *find_row(const char *group, const char *name, enum layout layout,
			       unsigned int subscribers);
void flush_lines(const void *begin, size_t nr, size_t size);

/* measure.c: their samples */
extern double ns_per_tick;
int by_value(const void *a, const void *b);
unsigned int measure(void);

/* updates.c: how long a change takes */
#define NR_UPDATE_SIZES	5

struct update_size {
	unsigned int sites;
	bool keys;
};

struct update_result {
	double min_us, median_us;
	uint64_t broadcasts;
	bool done;
};

extern const struct update_size update_sizes[NR_UPDATE_SIZES];
/* By size, batched or not, peers or not. */
extern struct update_result update_results[NR_UPDATE_SIZES][2][2];
void measure_updates(unsigned int peers);

/* report.c: the table, the CSV, the goals */
int report_open(const char *path);
int report_close(void);
void print_all(unsigned int rounds, unsigned int peers);

#endif /* JF_USER_BENCH_H */
