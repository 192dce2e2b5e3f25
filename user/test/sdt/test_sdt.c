// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * SDT probes as patched sites: the arguments of subscribers, how names are found, objects that are
 * loaded and unloaded, semaphores, and many threads beside changes. In C and in C++. usage:
 * test_sdt PLUGIN (- for none: programs that are linked statically)
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include <jumpfunc/list.h>
#include <jumpfunc/sdt.h>
#include <jumpfunc/stats.h>

#include "../tap.h"
#include "test_sdt.h"

enum color { RED, GREEN = 100000 };
enum small { ONE = 1, TWO };
struct opaque;
struct large { int a[5]; };

/* --- arguments of a subscriber -------------------------------------------------------------- */

struct told {
	int		calls;
	const char	*name;
	unsigned int	nargs;
	uint8_t		code[16];
	unsigned long	word[12];
};

static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	struct told *t = (struct told *)data;
	unsigned int i;

	t->calls++;
	t->name = sdt->tp.name;
	t->nargs = sdt->tp.nargs;
	memcpy(t->code, sdt->code, sizeof(t->code));
	for (i = 0; i < t->nargs; i++)
		t->word[i] = words[i];
}

static __attribute__((noinline)) void no_arguments(void)
{
	DTRACE_PROBE(jftest, none);
}

static __attribute__((noinline)) void types(signed char c, unsigned char uc, short s, unsigned short us, int i,
					     unsigned int ui, long l, struct opaque *p, float f, double d,
					     enum color e, const char *text)
{
	DTRACE_PROBE12(jftest, types, c, uc, s, us, i, ui, l, p, f, d, e, text);
}

static __attribute__((noinline)) void others(int x)
{
	char buf[24] = "buffer";
	volatile int v = x;
	const short k = -3;
	struct large big = { { 1, 2, 3, 4, 5 } };

	DTRACE_PROBE6(jftest, others, buf, "literal", v, k, big, 7);
	/* It stays where it is. */
	__asm__ volatile("" : : "r" (buf) : "memory");
}

static __attribute__((noinline)) int counts(int x)
{
	DTRACE_PROBE2(jftest, effects, x++, x += 10);
	return x;
}

#define IS(n, value, what)	CHECK(t.word[n] == (unsigned long)(value) && t.code[n] == (what), \
				      "%lx of %x", t.word[n], t.code[n])

static void test_arguments(void)
{
	static const char text[] = "text";
	struct told t;
	double d = -2.5;
	float f = 1.25;
	unsigned long word = 0;

	memset(&t, 0, sizeof(t));
	types(-1, 255, -2, 65535, -3, 4000000000u, -5, (struct opaque *)&t, f, d, GREEN, text);
	no_arguments();
	CHECK(!t.calls, "it is off");
	CHECK(jf_sdt_register("jftest:types", tell, &t) == 1, "register");
	CHECK(jf_sdt_register("jftest:none", tell, &t) == 1, "register");
	CHECK(jf_sdt_register("jftest:others", tell, &t) == 1, "register");
	no_arguments();
	CHECK(t.calls == 1 && !strcmp(t.name, "jftest:none") && !t.nargs, "%s, %u arguments", t.name, t.nargs);
	types(-1, 255, -2, 65535, -3, 4000000000u, -5, (struct opaque *)&t, f, d, GREEN, text);
	CHECK(t.calls == 2 && !strcmp(t.name, "jftest:types") && t.nargs == 12, "%s, %u arguments", t.name, t.nargs);
	IS(0, -1L, 1 | JF_SDT_SIGNED);
	IS(1, 255, 1);
	IS(2, -2L, 2 | JF_SDT_SIGNED);
	IS(3, 65535, 2);
	IS(4, -3L, 4 | JF_SDT_SIGNED);
	IS(5, 4000000000u, 4);
	IS(6, -5L, 8 | JF_SDT_SIGNED);
	IS(7, &t, 8);
	memcpy(&word, &f, sizeof(f));
	IS(8, word, 4 | JF_SDT_FLOAT);
	memcpy(&word, &d, sizeof(d));
	IS(9, word, 8 | JF_SDT_FLOAT);
	IS(10, GREEN, 4);
	IS(11, text, 8);
	others(42);
	CHECK(t.calls == 3 && t.nargs == 6 && !strcmp((const char *)t.word[1], "literal"), "%d", t.calls);
	CHECK(t.code[0] == 8 && t.code[1] == 8, "arrays: %x, %x", t.code[0], t.code[1]);
	IS(2, 42, 4 | JF_SDT_SIGNED);
	IS(3, -3L, 2 | JF_SDT_SIGNED);
	CHECK(!t.word[4], "what does not fit into a word is told as 0: %lx", t.word[4]);
	IS(5, 7, 4 | JF_SDT_SIGNED);
	CHECK(jf_sdt_unregister("*", tell, &t) == 3, "unregister");
	types(1, 2, 3, 4, 5, 6, 7, NULL, 0, 0, RED, NULL);
	CHECK(t.calls == 3, "it is off again");
	finish("arguments of all types");
}

