// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Calls of functions that do not exist, after jf-sdt: the arguments of subscribers, off and on, and
 * by many threads beside changes. In C and in C++.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include <jumpfunc/list.h>
#include <jumpfunc/sdt.h>
#include <jumpfunc/stats.h>

#include "../tap.h"
#include "calls.h"

#define THREADS	4

struct told {
	int		calls;
	const char	*name;
	unsigned long	word[14];
};

static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	struct told *t = (struct told *)data;

	t->calls++;
	t->name = sdt->tp.name;
	memcpy(t->word, words, sizeof(t->word));
}

static __attribute__((noinline)) long six(long x)
{
	__dtrace_calls___six(x, -1, "text", -2, 200, 6);
	return x + 1;
}

static __attribute__((noinline)) double mixed(int x, double y)
{
	double z = y * 3;

	__dtrace_calls___mixed(x, y, 0.5f, &x);
	/* Registers that a call may change hold nothing of it. */
	return y + z + x;
}

static __attribute__((noinline)) void many(long x)
{
	__dtrace_calls___many(x, 2, 3, 4, 5, 6, 7, 8);
	__dtrace_probe_alone();
}

static __attribute__((noinline)) void last(int x)
{
	__dtrace_calls___last(x);
}

static __attribute__((noinline)) int guarded(long x)
{
	if (!__dtraceenabled_calls___guarded())
		return 0;
	__dtrace_calls___guarded(x);
	return 1;
}

static double as_double(unsigned long word)
{
	double d;

	memcpy(&d, &word, sizeof(d));
	return d;
}

static void test_arguments(void)
{
	static struct told t;
	float f;

	CHECK(six(1) == 2 && !guarded(1) && mixed(2, 1.5) == 8, "off");
	many(1);
	last(1);
	CHECK(jf_sdt_register("calls:*", tell, &t) == 7, "register");
	CHECK(jf_sdt_register("calls:*", tell, &t) == 7, "register again");
	CHECK(six(40) == 41 && t.calls == 1 && !strcmp(t.name, "calls:six"), "%d, %s", t.calls, t.name);
	CHECK(t.word[0] == 40 && t.word[1] == -1UL && !strcmp((const char *)t.word[2], "text") &&
	      (int)t.word[3] == -2 && (uint8_t)t.word[4] == 200 && t.word[5] == 6, "%ld", (long)t.word[0]);
	CHECK(mixed(2, 1.5) == 8 && t.calls == 2, "%d", t.calls);
	memcpy(&f, &t.word[7], sizeof(f));
	CHECK(t.word[0] == 2 && as_double(t.word[6]) == 1.5 && f == 0.5f, "%g, %g", as_double(t.word[6]), (double)f);
	many(7);
	CHECK(t.calls == 3 && t.word[0] == 7 && t.word[5] == 6, "%d", t.calls);
	last(-5);
	CHECK(t.calls == 4 && (int)t.word[0] == -5 && !strcmp(t.name, "calls:last"), "%d", t.calls);
	CHECK(guarded(9) == 1 && t.calls == 5 && t.word[0] == 9, "%d", t.calls);
	CHECK(second_guarded(10) == 1 && t.calls == 6 && t.word[0] == 10, "%d", t.calls);
	CHECK(second(3) == 4 && t.calls == 8 && (int)t.word[0] == 3, "%d", t.calls);
	CHECK(jf_sdt_register("sdt:alone", tell, &t) == 1, "a name without a provider");
	many(1);
	CHECK(t.calls == 10 && !strcmp(t.name, "sdt:alone"), "%s", t.name);
	CHECK(jf_sdt_unregister("*", tell, &t) == 8, "unregister");
	six(1);
	mixed(1, 1);
	many(1);
	last(1);
	second(1);
	CHECK(!guarded(1) && !second_guarded(1) && t.calls == 10, "%d", t.calls);
	finish("arguments, off, on and off again");
}

/* --- several subscribers, and the list ------------------------------------------------------- */

struct seen {
	size_t	probes, sites, subscribers;
};

static int see(const struct jf_sdt_info *i, void *arg)
{
	struct seen *s = (struct seen *)arg;

	s->probes++;
	s->sites += i->sites;
	s->subscribers += i->probes;
	return 0;
}

static int see_list(const struct jf_info *i, void *arg)
{
	*(int *)arg += i->kind == JF_KIND_TRACE && !strcmp(i->name, "calls:six") && i->sites && i->on;
	return 0;
}

