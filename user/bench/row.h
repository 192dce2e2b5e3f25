/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Rows of the benchmark that a compiler makes, from sites in ordinary C.
 *
 * Each source in rows/ is compiled once for each placement, with ROW (a name of
 * its own) and VARIANT (a number) defined. It includes this file, defines
 *
 *   SITE(hi, lo)	the code of site number 0x<hi><lo>: hi is one hex
 *			digit, lo two of them below 40; 1024 sites in all
 *   BODY		the code after each site
 *
 * then includes loops.h, and enters its results with BENCH_ROWS().
 * main.c finds the entries in a section, so a row whose package is missing is
 * just not linked.
 */
#ifndef JF_USER_BENCH_ROW_H
#define JF_USER_BENCH_ROW_H

#include "bench.h"

#define __CAT3(a, b, c)		a##_##b##_##c
#define __CAT(a, b, c)		__CAT3(a, b, c)
/* A name that no other row and no other placement has. */
#define OWN(name)		__CAT(name, ROW, VARIANT)

/* m(hi, lo) for 64 sites, and for all. */
#define __LO16(m, h, p)							\
	m(h, p##0) m(h, p##1) m(h, p##2) m(h, p##3)			\
	m(h, p##4) m(h, p##5) m(h, p##6) m(h, p##7)			\
	m(h, p##8) m(h, p##9) m(h, p##a) m(h, p##b)			\
	m(h, p##c) m(h, p##d) m(h, p##e) m(h, p##f)
#define FOR_64(m, h)							\
	__LO16(m, h, 0) __LO16(m, h, 1) __LO16(m, h, 2) __LO16(m, h, 3)
#define FOR_ALL(m)							\
	FOR_64(m, 0) FOR_64(m, 1) FOR_64(m, 2) FOR_64(m, 3)		\
	FOR_64(m, 4) FOR_64(m, 5) FOR_64(m, 6) FOR_64(m, 7)		\
	FOR_64(m, 8) FOR_64(m, 9) FOR_64(m, a) FOR_64(m, b)		\
	FOR_64(m, c) FOR_64(m, d) FOR_64(m, e) FOR_64(m, f)
#define SITE_INDEX(hi, lo)	(FEW * 0x##hi + 0x##lo)

/*
 * Work between the sites: eight instructions that wait for nothing, so that what
 * a site adds is not hidden by their latency. Memory may have changed.
 */
#define BRANCH_BODY							\
	__asm__ volatile("xor %%r8d, %%r8d; xor %%r9d, %%r9d;"		\
			 "xor %%r10d, %%r10d; xor %%r11d, %%r11d;"	\
			 "xor %%r8d, %%r8d; xor %%r9d, %%r9d;"		\
			 "xor %%r10d, %%r10d; xor %%r11d, %%r11d"	\
			 ::: "r8", "r9", "r10", "r11", "cc", "memory")

/* The arguments of a tracepoint, which the compiler must not know. */
extern int bench_arg1;
extern long bench_arg2;

/*
 * The other side of a branch, which no row takes. Not a call: that would give the
 * functions a stack frame, on the side that is measured, too.
 */
#define BENCH_SLOW()	__asm__ volatile("ud2")

/* What calls call. */
void bench_wrong(void);
#define __DECLARE_TARGET(hi, lo) void bench_target_##hi##lo(void);
FOR_ALL(__DECLARE_TARGET)
/* Each waits for the one before. */
long bench_wrong_link(long x);
/* The probe of tracepoints: stores the number where the data leads. */
typedef void bench_probe_fn(void *data, int number, long length);
extern bench_probe_fn *const bench_probes[MAX_SUBSCRIBERS];
#define __DECLARE_LINK(hi, lo) long bench_link_##hi##lo(long x);
FOR_64(__DECLARE_LINK, 0)

struct row {
	const char *group;		/* rows of a group are compared: with "none" */
	const char *name;		/* in the CSV */
	const char *text;		/* in the table */
	enum layout layout;
	unsigned int variant;
	uint64_t (*run)(uint64_t rounds);
	void (*flush)(void);		/* before each sample, where cold is meant */
	void (*prepare)(void);		/* once, before the first */
	unsigned int subscribers;
};

/* Both layouts of a row that is hot. */
#define BENCH_ROWS(_group, _name, _text, _prepare)			\
	static const struct row OWN(entries)[]				\
	__attribute__((used, section("bench_rows"), aligned(8))) = {	\
		{ _group, _name, _text, STRAIGHT, VARIANT, run_straight, \
		  NULL, _prepare, 0 },					\
		{ _group, _name, _text, RANDOM, VARIANT, run_random,	\
		  NULL, NULL, 0 },					\
	}

/* One row with flags that are flushed from the caches before each sample. */
#define BENCH_ROW_COLD(_group, _name, _text, _flush)			\
	static const struct row OWN(entries_cold)[]			\
	__attribute__((used, section("bench_rows"), aligned(8))) = {	\
		{ _group, _name, _text, STRAIGHT, VARIANT, run_straight, \
		  _flush, NULL, 0 },					\
	}

/* One row in straight line alone. */
#define BENCH_ROW_LINE(_group, _name, _text, _prepare)			\
	BENCH_ROW_OF(_group, _name, _text, _prepare, 0)
/* Of so many subscribers: in straight line, and one site alone. */
#define BENCH_ROW_OF(_group, _name, _text, _prepare, _subscribers)	\
	static const struct row OWN(entries)[]				\
	__attribute__((used, section("bench_rows"), aligned(8))) = {	\
		{ _group, _name, _text, STRAIGHT, VARIANT, run_straight, \
		  NULL, _prepare, _subscribers },			\
		{ _group, _name, _text, ONE, VARIANT, run_one,		\
		  NULL, NULL, _subscribers },				\
	}

#endif /* JF_USER_BENCH_ROW_H */