static void test_effects(void)
{
	struct told t;

	memset(&t, 0, sizeof(t));
	CHECK(counts(1) == 12, "off: %d", counts(1));
	CHECK(jf_sdt_register("jftest:effects", tell, &t) == 1, "register");
	CHECK(counts(1) == 12 && t.calls == 1, "on: %d", t.calls);
	IS(0, 1, 4 | JF_SDT_SIGNED);
	IS(1, 12, 4 | JF_SDT_SIGNED);
	CHECK(jf_sdt_unregister("jftest:effects", tell, &t) == 1, "unregister");
	finish("an argument is taken once, on and off");
}

/* --- names ---------------------------------------------------------------------------------- */

static __attribute__((noinline)) int first(int x)
{
	DTRACE_PROBE1(jftest, twice, x);
	DTRACE_PROBE1(jftest, twice, -x);
	return shared_inline(x);
}

struct seen {
	int	all, twice, shared, many;
	size_t	twice_sites, probes;
};

static int see(const struct jf_sdt_info *i, void *arg)
{
	struct seen *s = (struct seen *)arg;

	s->all++;
	s->probes += i->probes;
	s->many += !strncmp(i->name, "jfmany:", 7);
	s->shared += !strcmp(i->name, "jftest:shared");
	if (!strcmp(i->name, "jftest:twice")) {
		s->twice++;
		s->twice_sites += i->sites;
	}
	return 0;
}

static int see_list(const struct jf_info *i, void *arg)
{
	*(int *)arg += i->kind == JF_KIND_TRACE && !strcmp(i->name, "jftest:types") && !i->on && i->sites == 1;
	return 0;
}

static int stop_at_once(const struct jf_sdt_info *i, void *arg)
{
	(void)i;
	++*(int *)arg;
	return 77;
}

static void test_names(void)
{
	struct seen s;
	struct told t;
	int n = 0;

	memset(&s, 0, sizeof(s));
	memset(&t, 0, sizeof(t));
	CHECK(!jf_sdt_list(see, &s), "list");
	/* One with one argument, one with two. */
	CHECK(s.twice == 2 && s.twice_sites == 4, "%d, of %zu sites", s.twice, s.twice_sites);
	CHECK(s.shared == 1, "%d", s.shared);
	CHECK(s.many == MANY_PROBES, "%d", s.many);
	CHECK(!s.probes, "%zu", s.probes);
	CHECK(jf_sdt_list(stop_at_once, &n) == 77 && n == 1, "%d", n);
	n = 0;
	jf_list(see_list, &n);
	CHECK(n == 1, "jf_list() shows it %d times", n);
	CHECK(jf_keys_set("jftest:*", true) == -ENOENT && jf_keys_set("*types", true) == -ENOENT, "they are no keys");
	CHECK(jf_sdt_register("twice", tell, &t) == 2, "by the name alone");
	first(5);
	CHECK(t.calls == 2 && (long)t.word[0] == -5, "%d", t.calls);
	second(6);
	CHECK(t.calls == 3 && (long)t.word[0] == 6, "%d", t.calls);
	second_few(7);
	CHECK(t.calls == 4 && t.nargs == 2 && t.word[1] == 8, "%d", t.calls);
	CHECK(jf_sdt_register("jftest:s?ared", tell, &t) == 1, "a pattern");
	first(1);
	second(1);
	CHECK(t.calls == 4 + 3 + 2, "%d", t.calls);
	CHECK(jf_sdt_register("*", tell, &t) > 4, "those that are registered already are no error");
	first(1);
	CHECK(t.calls == 9 + 3, "%d", t.calls);
	CHECK(jf_sdt_unregister("jftest:*", tell, &t) > 2, "unregister");
	CHECK(jf_sdt_unregister("jftest:*", tell, &t) == -ENOENT, "unregister, twice");
	CHECK(jf_sdt_unregister("*", tell, &t) == MANY_PROBES + 1, "the many, and that of the storm");
	CHECK(jf_sdt_register("nothing*", tell, &t) == -ENOENT && jf_sdt_register("jftest", tell, &t) == -ENOENT, "none");
	CHECK(jf_sdt_register("*", NULL, &t) == -EINVAL, "no function");
	finish("names");
}

