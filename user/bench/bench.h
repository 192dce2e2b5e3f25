/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* What the parts of the native benchmark share; main.c says what it measures. */
#ifndef JF_USER_BENCH_H
#define JF_USER_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <x86intrin.h>

#ifndef BENCH_NO_ENGINE
#include "jf_trace.h"
#include "stress_common.h"
#endif

#define MANY		1024
#define FEW		64
#define MAX_SUBSCRIBERS	8
#define MAX_PROGRAMS	192
#define MAX_ROUNDS	5000
#define TEXT_SIZE	(16UL << 20)
/*
 * Every program is assembled at so many places, which take turns: branch
 * prediction at times stumbles over one placement of one program. Within a
 * variant, all have the same place in their pages and the same random order.
 */
#define VARIANTS	3
#define SAMPLE_NS	250000		/* one sample runs at least so long */
#define MAX_UPDATE_SITES 5000
#define CACHE_LINE	64

enum layout {
	HOT,
	STRAIGHT,
	RANDOM,
	NR_LAYOUTS,
};


enum shape {
	NONE,
	/* calls */
	DIRECT, INLINE, TRAMPOLINE, INDIRECT, RETPOLINE, LFENCE,
	/* branches */
	BODY, NOP_SITE, JMP_SITE, TEST_HOT, BODY_COLD, NOP_COLD, TEST_COLD,
	/* subscribers */
	ARGS, ONE_DIRECT, ONE_TAIL, ARRAY_RETPOLINE, ARRAY_PLAIN, IMAGE,
};

struct program {
	enum shape shape;
	enum layout layout;
	unsigned int subscribers;
	const char *group, *name, *text;	/* of a compiled one */
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
	bool compiled;		/* nothing but what a compiler has made */
};

extern struct bench_options opt;
bool bench_stopped(void);

/* code.c: the programs, assembled at run time */
extern struct program programs[MAX_PROGRAMS];
extern size_t nr_programs;
extern const unsigned int layout_sites[];
extern uint64_t targets[MANY];
enum shape shape_base(enum shape shape);
void shuffle(unsigned int *order, unsigned int n);
#ifndef BENCH_NO_ENGINE
uint8_t *begin(struct jf_emit *e);
void *finish(struct jf_emit *e);
#endif
void make_programs(void);
struct program *new_program(void);

/* rows.c: programs that a compiler has made */
void add_rows(void);
const struct program *find_row(const char *group, const char *name, enum layout layout);
/* How libjumpfunc changes text in its rows: "flip" or "int3". Weak: they may be missing. */
const char *bench_form(void) __attribute__((weak));
void flush_lines(const void *begin, size_t nr, size_t size);

/* measure.c: their samples */
extern double ns_per_tick;
int by_value(const void *a, const void *b);
unsigned int measure(void);

/* updates.c: how long a change takes */
#define NR_UPDATE_SIZES	6

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
void make_update_sites(void);
void measure_updates(unsigned int peers);

/* report.c: the table, the CSV, the goals */
int report_open(const char *path);
int report_close(void);
void print_all(unsigned int rounds, unsigned int peers);

#endif /* JF_USER_BENCH_H */
