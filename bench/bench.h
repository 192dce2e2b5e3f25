/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interfaces between the parts of jumpfunc_bench.ko.
 *
 *   main.c	 the file, its commands, the thread that measures
 *   run.c	 how a row is measured; the one place that looks at a clock
 *   calls.c, branches.c, keys.c, arrays.c	the rows: add a line to a table
 *   batches.c	 updates of many sites
 *   report.c	 prints
 *   cpu.c	 the treatment of calls by the CPU and the kernel
 *   targets.c	 what is called
 *   bulk*	 thousands of dynamic functions and keys
 *   one_key.c	 keys with many sites, ours and the kernel's
 */
#ifndef JFB_BENCH_H
#define JFB_BENCH_H

#include "arch/arch.h"
#include "index/state.h"

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

/* Text of x86 is patched. Only there a CPU's treatment of calls through pointers is known. */
#define JFB_X86		(JF_HAVE_PATCHING && IS_ENABLED(CONFIG_X86_64))

/* One instruction, which the compiler neither joins with others nor leaves out. */
#ifdef CONFIG_ARM64
#define JFB_ADD(to)	asm volatile("add %0, %0, #1" : "+r" (to))
#else
#define JFB_ADD(to)	asm volatile("add $1, %0" : "+r" (to))
#endif

struct jfb_run;
struct seq_file;

/* --- rows: things that are done many times ------------------------------ */

/* Sites of the rows that are not about a single one. */
#define JFB_SITES	64

/* Probes of the longest array. */
#define JFB_PROBES	8

/* jfb_row.flags */
#define JFB_LOOP	0x01	/* is subtracted from the rows below it */
#define JFB_BASE	0x02	/* the rows below it are compared with it */
#define JFB_SLEEPS	0x04	/* may sleep: interrupts stay on */

/**
 * struct jfb_row - one line of a table
 * @name:   as in the report
 * @what:   explanation, for the report's last column; NULL: none
 * @sites:  between how many sites the loop's body is divided
 * @probes: length of the array; 0 without probes
 * @flags:  JFB_LOOP, JFB_BASE, JFB_SLEEPS
 * @run:    do it @n times, a multiple of @sites; returns the new value of @x
 * @check:  true if it was done @n times, given that @x became @y
 * @prepare: before the first run; NULL: nothing to do
 * @finish: after the last run, if @prepare succeeded
 */
struct jfb_row {
	const char	*name;
	const char	*what;
	unsigned int	sites;
	unsigned int	probes;
	unsigned int	flags;
	unsigned long	(*run)(const struct jfb_row *row, unsigned long n,
			       unsigned long x);
	bool		(*check)(const struct jfb_row *row, unsigned long n,
				 unsigned long x, unsigned long y);
	int		(*prepare)(const struct jfb_row *row);
	void		(*finish)(const struct jfb_row *row);
};

/**
 * struct jfb_suite - rows that are measured together
 * @name:  as in the command
 * @group: as in the CSV, and as the native benchmark calls it
 * @title: as in the report
 * @rows:  the rows
 * @num:   their number
 * @prepare: before any row's; NULL: nothing to do
 * @finish: after the last row's
 */
struct jfb_suite {
	const char	*name;
	const char	*group;
	const char	*title;
	const struct jfb_row *rows;
	unsigned int	num;
	int		(*prepare)(void);
	void		(*finish)(void);
};

extern const struct jfb_suite jfb_calls, jfb_branches, jfb_keys, jfb_arrays;

/* All of these; a command names them by bit number. */
extern const struct jfb_suite * const jfb_suites[];
#define JFB_SUITES	4
/* The bit of the updates. */
#define JFB_BATCHES	JFB_SUITES

/**
 * struct jfb_measure - the result of a row; loop included
 * @ns_min, @ns_median:	    nanoseconds of a run
 * @cycles_min, @cycles_median: ticks of the time stamp counter, 0 without one
 */
struct jfb_measure {
	u64 ns_min, ns_median, cycles_min, cycles_median;
};

int jfb_run_suite(struct jfb_run *run, const struct jfb_suite *suite,
		  struct jfb_measure *res);
/* Sorts @samples, and tells the smallest and the middle one. */
void jfb_reduce(u64 *samples, unsigned int num, u64 *min, u64 *median);

/* --- updates of many sites ----------------------------------------------- */

/* Sizes of batches: 1, 10, 100, 1000, 5000 */
#define JFB_SIZES	5
extern const unsigned int jfb_sizes[JFB_SIZES];

