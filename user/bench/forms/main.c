// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The cost of an SDT probe in each of three forms (forms.h): off, on, and to enable.
 *
 *   off ns, on ns	of one probe with three arguments, on top of the same code without it:
 *			minima, the forms taking turns in each round
 *   instructions,	that a probe that is off adds to the executed code, and the bytes of
 *   bytes		these: each instruction of a turn is stepped through
 *   busy		the same in code that has twelve values in registers around each probe
 *   other on		of a probe that is off while another one is on
 *   enable		1 and 5,000 probes, beside a thread that executes them
 */
#include "forms.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "stress_common.h"

#include <jumpfunc/sdt.h>
#include <jumpfunc/stats.h>

#define SAMPLE_NS	200000
#define REPEATS		11

volatile long forms_seen;

enum { PLAIN, BUSY, NR_KINDS };

struct result {
	const struct form *form;
	const char *text;
	const char *kept;		/* registers in which a value may stay */
	double off[NR_KINDS], on, other;
	unsigned long insns[NR_KINDS], bytes[NR_KINDS];
	double enable_us[2];
	uint64_t broadcasts[2];
};

static struct result results[] = {
	{ .form = &form_none },
	{ .form = &form_site, .text = "asm goto site", .kept = "15" },
	{ .form = &form_call, .text = "NOPed call", .kept = "6" },
	{ .form = &form_page, .text = "page fault", .kept = "15" },
};
#define NR_FORMS	(sizeof(results) / sizeof(results[0]))

static unsigned long rounds = 200;

/* --- one interface for the forms ---------------------------------------------------------- */

static void subscriber(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	forms_seen += (long)(words[0] + words[1] + words[2]);
}

static void names_of(const struct form *f, const char *which, char *names, size_t size)
{
	snprintf(names, size, "jfforms:%s_%s", f->name, which);
}

static int enable(const struct form *f, const char *which)
{
	char names[64];

	names_of(f, which, names, sizeof(names));
	return f == &form_page ? page_enable(names) : jf_sdt_register(names, subscriber, NULL);
}

static void disable(const struct form *f)
{
	int rc = f == &form_page ? page_disable() : jf_sdt_unregister("jfforms:*", subscriber, NULL);

	stress_die(rc < 0 ? rc : 0, "disable");
}

static void expect(int num, int is, const struct form *f)
{
	if (is == num)
		return;
	fprintf(stderr, "%s: %d probes enabled, not %d\n", f->name, is, num);
	exit(1);
}

/* --- instructions and bytes, counted by single steps -------------------------------------- */

#define STEP_LIMIT	20000
static uintptr_t stepped[STEP_LIMIT];
static volatile size_t nr_stepped;

static void on_step(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (nr_stepped < STEP_LIMIT)
		stepped[nr_stepped] = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	nr_stepped++;
}

static void step(bool on)
{
	if (on)
		__asm__ volatile("sub $128, %%rsp; pushf; orl $0x100, (%%rsp); popf; add $128, %%rsp" : : : "memory", "cc");
	else
		__asm__ volatile("sub $128, %%rsp; pushf; andl $~0x100, (%%rsp); popf; add $128, %%rsp" : : : "memory", "cc");
}

static void count(struct result *r, int kind)
{
	long (*run)(unsigned long, long, long, long) = kind == BUSY ? r->form->busy : r->form->plain;
	size_t i, n;

	nr_stepped = 0;
	step(true);
	run(1, 1, 2, 3);
	step(false);
	n = nr_stepped;
	if (!n || n > STEP_LIMIT) {
		fprintf(stderr, "%s: %zu steps\n", r->form->name, n);
		exit(1);
	}
	r->insns[kind] = n;
	r->bytes[kind] = 0;
	/*
	 * An instruction's length is the way to the next, but for jumps: no form jumps while it is
	 * off.
	 */
	for (i = 1; i < n; i++)
		if (stepped[i] > stepped[i - 1] && stepped[i] - stepped[i - 1] < 16)
			r->bytes[kind] += stepped[i] - stepped[i - 1];
}

static void count_all(void)
{
	struct sigaction sa = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO }, old;
	size_t i;

	sigaction(SIGTRAP, &sa, &old);
	for (i = 0; i < NR_FORMS; i++) {
		count(&results[i], PLAIN);
		count(&results[i], BUSY);
	}
	sigaction(SIGTRAP, &old, NULL);
}

/* --- time --------------------------------------------------------------------------------- */

static double sample(long (*run)(unsigned long, long, long, long), unsigned long turns)
{
	uint64_t start = stress_now_ns();

	run(turns, 1, 2, 3);
	return (double)(stress_now_ns() - start) / (double)(turns * HOT);
}

/* As many turns as take so long. */
static unsigned long turns_of(const struct form *f)
{
	unsigned long turns = 1;

	while (sample(f->plain, turns) * (double)(turns * HOT) < SAMPLE_NS)
		turns *= 2;
	return turns;
}

static void keep_least(double *least, double x)
{
	if (!*least || x < *least)
		*least = x;
}

