// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program of very many sites, as large ones have: how long it starts, and how long a
 * change of 1, 1000 and all of them takes while other threads run through them. Every
 * change is checked by running through all sites.
 *
 * usage: scale [options], see --help
 */
#include "scale.h"

#include <jumpfunc/stats.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "options.h"

DEFINE_JF_KEY_FALSE(scale_all);
DEFINE_JF_KEY_FALSE(scale_thousand);
DEFINE_JF_KEY_FALSE(scale_one);

#define MAX_ROUNDS	1000

static unsigned long rounds = 11;
static const char *csv_path, *plugin;
static int no_others, start_only, sparse;
static FILE *csv;
static unsigned long mismatches;

static double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static pthread_t threads[64];
static unsigned int nr_threads;

/*
 * Of this process, without the share of others on a busy machine, and without its own peers: the
 * time of the updater, and a helper that it may have. The peers first: of a thread that runs on
 * another CPU the process's clock has the kernel's last value, which a look at the thread's own
 * brings up to date.
 */
static double cpu_ns(void)
{
	double ns = 0;
	unsigned int i;
	clockid_t clock;

	for (i = 0; i < nr_threads; i++)
		if (!pthread_getcpuclockid(threads[i], &clock))
			ns -= clock_ns(clock);
	return ns + clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Before all constructors, those of the headers among them. */
static double started_ns, started_cpu_ns;

static void note_start(int argc, char **argv, char **environment)
{
	(void)argc, (void)argv, (void)environment;
	started_ns = now_ns();
	started_cpu_ns = cpu_ns();
}

__attribute__((section(".preinit_array"), used))
static void (*const start_hook)(int, char **, char **) = note_start;

/* --- sites -------------------------------------------------------------------------- */

#define TEN(m)		m m m m m m m m m m

static __attribute__((noinline)) unsigned int run_one(void)
{
	return jf_branch_unlikely(&scale_one);
}

static __attribute__((noinline)) unsigned int run_thousand(void)
{
	unsigned int on = 0;

#define ADD on += jf_branch_unlikely(&scale_thousand);
	TEN(TEN(TEN(ADD)))
	return on;
}

static unsigned int run_all(void)
{
	unsigned int i, on = 0;

	for (i = 0; i < scale_nr_parts; i++)
		on += scale_parts[i]();
	return on;
}

/* --- threads that run through them ----------------------------------------------------- */

static int stop;
static unsigned long passes;

static void *peer(void *arg)
{
	unsigned int sum = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		sum += run_one() + run_thousand() + run_all();
		__atomic_fetch_add(&passes, 1, __ATOMIC_RELAXED);
	}
	return sum == 1 ? &stop : NULL;
}

/* --- measuring ------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static const char *csv_group(void)
{
	return sparse ? "sparse" : "scale";
}

static void print(unsigned int peers, const char *how, unsigned int sites, double *ns, unsigned long nr)
{
	qsort(ns, nr, sizeof(*ns), by_value);
	printf("  %-44s %7u %12.1f %12.1f\n", how, sites, ns[0] / 1e3, ns[nr / 2] / 1e3);
	if (csv)
		fprintf(csv, "%s,%u,%.*s,%u,%.0f,%.0f,,,\n", csv_group(), peers,
			(int)strcspn(how, ",'"), how, sites, ns[0], ns[nr / 2]);
}

static void fail(const char *what, int err)
{
	fprintf(stderr, "scale: %s: %s\n", what, strerror(-err));
	exit(1);
}

/* Whether it meets the goal; the median counts. */
static void goal(double us, double most, const char *what, unsigned int sites)
{
	printf("  %-9s %s, %u sites: %.0f us, at most %.0f\n", us <= most ? "met" : "NOT met",
	       what, sites, us, most);
}

static void toggle(unsigned int peers, struct jf_key *key, unsigned int (*run)(void), unsigned int sites)
{
	double ns[MAX_ROUNDS], cpu[MAX_ROUNDS], start;
	unsigned long i;
	int err;

	for (i = 0; i < rounds; i++) {
		cpu[i] = cpu_ns();
		start = now_ns();
		err = i & 1 ? jf_key_disable(key) : jf_key_enable(key);
		ns[i] = now_ns() - start;
		cpu[i] = cpu_ns() - cpu[i];
		if (err)
			fail("a change failed", err);
		if (run() != (i & 1 ? 0 : sites))
			mismatches++;
	}
	err = jf_key_disable(key);
	if (err || run())
		fail("the last change failed", err);
	print(peers, "jumpfunc, one transaction", sites, ns, rounds);
	print(peers, "  the updater's own time on a CPU", sites, cpu, rounds);
	if (key == &scale_all)
		goal(cpu[rounds / 2] / 1e3, sparse ? 50000 : 20000, "CPU time of a change of all",
		     sites);
}

static void others(unsigned int sites)
{
	double ns[3];
	int i;

	for (i = 0; i < 3; i++)
		ns[i] = scale_mprotect(sites);
	if (ns[0] > 0)
		print(0, "semi-static's way: mprotect, store, mprotect", sites, ns, 3);
	else
		printf("  skipped: semi-static's way: text may not become writable here\n");
	for (i = 0; i < 3; i++)
		ns[i] = scale_remap(sites);
	if (ns[0] > 0)
		print(0, "static-keys' way: copy, change, mremap", sites, ns, 3);
	else
		printf("  skipped: static-keys' way: copies may not become executable here\n");
}