static void test_several(void)
{
	static struct told t[3];
	struct seen s = { 0, 0, 0 };
	struct jf_stats before, after;
	int i, n = 0;

	CHECK(!jf_sdt_list(see, &s) && s.probes == 8 && s.sites >= 11 && !s.subscribers, "%zu probes, %zu sites", s.probes,
	      s.sites);
	jf_stats_get(&before, sizeof(before));
	for (i = 0; i < 3; i++)
		CHECK(jf_sdt_register("calls:*", tell, &t[i]) == 7, "register %d", i);
	jf_stats_get(&after, sizeof(after));
	/* The first one changes text, in one transaction; the others do not. */
	CHECK(after.commits - before.commits == 1 && after.syncs - before.syncs <= 3, "%d commits, %d broadcasts",
	      (int)(after.commits - before.commits), (int)(after.syncs - before.syncs));
	six(1);
	last(2);
	for (i = 0; i < 3; i++)
		CHECK(t[i].calls == 2 && t[i].word[0] == 2, "%d", t[i].calls);
	jf_list(see_list, &n);
	CHECK(n == 1, "jf_list() shows it %d times", n);
	CHECK(jf_sdt_unregister("*", tell, &t[1]) == 7, "unregister");
	six(1);
	CHECK(t[0].calls == 3 && t[1].calls == 2 && t[2].calls == 3, "%d, %d", t[0].calls, t[1].calls);
	CHECK(jf_sdt_unregister("*", tell, &t[0]) == 7 && jf_sdt_unregister("*", tell, &t[2]) == 7, "unregister");
	CHECK(jf_sdt_unregister("*", tell, &t[2]) == -ENOENT, "there are none left");
	finish("several subscribers, in one transaction");
}

/* --- many threads --------------------------------------------------------------------------- */

static int stop;
static unsigned long hits, bad, tests_bad;

static void check_storm(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
	if (words[0] != ~words[1])
		__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) unsigned long storm(unsigned long i)
{
	__dtrace_calls___storm(i, ~i);
	return i * 3;
}

/*
 * Whatever order the compiler gives them, the next one after the one in the middle notices that it
 * did not return.
 */
#define AROUND	__attribute__((noinline, used, section(".text.around")))

static unsigned long fell;

static AROUND void before_last(void)
{
	__atomic_fetch_add(&fell, 1, __ATOMIC_RELAXED);
}

static AROUND void storm_last(unsigned long i)
{
	__dtrace_calls___storm(i, ~i);
}

static AROUND void after_last(void)
{
	__atomic_fetch_add(&fell, 1, __ATOMIC_RELAXED);
}

/* The test's own call; before it, %eax has something else. */
static __attribute__((noinline)) int tested(void)
{
	int is;

	__asm__ volatile("mov $77, %%eax" : : : "rax");
	is = __dtraceenabled_calls___guarded();
	__asm__ volatile("" : "+r" (is));
	return is;
}

static void round_of(unsigned long i)
{
	int is = tested();

	guarded((long)i);
	storm_last(i);
	if (storm(i) != i * 3 || is < 0 || is > 1)
		__atomic_fetch_add(&tests_bad, 1, __ATOMIC_RELAXED);
}

static void *run_storm(void *arg)
{
	unsigned long i, n = (unsigned long)(uintptr_t)arg;

	for (i = 0; n ? i < n : !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++)
		round_of(i);
	return NULL;
}

static void start(pthread_t *threads, unsigned long rounds)
{
	int i;

	for (i = 0; i < THREADS; i++)
		must(-pthread_create(&threads[i], NULL, run_storm, (void *)(uintptr_t)rounds), "pthread_create");
}

static void join(const pthread_t *threads)
{
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void test_storm(void)
{
	pthread_t threads[THREADS];
	int i, other = 0;

	start(threads, 0);
	for (i = 0; i < 100; i++) {
		CHECK(jf_sdt_register("calls:*", check_storm, NULL) == 7, "register %d", i);
		if (i % 3 == 1)
			CHECK(jf_sdt_register("calls:storm", check_storm, &other) == 1, "another one");
		if (i % 3 == 1)
			CHECK(jf_sdt_unregister("calls:storm", check_storm, &other) == 1, "without it");
		CHECK(jf_sdt_unregister("calls:*", check_storm, NULL) == 7, "unregister %d", i);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	join(threads);
	/* Of a guarded one the word is another. */
	CHECK(!tests_bad && !fell, "%lu other results, %lu times no return", tests_bad, fell);
	jf_quiesce();
	hits = 0;
	bad = 0;
	CHECK(jf_sdt_register("calls:storm", check_storm, NULL) == 1, "register");
	start(threads, 5000);
	join(threads);
	CHECK(hits == THREADS * 5000 * 2 && !bad, "%lu hits, %lu with other arguments", hits, bad);
	CHECK(jf_sdt_unregister("calls:storm", check_storm, NULL) == 1, "unregister");
	start(threads, 100);
	join(threads);
	CHECK(hits == THREADS * 5000 * 2, "%lu hits", hits);
	finish("changes beside many threads");
}

int main(void)
{
	printf("TAP version 13\n");
	/*
	 * First, since only the first change of a call at a function's end has a guard; after that
	 * one byte changes.
	 */
	test_storm();
	test_arguments();
	test_several();
	return tap_status();
}