static void measure_off(void)
{
	unsigned long round, turns[NR_FORMS];
	size_t i;

	for (i = 0; i < NR_FORMS; i++)
		turns[i] = turns_of(results[i].form);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < NR_FORMS; i++) {
			struct result *r = &results[(i + round) % NR_FORMS];
			unsigned long n = turns[(i + round) % NR_FORMS];

			keep_least(&r->off[PLAIN], sample(r->form->plain, n));
			keep_least(&r->off[BUSY], sample(r->form->busy, n));
		}
}

static void measure_on(struct result *r)
{
	unsigned long round, turns;

	expect(1, enable(r->form, "many_0000"), r->form);
	turns = turns_of(r->form);
	for (round = 0; round < rounds; round++)
		keep_least(&r->other, sample(r->form->plain, turns));
	disable(r->form);

	expect(HOT, enable(r->form, "plain_*"), r->form);
	turns = turns_of(r->form);
	forms_seen = 0;
	for (round = 0; round < rounds; round++)
		keep_least(&r->on, sample(r->form->plain, turns));
	disable(r->form);
	/* Each tells 1 + 2 + 3. */
	if (forms_seen != (long)(rounds * turns * HOT * 6)) {
		fprintf(stderr, "%s: subscribers were told %ld, not %lu\n", r->form->name, forms_seen,
			rounds * turns * HOT * 6);
		exit(1);
	}
}

/* --- how long enabling takes --------------------------------------------------------------- */

static const struct form *_Atomic peer_form;
static _Atomic bool peer_stops;

static void *peer(void *arg)
{
	unsigned int i = 0;

	while (!atomic_load_explicit(&peer_stops, memory_order_relaxed))
		atomic_load(&peer_form)->many[i++ % MANY_PARTS](1, 2, 3);
	return arg;
}

static uint64_t broadcasts(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s.syncs;
}

static void measure_enable(struct result *r)
{
	static const char *const which[2] = { "many_0000", "many_*" };
	static const int nr[2] = { 1, MANY_PARTS * MANY_IN_PART };
	int i, repeat;

	atomic_store(&peer_form, r->form);
	for (repeat = 0; repeat < REPEATS; repeat++)
		for (i = 0; i < 2; i++) {
			uint64_t before = broadcasts(), start = stress_now_ns();

			expect(nr[i], enable(r->form, which[i]), r->form);
			keep_least(&r->enable_us[i], (double)(stress_now_ns() - start) / 1000);
			r->broadcasts[i] = broadcasts() - before;
			disable(r->form);
		}
}

static void measure_enable_all(void)
{
	pthread_t thread;
	size_t i;

	atomic_store(&peer_form, results[1].form);
	stress_die(-pthread_create(&thread, NULL, peer, NULL), "pthread_create");
	for (i = 1; i < NR_FORMS; i++)
		measure_enable(&results[i]);
	atomic_store(&peer_stops, true);
	pthread_join(thread, NULL);
}

/* ------------------------------------------------------------------------------------------- */

static double per_probe(unsigned long with, unsigned long without)
{
	return ((double)with - (double)without) / HOT;
}

static void print_all(void)
{
	const struct result *none = &results[0], *r;

	printf("%-14s %7s %6s %6s %8s %6s %6s %9s %9s %5s %10s %11s %11s\n", "form", "off ns", "insns", "bytes",
	       "busy ns", "insns", "bytes", "other on", "on ns", "kept", "enable 1", "5,000, us", "broadcasts");
	for (r = results + 1; r < results + NR_FORMS; r++) {
		printf("%-14s %7.2f %6.2f %6.2f %8.2f %6.2f %6.2f", r->text, r->off[PLAIN] - none->off[PLAIN],
		       per_probe(r->insns[PLAIN], none->insns[PLAIN]), per_probe(r->bytes[PLAIN], none->bytes[PLAIN]),
		       r->off[BUSY] - none->off[BUSY], per_probe(r->insns[BUSY], none->insns[BUSY]),
		       per_probe(r->bytes[BUSY], none->bytes[BUSY]));
		printf(" %9.2f %9.2f %5s %10.1f %11.1f", r->other - none->off[PLAIN], r->on - none->off[PLAIN], r->kept,
		       r->enable_us[0], r->enable_us[1]);
		if (r->form == &form_page)
			printf(" %11s\n", "-");
		else
			printf(" %5u, %4u\n", (unsigned int)r->broadcasts[0], (unsigned int)r->broadcasts[1]);
	}
	printf("without a probe: %.2f ns, busy %.2f ns; %lu rounds\n", none->off[PLAIN], none->off[BUSY], rounds);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc == 3 && !strcmp(argv[1], "--rounds"))
		rounds = strtoul(argv[2], NULL, 0);
	if (!rounds || (argc != 1 && argc != 3)) {
		fprintf(stderr, "usage: forms [--rounds N]\n");
		return 2;
	}
	page_begin();
	count_all();
	measure_off();
	for (i = 1; i < NR_FORMS; i++)
		measure_on(&results[i]);
	measure_enable_all();
	print_all();
	return 0;
}