enum jfb_kind {
	JFB_FUNCS,		/* dynamic functions, one call site each */
	JFB_KEYS,		/* jump-label keys, one branch site each */
	JFB_ONE_KEY,		/* one jump-label key with so many branch sites */
	JFB_STATIC_KEY,		/* one static key of the kernel's, likewise */
	JFB_KINDS,
};

enum jfb_how {
	JFB_TOGETHER,		/* in one batch */
	JFB_ONE_BY_ONE,
	JFB_HOWS,
};

/* One key is changed as a whole. */
static inline unsigned int jfb_kind_hows(enum jfb_kind kind)
{
	return kind >= JFB_ONE_KEY ? 1 : JFB_HOWS;
}

extern const char * const jfb_kind_names[JFB_KINDS];
extern const char * const jfb_how_names[JFB_HOWS];
/* How many there are of each kind. */
extern const unsigned int jfb_kind_max[JFB_KINDS];

/**
 * struct jfb_update - the result of a number of updates
 * @num:	 how many keys changed, or how many sites one has
 * @samples:	 how often they were measured; 0: not at all
 * @ns_min:	 for all of them, from the first to the end of the last
 * @ns_median:	 likewise
 * @window_ns:	 batches: longest time that sites stood at INT3
 * @patched:	 sites written
 * @broadcasts:	 broadcasts to all CPUs that it took; a static key's are unknown
 * @transactions: in so many commits
 * @by_kernel:	 so many of these by the kernel's own protocol
 */
struct jfb_update {
	unsigned int	num, samples;
	u64		ns_min, ns_median, window_ns;
	u64		patched, broadcasts, transactions, by_kernel;
};

typedef struct jfb_update jfb_updates[JFB_KINDS][JFB_SIZES][JFB_HOWS];

int jfb_run_batches(struct jfb_run *run, jfb_updates res);

/* --- a run --------------------------------------------------------------- */

/**
 * struct jfb_settings - the settings of a command
 * @suites:  bit mask
 * @rounds:  how often each row is measured
 * @calls:   how often a row does its thing in a round
 * @repeats: how often each number of keys is changed, there and back
 * @onebyone_max: the largest number of updates to make one by one
 */
struct jfb_settings {
	unsigned long	suites;
	unsigned int	rounds, calls, repeats, onebyone_max;
};

/**
 * struct jfb_run - a run, or its results
 * @set:     settings
 * @cpu:     the CPU that it was bound to
 * @done:    the thread has ended
 * @err:     how it ended
 * @stage, @step, @steps: how far it is, for readers while it runs
 * @ns:      how long it took
 * @rows:    results by suite and row
 * @updates: results of the batches
 */
struct jfb_run {
	struct jfb_settings	set;
	unsigned int		cpu;
	struct completion	done;
	int			err;
	const char		*stage;
	unsigned int		step, steps;
	u64			ns;
	struct jfb_measure	*rows[JFB_SUITES];
	jfb_updates		updates;
};

/* True if the run must end early. Lets others run. -EINTR, -ENODEV. */
int jfb_breathe(struct jfb_run *run);

/* --- report.c ------------------------------------------------------------ */

void jfb_print_help(struct seq_file *m);
void jfb_print_progress(struct seq_file *m, const struct jfb_run *run);
void jfb_print_table(struct seq_file *m, const struct jfb_run *run);
void jfb_print_csv(struct seq_file *m, const struct jfb_run *run);

/* --- cpu.c ---------------------------------------------------------------- */

/* Name of the program that emulates this CPU, or NULL if it is a real one. */
const char *jfb_emulator(void);
/* Of the hypervisor, "none" on bare metal. */
const char *jfb_hypervisor(void);
const char *jfb_cpu_model(void);
/* How the compiler's call through a pointer runs on this kernel. */
const char *jfb_pointer_call(void);
/* The dispatch of the tracepoints of the last run (arrays.c). */
const char *jfb_chain(void);
/* How functions return. */
const char *jfb_return(void);

/* --- targets.c ------------------------------------------------------------ */

typedef unsigned long jfb_fn(unsigned long x);

/* Each returns x + 1. */
extern jfb_fn * const jfb_targets[JFB_SITES];

/**
 * struct jfb_slot - the result of a probe
 * @last: its argument plus @id
 * @id:   tells the probes of an array apart
 */
struct jfb_slot {
	unsigned long last;
	unsigned long id;
};

typedef void jfb_probe_fn(void *data, unsigned long arg);

/* Each writes arg + id to the slot that is its data. */
extern jfb_probe_fn * const jfb_probes[JFB_PROBES];

/* Calls a pointer once and does nothing else, to look at its code. */
unsigned long jfb_specimen(jfb_fn *f, unsigned long x);

#endif /* JFB_BENCH_H */