/* The work of others takes its time anyhow: fork() has the more to copy the larger a process is. */
static void waits(unsigned int sites)
{
	double alone[MAX_ROUNDS], ns[MAX_ROUNDS];
	unsigned int kind;
	char name[64];

	printf("\nLongest wait of others during a change %3s %7s %12s %12s\n", "", "sites", "us min",
	       "us median");
	for (kind = 0; kind < scale_wait_kinds(); kind++) {
		const char *what = scale_wait(kind, plugin, 0, alone, rounds);

		print(1, what, 0, alone, rounds);
		scale_wait(kind, plugin, 1, ns, rounds);
		snprintf(name, sizeof(name), "longest wait: %s", what);
		print(1, name, sites, ns, rounds);
	}
}

/* Pages that the process had for itself as it began. */
static void print_private(unsigned int sites, unsigned long text_kb, unsigned long data_kb)
{
	printf("  private memory at start: %lu kB of text, %lu kB of data\n", text_kb, data_kb);
	printf("  %-9s private memory at start, %u sites: %lu kB, at most 64\n",
	       text_kb + data_kb <= 64 ? "met" : "NOT met", sites, text_kb + data_kb);
	if (csv)
		fprintf(csv, "%s,0,private kB at start,%u,%lu,%lu,,,\n", csv_group(), sites, text_kb, data_kb);
}

/* The first change does the work that the library has put off until then. */
static void first_change(unsigned int sites)
{
	double wall = now_ns(), cpu = cpu_ns();
	int err = jf_key_enable(&scale_one);

	cpu = cpu_ns() - cpu;
	wall = now_ns() - wall;
	if (err || !run_one() || jf_key_disable(&scale_one) || run_one())
		fail("the first change failed", err);
	printf("  the first change of one site: %.0f us, %.0f on a CPU\n", wall / 1e3, cpu / 1e3);
	if (csv)
		fprintf(csv, "%s,0,first change,%u,%.0f,%.0f,,,\n", csv_group(), sites, wall, cpu);
}

static void usage(FILE *to)
{
	fputs("usage: scale [options]\n"
	      "Changes 1, 1000 and all of very many sites while other threads run through them.\n"
	      "  --rounds N     changes of each (default 11)\n"
	      "  --csv FILE     append the numbers to it\n"
	      "  --no-others    without the ways of others\n"
	      "  --sparse       say so, and what is aimed at then\n"
	      "  --plugin FILE  how long others wait, one that opens this object among them\n"
	      "  --start        only say how long the program took to start\n", to);
}

static void measure(unsigned int peers, unsigned int all)
{
	unsigned int i;

	printf("\nChanges, %u running peer%-20s %7s %12s %12s\n", peers, peers == 1 ? "" : "s",
	       "sites", "us min", "us median");
	stop = 0;
	for (i = 0; i < peers; i++)
		if (pthread_create(&threads[i], NULL, peer, NULL))
			fail("pthread_create", -EAGAIN);
	nr_threads = peers;
	while (peers && !__atomic_load_n(&passes, __ATOMIC_RELAXED))
		sched_yield();
	toggle(peers, &scale_one, run_one, 1);
	toggle(peers, &scale_thousand, run_thousand, 1000);
	if (all)
		toggle(peers, &scale_all, run_all, all);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	nr_threads = 0;
	for (i = 0; i < peers; i++)
		pthread_join(threads[i], NULL);
	if (!peers && !no_others) {
		others(1000);
		others(all);
	}
}

int main(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ "rounds", .number = &rounds, .min = 1, .max = MAX_ROUNDS },
		{ "csv", .text = &csv_path },
		{ "no-others", .flag = &no_others },
		{ "start", .flag = &start_only },
		{ "sparse", .flag = &sparse },
		{ "plugin", .text = &plugin },
	};
	unsigned int all = scale_nr_parts * SCALE_PART_SITES;
	double start_us = (now_ns() - started_ns) / 1e3, start_cpu_us = (cpu_ns() - started_cpu_ns) / 1e3;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long text_kb, data_kb;
	bool known = scale_private(&text_kb, &data_kb);
	struct jf_stats stats;

	options_end(argv, options_parse(argc, argv, usage, rows, sizeof(rows) / sizeof(*rows)), usage);
	if (csv_path) {
		csv = fopen(csv_path, "a");
		if (!csv)
			fail(csv_path, -errno);
		fprintf(csv, "%s,0,start,%u,%.0f,%.0f,,,\n", csv_group(), all + 1001, start_us * 1e3,
			start_cpu_us * 1e3);
	}
	jf_stats_get(&stats, sizeof(stats));
	printf("A program of %llu sites, %s, text written by \"%s\"%s%s\n",
	       (unsigned long long)stats.sites, sparse ? "one in 256 bytes" : "packed",
	       stats.writer, *stats.why ? ": " : "", stats.why);
	printf("  all constructors, the library's start with them: %.0f us, %.0f on a CPU\n", start_us,
	       start_cpu_us);
	goal(start_cpu_us, 1000, "start", all + 1001);
	if (known)
		print_private(all + 1001, text_kb, data_kb);
	first_change(all + 1001);
	if (start_only)
		return 0;
	if (stats.sites != all + 1001)
		fail("the library has not all sites", -EINVAL);
	measure(0, all);
	measure(cores > 1 ? cores > 5 ? 4 : (unsigned int)cores - 1 : 1, all);
	if (plugin)
		waits(all);
	jf_stats_get(&stats, sizeof(stats));
	printf("  %lu mismatches; %llu sites changed, %llu traps, sites at INT3 for at most %.1f us\n",
	       mismatches, (unsigned long long)stats.patched, (unsigned long long)stats.traps,
	       (double)stats.window_ns / 1e3);
	if (csv && fclose(csv))
		fail(csv_path, -errno);
	return mismatches ? 1 : 0;
}