static int order[4], num_order;

static void note_order(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)sdt;
	(void)words;
	if (num_order < 4)
		order[num_order++] = *(int *)data;
}

static void test_several(void)
{
	int one = 1, two = 2, three = 3;

	CHECK(jf_sdt_register("jftest:none", note_order, &one) == 1, "register");
	CHECK(jf_sdt_register("jftest:none", note_order, &two) == 1, "register");
	CHECK(jf_sdt_register("jftest:none", note_order, &three) == 1, "register");
	no_arguments();
	CHECK(num_order == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3, "%d: %d %d %d", num_order, order[0],
	      order[1], order[2]);
	num_order = 0;
	CHECK(jf_sdt_unregister("*", note_order, &two) == 1, "unregister");
	no_arguments();
	CHECK(num_order == 2 && order[0] == 1 && order[1] == 3, "%d", num_order);
	CHECK(jf_sdt_unregister("*", note_order, &one) == 1 && jf_sdt_unregister("*", note_order, &three) == 1, "unregister");
	num_order = 0;
	no_arguments();
	CHECK(!num_order, "%d", num_order);
	finish("several subscribers, in their order");
}

static void test_semaphore(void)
{
	struct told t, more;

	memset(&t, 0, sizeof(t));
	memset(&more, 0, sizeof(more));
	CHECK(!guarded(1) && !guarded_value(), "off");
	CHECK(jf_sdt_register("jftest:guarded", tell, &t) == 1, "register");
	CHECK(guarded_value() == 1, "%d", guarded_value());
	CHECK(jf_sdt_register("jftest:guarded", tell, &more) == 1, "register");
	CHECK(guarded_value() == 1, "%d", guarded_value());
	CHECK(guarded(5) && t.calls == 1 && more.calls == 1 && t.word[0] == 5, "%d", t.calls);
	CHECK(jf_sdt_unregister("*", tell, &t) == 1, "unregister");
	CHECK(guarded_value() == 1 && guarded(6) && more.calls == 2 && t.calls == 1, "%d", more.calls);
	CHECK(jf_sdt_unregister("*", tell, &more) == 1, "unregister");
	CHECK(!guarded_value() && !guarded(7) && more.calls == 2, "%d", more.calls);
	finish("semaphores");
}

static void count_many(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	/* "jfmany:probe_0123" has "0123" for its second argument. */
	if (words[0] != 3 || strcmp(sdt->tp.name + strlen("jfmany:probe_"), (const char *)words[1]))
		return;
	++*(int *)data;
}

static void test_many(void)
{
	struct jf_stats before, after;
	int n = 0;

	jf_stats_get(&before, sizeof(before));
	CHECK(jf_sdt_register("jfmany:*", count_many, &n) == MANY_PROBES, "register");
	jf_stats_get(&after, sizeof(after));
	CHECK(after.commits == before.commits + 1 && after.syncs <= before.syncs + 3, "%lu transactions, %lu broadcasts",
	      (unsigned long)(after.commits - before.commits), (unsigned long)(after.syncs - before.syncs));
	many(3);
	CHECK(n == MANY_PROBES, "%d", n);
	CHECK(jf_sdt_unregister("jfmany:*", count_many, &n) == MANY_PROBES, "unregister");
	many(3);
	CHECK(n == MANY_PROBES, "%d", n);
	finish("thousands of probes in one transaction of at most three broadcasts");
}

/* --- objects that are loaded and unloaded --------------------------------------------------- */

static void test_plugin(const char *file)
{
	jf_sdt_probe *counter;
	plugin_fn *hit;
	struct told t;
	void *plugin;
	int i, n = 0;

	memset(&t, 0, sizeof(t));
	CHECK(jf_sdt_register("jfplugin:*", tell, &t) == -ENOENT, "it is not loaded");
	for (i = 0; i < 3; i++) {
		plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		CHECK(plugin, "%s", dlerror());
		if (!plugin)
			break;
		__extension__ hit = (plugin_fn *)dlsym(plugin, "plugin_hit");
		__extension__ counter = (jf_sdt_probe *)dlsym(plugin, "plugin_count");
		t.calls = n = 0;
		hit(1);
		CHECK(!t.calls, "off when it is loaded");
		CHECK(jf_sdt_register("jfplugin:hit", tell, &t) == 1, "register");
		/* With one argument here and there, with two. */
		CHECK(jf_sdt_register("jftest:twice", counter, &n) == 3, "register");
		CHECK(hit(2) == 2 && t.calls == 1 && t.word[0] == 2 && n == 1, "%d, %d", t.calls, n);
		first(1);
		CHECK(n == 3, "%d", n);
		/* The first time subscribers are left to dlclose(). */
		if (i) {
			CHECK(jf_sdt_unregister("*", tell, &t) == 1, "unregister");
			CHECK(jf_sdt_unregister("*", counter, &n) == 3, "unregister");
		}
		CHECK(!dlclose(plugin), "%s", dlerror());
		first(1);
		CHECK(n == 3, "a subscriber of what is gone: %d", n);
		CHECK(jf_sdt_unregister("*", tell, &t) == -ENOENT, "a probe of what is gone");
	}
	finish("objects that are loaded and unloaded");
}

/* --- threads -------------------------------------------------------------------------------- */

#define STORM_THREADS	4
#define STORM_CHANGES	1500

struct watched {
	unsigned int	magic;
	unsigned long	calls;
	unsigned long	bad;
};

static int storm_ends;

static __attribute__((noinline)) unsigned long storm_hit(unsigned long x)
{
	DTRACE_PROBE3(jfstorm, hit, x, ~x, (int)x);
	return x + 1;
}

static void storm_probe(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	struct watched *w = (struct watched *)data;

	(void)sdt;
	if (__atomic_load_n(&w->magic, __ATOMIC_RELAXED) != 0x5d7 || words[1] != ~words[0] ||
	    (long)words[2] != (int)words[0])
		__atomic_fetch_add(&w->bad, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&w->calls, 1, __ATOMIC_RELAXED);
}

static void *storm(void *arg)
{
	unsigned long x = (unsigned long)arg << 33, n = 0;

	while (!__atomic_load_n(&storm_ends, __ATOMIC_RELAXED)) {
		x = storm_hit(x);
		n++;
	}
	return (void *)n;
}

static void test_storm(void)
{
	pthread_t t[STORM_THREADS];
	struct watched w[2];
	unsigned long total = 0;
	void *n;
	long i;
	int on[2] = { 0, 0 }, k;

	memset(w, 0, sizeof(w));
	w[0].magic = w[1].magic = 0x5d7;
	for (i = 0; i < STORM_THREADS; i++)
		must(-pthread_create(&t[i], NULL, storm, (void *)i), "a thread");
	for (i = 0; i < STORM_CHANGES; i++) {
		k = i % 3 == 0;
		if (!on[k]) {
			w[k].magic = 0x5d7;
			CHECK(jf_sdt_register("jfstorm:hit", storm_probe, &w[k]) == 1, "register");
		} else {
			CHECK(jf_sdt_unregister("jfstorm:hit", storm_probe, &w[k]) == 1, "unregister");
			jf_quiesce();
			/* No call uses it from here on. */
			__atomic_store_n(&w[k].magic, 0, __ATOMIC_RELAXED);
		}
		on[k] = !on[k];
		if (i % 64 == 0)
			usleep(500);
	}
	(void)!jf_sdt_unregister("*", storm_probe, &w[0]);
	(void)!jf_sdt_unregister("*", storm_probe, &w[1]);
	__atomic_store_n(&storm_ends, 1, __ATOMIC_RELAXED);
	for (i = 0; i < STORM_THREADS; i++) {
		pthread_join(t[i], &n);
		total += (unsigned long)n;
	}
	CHECK(!w[0].bad && !w[1].bad, "%lu and %lu bad calls", w[0].bad, w[1].bad);
	CHECK(w[0].calls && w[1].calls && total, "%lu, %lu calls of %lu", w[0].calls, w[1].calls, total);
	finish("threads beside changes");
}

int main(int argc, char **argv)
{
	printf("TAP version 13\n");
	test_arguments();
	test_effects();
	test_names();
	test_several();
	test_semaphore();
	test_many();
	if (argc > 1 && strcmp(argv[1], "-"))
		test_plugin(argv[1]);
	test_storm();
	return tap_end();
}
