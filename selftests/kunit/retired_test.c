// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-retired: the text of scans (kernel/quiesce/quiesce.c, fake.h).
 *
 * Proves: text that is looked for is found, to the byte, and no other; a
 * function is all of its parts; all that can still be executed after a change is
 * recorded with the change: by updates, batches, modules that go, and each
 * transition of a tracepoint; nothing is where the change failed, or could not be
 * for want of memory, and no record is lost or kept for ever.
 */
#include "world.h"

/* --- spans --------------------------------------------------------------- */

struct span_vector {
	const char	*name;
	struct jf_span	in[5], out[5];
};

static const struct span_vector span_vectors[] = {
	{ "none" },
	{ "one", { { 10, 20 } }, { { 10, 20 } } },
	{ "one byte", { { 10, 11 } }, { { 10, 11 } } },
	{ "an empty one", { { 10, 10 }, { 30, 40 } }, { { 30, 40 } } },
	{ "one that ends before it begins", { { 10, 9 }, { 30, 40 } }, { { 30, 40 } } },
	{ "two apart", { { 10, 20 }, { 22, 30 } }, { { 10, 20 }, { 22, 30 } } },
	{ "one byte between", { { 10, 20 }, { 21, 30 } }, { { 10, 20 }, { 21, 30 } } },
	{ "two that touch", { { 10, 20 }, { 20, 30 } }, { { 10, 30 } } },
	{ "two that share a byte", { { 10, 21 }, { 20, 30 } }, { { 10, 30 } } },
	{ "one in another", { { 10, 40 }, { 20, 30 } }, { { 10, 40 } } },
	{ "one in another, and a third", { { 10, 40 }, { 20, 30 }, { 35, 50 } }, { { 10, 50 } } },
	{ "the same twice", { { 10, 20 }, { 10, 20 } }, { { 10, 20 } } },
	{ "the same start", { { 10, 20 }, { 10, 30 }, { 10, 15 } }, { { 10, 30 } } },
	{ "backwards", { { 50, 60 }, { 30, 40 }, { 10, 20 } }, { { 10, 20 }, { 30, 40 }, { 50, 60 } } },
	{ "one that fills the gap", { { 10, 20 }, { 30, 40 }, { 20, 30 } }, { { 10, 40 } } },
	{ "one over all", { { 10, 20 }, { 30, 40 }, { 50, 60 }, { 5, 70 } }, { { 5, 70 } } },
	{ "the first byte", { { 1, 2 }, { 0, 1 } }, { { 0, 2 } } },
	{ "the last bytes", { { ULONG_MAX - 1, ULONG_MAX }, { 10, 20 } },
	  { { 10, 20 }, { ULONG_MAX - 1, ULONG_MAX } } },
	{ "five", { { 90, 91 }, { 70, 71 }, { 50, 51 }, { 30, 31 }, { 10, 11 } },
	  { { 10, 11 }, { 30, 31 }, { 50, 51 }, { 70, 71 }, { 90, 91 } } },
};

static void span_vector_desc(const struct span_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(span_vector, span_vectors, span_vector_desc);

static bool span_has(const struct jf_span *s, unsigned int num, unsigned long addr)
{
	while (num--)
		if (addr >= s[num].start && addr < s[num].end)
			return true;
	return false;
}

static void spans(struct kunit *test)
{
	const struct span_vector *v = test->param_value;
	struct jf_spans s = { };
	unsigned int i, out = 0;
	unsigned long addr;

	for (i = 0; i < ARRAY_SIZE(v->in); i++)
		KUNIT_ASSERT_EQ(test, jf_spans_add(&s, v->in[i].start, v->in[i].end), 0);
	jf_spans_sort(&s);
	while (out < ARRAY_SIZE(v->out) && v->out[out].end)
		out++;
	KUNIT_ASSERT_EQ(test, s.num, out);
	for (i = 0; i < out; i++) {
		KUNIT_EXPECT_EQ(test, s.span[i].start, v->out[i].start);
		KUNIT_EXPECT_EQ(test, s.span[i].end, v->out[i].end);
	}
	for (addr = ULONG_MAX - 5; addr != 200; addr++)
		KUNIT_EXPECT_EQ_MSG(test, jf_spans_has(&s, addr), span_has(v->in, ARRAY_SIZE(v->in), addr),
				    "at %lx", addr);
	jf_spans_free(&s);
	KUNIT_EXPECT_EQ(test, s.num + s.max, 0U);
	KUNIT_EXPECT_TRUE(test, !s.span);
}

static u32 luck;

static unsigned int lucky(unsigned int below)
{
	luck = luck * 1664525 + 1013904223;
	return (luck >> 8) % below;
}

/* Against an oracle that marks each byte. */
static void spans_random(struct kunit *test)
{
	unsigned int round, i, n, at, wrong = 0;
	static bool has[300];

	luck = 1;
	for (round = 0; round < 400; round++) {
		/* Now low, now where addresses end. */
		unsigned long base = round % 2 ? 0 : ULONG_MAX - 300;
		struct jf_spans s = { };

		memset(has, 0, sizeof(has));
		n = lucky(40);
		for (i = 0; i < n; i++) {
			unsigned int start = lucky(280), end = start + lucky(round % 5 ? 8 : 60);

			end = min(end, 299U);
			KUNIT_ASSERT_EQ(test, jf_spans_add(&s, base + start, base + end), 0);
			for (at = start; at < end; at++)
				has[at] = true;
		}
		jf_spans_sort(&s);
		for (i = 1; i < s.num; i++)
			wrong += s.span[i - 1].end >= s.span[i].start;
		for (at = 0; at < 300; at++)
			wrong += jf_spans_has(&s, base + at) != has[at];
		wrong += jf_spans_has(&s, base - 1) + jf_spans_has(&s, base + 300);
		KUNIT_ASSERT_EQ_MSG(test, wrong, 0U, "round %u", round);
		/* Sorting once more changes nothing. */
		n = s.num;
		jf_spans_sort(&s);
		KUNIT_ASSERT_EQ(test, s.num, n);
		jf_spans_free(&s);
	}
}

/* Room for more is made without losing any, or there is an error. */
static void spans_grow(struct kunit *test)
{
	struct jf_spans s = { };
	unsigned int i, failed = 0;

	for (i = 0; i < 1000; i++) {
		jfk.allocs = 0;
		jfk.fail_at = 1;
		if (jf_spans_add(&s, 10 * i, 10 * i + 5)) {
			failed++;
			KUNIT_ASSERT_EQ(test, s.num, i);
			jfk.fail_at = 0;
			KUNIT_ASSERT_EQ(test, jf_spans_add(&s, 10 * i, 10 * i + 5), 0);
		}
		jfk.fail_at = 0;
	}
	KUNIT_EXPECT_GT(test, failed, 3U);
	KUNIT_EXPECT_LT(test, failed, 20U);
	jf_spans_sort(&s);
	KUNIT_EXPECT_EQ(test, s.num, 1000U);
	for (i = 0; i < 10000; i++)
		KUNIT_ASSERT_EQ(test, jf_spans_has(&s, i), i % 10 < 5);
	jf_spans_free(&s);
	KUNIT_EXPECT_EQ(test, jfk.not_freed, 0);
	KUNIT_EXPECT_FALSE(test, jf_spans_has(&s, 0));
	/* It can be used again. */
	KUNIT_EXPECT_EQ(test, jf_spans_add(&s, 1, 2), 0);
	jf_spans_free(&s);
}

/* --- functions ----------------------------------------------------------- */

#define BASE	0x100000UL

/* Text from BASE on, one function after the other, and where its parts may be. */
static const struct jfk_symbol text[] = {
	{ "f.cold", "n", BASE, 0x10 },			/* another module's */
	{ "f.cold", "m", BASE + 0x10, 0x20 },
	{ "g.cold", "m", BASE + 0x30, 0x30 },
	{ "f", "m", BASE + 0x60, 0x30 },
	{ "f2.cold", "m", BASE + 0x90, 0x30 },
	{ "f.part.0", "m", BASE + 0xc0, 0x10 },
	{ "g.part.0.cold", "m", BASE + 0xd0, 0x20 },
	{ "f.constprop.0.cold", "m", BASE + 0xf0, 0x10 },
	{ "h", "m", BASE + 0x100, 0x20 },
	{ "f.isra.0", "m", BASE + 0x120, 0x10 },	/* a clone, not a part */
	{ "f", NULL, BASE + 0x130, 0x10 },		/* the kernel's */
};

struct func_vector {
	const char	*name;
	unsigned long	func;
	bool		module;
	struct jf_span	out[6];
};

#define SPAN(start, end)	{ BASE + (start), BASE + (end) }

static const struct func_vector func_vectors[] = {
	{ "a module's, with parts on both sides", BASE + 0x60, true,
	  { SPAN(0x10, 0x30), SPAN(0x60 - JFK_PAD, 0x90), SPAN(0xc0, 0xd0), SPAN(0xf0, 0x100) } },
	{ "the same from within", BASE + 0x64, true,
	  { SPAN(0x10, 0x30), SPAN(0x60 - JFK_PAD, 0x90), SPAN(0xc0, 0xd0), SPAN(0xf0, 0x100) } },
	{ "its clone", BASE + 0x120, true,
	  { SPAN(0x10, 0x30), SPAN(0xc0, 0xd0), SPAN(0xf0, 0x100), SPAN(0x120 - JFK_PAD, 0x130) } },
	{ "one whose name is longer", BASE + 0x90, true, { SPAN(0x90 - JFK_PAD, 0xc0) } },
	{ "two parts of one", BASE + 0x30, true, { SPAN(0x30 - JFK_PAD, 0x60), SPAN(0xd0, 0xf0) } },
	{ "another module's", BASE, true, { SPAN(-JFK_PAD, 0x10) } },
	{ "the kernel's", BASE + 0x130, false, { SPAN(0x130 - JFK_PAD, 0x140) } },
	{ "one without a name", BASE + 0x1000, false, { SPAN(0x1000, 0x1000 + PAGE_SIZE) } },
};

static void func_vector_desc(const struct func_vector *v, char *desc)
{
	strscpy(desc, v->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(func_vector, func_vectors, func_vector_desc);

static void functions(struct kunit *test)
{
	const struct func_vector *v = test->param_value;
	struct jf_spans s = { };
	unsigned int i, n, again;
	int err = -1;

	memcpy(jfk.symbol, text, sizeof(text));
	jfk.nameless = BASE + 0x1000;
	/* Each allocation fails in turn: the spans, the module's symbols, two arrays. */
	for (n = 1; err && n < 10; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = jf_spans_add_func(&s, (void *)v->func);
		KUNIT_EXPECT_TRUE(test, !err || err == -ENOMEM);
		if (err)
			jf_spans_free(&s);
	}
	jfk.fail_at = 0;
	KUNIT_EXPECT_EQ(test, n, v->module ? 6U : 3U);
	for (again = 0; again < 2; again++) {
		jf_spans_sort(&s);
		for (i = 0; i < ARRAY_SIZE(v->out) && v->out[i].end; i++) {
			KUNIT_ASSERT_LT(test, i, s.num);
			KUNIT_EXPECT_EQ(test, s.span[i].start, v->out[i].start);
			KUNIT_EXPECT_EQ(test, s.span[i].end, v->out[i].end);
		}
		KUNIT_EXPECT_EQ(test, s.num, i);
		jf_spans_free(&s);
		/* A module's parts are looked for once. */
		jfk.allocs = 0;
		KUNIT_EXPECT_EQ(test, jf_spans_add_func(&s, (void *)v->func), 0);
		KUNIT_EXPECT_EQ(test, jfk.allocs, 1U);
	}
	jf_spans_free(&s);
}

/* Tests of its branches belong to it, wherever they stand, and those of its parts. */
static void tests_of_branches(struct kunit *test)
{
	static const unsigned long of[] = { 0x64, 0x14, 0x104 };
	struct jf_spans s = { };
	unsigned int i;

	memcpy(jfk.symbol, text, sizeof(text));
	jfk.tests = BASE + 0x2000;
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		jfk.tests_of = BASE + of[i];
		KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)BASE + 0x60), 0);
		jf_spans_sort(&s);
		/* The last ones are another function's. */
		KUNIT_EXPECT_EQ(test, jf_spans_has(&s, jfk.tests), i < 2);
		jf_spans_free(&s);
	}
}

/* As many parts as an array has to grow for. */
static void many_parts(struct kunit *test)
{
	static char names[40][16];
	struct jf_spans s = { };
	unsigned int i;

	for (i = 0; i < 40; i++) {
		snprintf(names[i], sizeof(names[0]), "%c%s", "gf"[i % 2], i < 2 ? "" : ".part.0");
		jfk.symbol[i] = (struct jfk_symbol){ names[i], "m", BASE + 0x10 * i, 0x10 };
	}
	KUNIT_EXPECT_EQ(test, jf_spans_add_func(&s, (void *)BASE + 0x10), 0);
	jf_spans_sort(&s);
	KUNIT_EXPECT_EQ(test, s.num, 20U);
	/* The first one stands where the padding of f is. */
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_EQ(test, jf_spans_has(&s, BASE + 0x10 * i), i % 2 || !i);
	jf_spans_free(&s);
}

/* Whichever of them it is that is asked for first. */
static void parts_in_any_order(struct kunit *test)
{
	struct jf_spans s = { };
	unsigned int i;

	memcpy(jfk.symbol, text, sizeof(text));
	for (i = 0; i < ARRAY_SIZE(text); i++) {
		unsigned int j;

		KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)text[i].start), 0);
		jf_spans_free(&s);
		KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)func_vectors[0].func), 0);
		jf_spans_sort(&s);
		for (j = 0; j < s.num; j++)
			KUNIT_EXPECT_EQ(test, s.span[j].start, func_vectors[0].out[j].start);
		KUNIT_EXPECT_EQ(test, s.num, 4U);
		jf_spans_free(&s);
		/* As when they go. */
		jf_quiesce_exit();
		KUNIT_ASSERT_EQ(test, jf_quiesce_init(), 0);
	}
}

/* When it goes: another module may be loaded to the same place. */
static void parts_are_forgotten(struct kunit *test)
{
	struct world w = world(test);
	unsigned long start = (unsigned long)w.a->mem.text;
	struct jf_spans s = { };

	jfk.symbol[0] = (struct jfk_symbol){ "f", "a", start, 0x40 };
	jfk.symbol[1] = (struct jfk_symbol){ "f.cold", "a", start + 0x40, 0x40 };
	replace(test, w.f[0], (void *)start);
	KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)start), 0);
	KUNIT_EXPECT_TRUE(test, jf_spans_has(&s, start) && s.num == 2);
	jf_spans_free(&s);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	jfk.symbol[1].name = "g.cold";
	KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)start), 0);
	KUNIT_EXPECT_EQ(test, s.num, 1U);
	jf_spans_free(&s);
}

/*
 * Names lead on into the __init text after it, which will be another module's, and in front of it
 * to numbers that are no addresses.
 */
static void parts_end_with_the_text(struct kunit *test)
{
	struct jf_spans s = { };

	jfk.symbol[0] = (struct jfk_symbol){ "f.cold", "m", 0, BASE };
	jfk.symbol[1] = (struct jfk_symbol){ "f", "m", BASE, 0x40 };
	jfk.symbol[2] = (struct jfk_symbol){ "h", "m", BASE + 0x40, 0x20 };
	jfk.symbol[3] = (struct jfk_symbol){ "f.part.0", "m", BASE + 0x60, 0x20 };
	jfk.symbol[4] = (struct jfk_symbol){ "f.cold", "m", BASE + 0x80, 0x40 };
	jfk.symbol[5] = (struct jfk_symbol){ "g", "m", BASE + 0xc0, 0x40 };
	jfk.text_start = BASE;
	jfk.text_end = BASE + 0x80;
	KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)BASE), 0);
	jf_spans_sort(&s);
	KUNIT_ASSERT_EQ(test, s.num, 2U);
	KUNIT_EXPECT_EQ(test, s.span[1].start, BASE + 0x60);
	KUNIT_EXPECT_EQ(test, s.span[1].end, BASE + 0x80);
	jf_spans_free(&s);

	/* The text there has a list of its own. */
	jfk.text_start = BASE + 0x80;
	jfk.text_end = BASE + 0x100;
	jfk.symbol[5].name = "f";
	KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)BASE + 0xc0), 0);
	jf_spans_sort(&s);
	KUNIT_EXPECT_TRUE(test, jf_spans_has(&s, BASE + 0x80));
	jf_spans_free(&s);
}

/*
 * Names of parts are taken from a module: a part without a name is of a function that leads there,
 * and no other.
 */
static void parts_without_names(struct kunit *test)
{
	struct jf_spans s = { };
	int err = -ENOMEM;
	unsigned int n;

	/* To the kernel's look-up, all that comes after f is f's. */
	jfk.symbol[0] = (struct jfk_symbol){ "g", "m", BASE, 0x40 };
	jfk.symbol[1] = (struct jfk_symbol){ "f", "m", BASE + 0x40, 0xc0 };
	jfk.unnamed[0] = (struct jf_span)SPAN(0x38, 0x40);
	jfk.unnamed[1] = (struct jf_span)SPAN(0x80, 0x90);
	jfk.unnamed[2] = (struct jf_span)SPAN(0xa0, 0xb0);
	jfk.unnamed[3] = (struct jf_span)SPAN(0xc0, 0xd0);
	/* From g to the last one, and on from there; that f leads to another does not matter. */
	jfk.leads[0] = (struct jf_span)SPAN(0x10, 0xc4);
	jfk.leads[1] = (struct jf_span)SPAN(0xc8, 0x80);
	jfk.leads[2] = (struct jf_span)SPAN(0x44, 0xa0);
	jfk.padding = BASE + 0x38;
	jfk.text_start = BASE;
	jfk.text_end = BASE + 0x100;
	for (n = 1; err && n < 10; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = jf_spans_add_func(&s, (void *)BASE);
		KUNIT_EXPECT_TRUE(test, !err || err == -ENOMEM);
		if (err)
			jf_spans_free(&s);
	}
	jfk.fail_at = 0;
	KUNIT_EXPECT_EQ(test, n, 7U);
	jf_spans_sort(&s);
	KUNIT_ASSERT_EQ(test, s.num, 3U);
	KUNIT_EXPECT_EQ(test, s.span[0].end, BASE + 0x40);
	KUNIT_EXPECT_EQ(test, s.span[1].start, BASE + 0x80);
	KUNIT_EXPECT_EQ(test, s.span[1].end, BASE + 0x90);
	KUNIT_EXPECT_EQ(test, s.span[2].start, BASE + 0xc0);
	jf_spans_free(&s);

	/* One in front of the first symbol has no name itself. */
	jfk.nameless = BASE - 0x20;
	jfk.unnamed[0] = (struct jf_span)SPAN(-0x40, 0);
	jfk.leads[0] = (struct jf_span)SPAN(-0x30, 0xa8);
	jfk.padding = 0;
	KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)BASE - 0x20), 0);
	KUNIT_EXPECT_EQ(test, s.num, 3U);
	jf_spans_sort(&s);
	KUNIT_EXPECT_TRUE(test, jf_spans_has(&s, BASE - 0x40));
	KUNIT_EXPECT_TRUE(test, jf_spans_has(&s, BASE + 0xa0));
	jf_spans_free(&s);
}

/* A name ends at the last plus sign in front of its module's, which may have one, too. */
static void module_with_plus(struct kunit *test)
{
	struct jf_spans s = { };

	jfk.symbol[0] = (struct jfk_symbol){ "f", "m+0x1", BASE, 0x40 };
	jfk.symbol[1] = (struct jfk_symbol){ "f.cold", "m+0x1", BASE + 0x40, 0x20 };
	KUNIT_ASSERT_EQ(test, jf_spans_add_func(&s, (void *)BASE), 0);
	jf_spans_sort(&s);
	KUNIT_ASSERT_EQ(test, s.num, 1U);
	KUNIT_EXPECT_EQ(test, s.span[0].start, BASE - JFK_PAD);
	KUNIT_EXPECT_EQ(test, s.span[0].end, BASE + 0x60);
	jf_spans_free(&s);
}

/* An image is no function that the kernel knows. */
static void function_image(struct kunit *test)
{
	struct jf_spans s = { };

	KUNIT_EXPECT_EQ(test, jf_spans_add_func(&s, &jfk.image[3]), 0);
	KUNIT_ASSERT_EQ(test, s.num, 1U);
	KUNIT_EXPECT_EQ(test, s.span[0].start, (unsigned long)&jfk.image[3]);
	KUNIT_EXPECT_EQ(test, s.span[0].end, (unsigned long)&jfk.image[4]);
	jf_spans_free(&s);
}

/* --- records ------------------------------------------------------------- */

static void forget(void *func, u64 seq)
{
	mutex_lock(&jf_mutex);
	jf_retired_forget(func, seq);
	mutex_unlock(&jf_mutex);
}

static void record_life(struct kunit *test)
{
	/* It comes to nothing. */
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(X));
	KUNIT_EXPECT_EQ(test, jfk_retired_pins(X), 1U);
	done(X, false);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	KUNIT_EXPECT_EQ(test, jfk.not_freed, 0);
	KUNIT_EXPECT_EQ(test, seq(), 0ULL);

	/* It is replaced; later almost. */
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, true);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(X));
	KUNIT_EXPECT_EQ(test, jfk_retired_since(X), 1ULL);
	KUNIT_EXPECT_EQ(test, seq(), 1ULL);
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, false);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(X), 1ULL);

	/* And again: the latest counts. */
	KUNIT_EXPECT_EQ(test, prepare(Y, JF_RETIRED_DISPATCH), 0);
	done(Y, true);
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, true);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(X), 3ULL);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(Y), 2ULL);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 2U);
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(X), JF_RETIRED_TARGET);
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(Y), JF_RETIRED_DISPATCH);
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_DISPATCH), 0);
	done(X, true);
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(X), JF_RETIRED_DISPATCH);
	/* Those who came when it was that may still be there. */
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, true);
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(X), JF_RETIRED_DISPATCH);
	forget(X, seq());
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(X), JF_RETIRED_TARGET);
	done(X, false);
}

/* One function in two changes: it is recorded when one of them has replaced it. */
static void record_twice(struct kunit *test)
{
	unsigned int order;

	for (order = 0; order < 2; order++) {
		jfk.allocs = 0;
		KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
		KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
		KUNIT_EXPECT_EQ(test, jfk.allocs, 1U);
		KUNIT_EXPECT_EQ(test, jfk_retired_pins(X), 2U);
		done(X, order);
		/* A quiesce in between must not free it under the other one. */
		jf_quiesce();
		forget(X, U64_MAX);
		KUNIT_EXPECT_EQ(test, jfk_num_retired(), 1U);
		KUNIT_EXPECT_EQ(test, jfk_retired_pins(X), 1U);
		done(X, !order);
		KUNIT_EXPECT_TRUE(test, jfk_is_retired(X));
		jf_quiesce();
		KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	}
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, false);
	done(X, false);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

static void record_forget(struct kunit *test)
{
	forget(X, U64_MAX);
	KUNIT_EXPECT_EQ(test, prepare(Y, JF_RETIRED_TARGET), 0);
	done(Y, true);
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, true);
	/* It came there again after that. */
	forget(X, 1);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(X));
	forget(X, 2);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(X));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(Y));
	forget(Y, 2);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

static void record_without_memory(struct kunit *test)
{
	jfk.fail_at = 1;
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), -ENOMEM);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	jfk.fail_at = 0;
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	/* Where there is one none is needed. */
	jfk.allocs = 0;
	jfk.fail_at = 1;
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	jfk.fail_at = 0;
	done(X, false);
	done(X, false);
}

/* --- their origins ------------------------------------------------------- */

static void updates_record(struct kunit *test)
{
	struct world w = world(test);
	void *a = jfk_code(w.a, 0), *b = jfk_code(w.b, 0);

	/* The substitute for NULL belongs to no module. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], a), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], a), 0);
	KUNIT_EXPECT_EQ(test, jf_key_enable(w.key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_disable(w.key), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	/* a -> b -> a */
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], b), 0);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(a), 1ULL);
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(a), JF_RETIRED_TARGET);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(b));
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], a), 0);
	/* It is in use again, which waits are told. */
	KUNIT_EXPECT_EQ(test, jfk_retired_since(a), 1ULL);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(b), 2ULL);
	KUNIT_EXPECT_EQ(test, seq(), 3ULL);
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], NULL), 0);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(a), 4ULL);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 2U);
	KUNIT_EXPECT_EQ(test, jfk_retired_pins(a) + jfk_retired_pins(b), 0U);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

static void fill(struct jf_batch *b, struct world *w, struct jfk_mod *m)
{
	unsigned int i;

	jf_batch_init(b);
	for (i = 0; i < FUNCS; i++)
		__jf_batch_set_func(b, w->f[i], m ? jfk_code(m, i) : NULL);
}

static void batches_record(struct kunit *test)
{
	struct world w = world(test);
	struct jf_batch b;
	unsigned int i;

	fill(&b, &w, w.a);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	/* One that does not change, and one that is named twice. */
	fill(&b, &w, w.b);
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], jfk_code(w.b, 1)), 0);
	jf_quiesce();
	__jf_batch_set_func(&b, w.f[2], jfk_code(w.b, 2));
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(w.a, 1)));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 2)));
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 2U);
	/* All three at one target. */
	jf_batch_init(&b);
	for (i = 0; i < FUNCS; i++)
		__jf_batch_set_func(&b, w.f[i], jfk_target(0));
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	jf_quiesce();
	fill(&b, &w, NULL);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, jfk_retired_pins(jfk_target(0)), 0U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 1U);
}

struct refusal {
	const char	*name;
	int		err;
	int		patch_err;
	bool		foreign, twice, last;
};

static const struct refusal refusals[] = {
	{ "patching fails", -EILSEQ, -EILSEQ },
	{ "no memory for the alias", -ENOMEM, -ENOMEM },
	{ "foreign bytes at the last site", -EILSEQ, 0, true },
	{ "two values", -EINVAL, 0, false, true },
	{ "the last one is refused", -EINVAL, 0, false, false, true },
};

static void refusal_desc(const struct refusal *r, char *desc)
{
	strscpy(desc, r->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(refusal, refusals, refusal_desc);

/* Nothing was replaced, so nothing is recorded, and a quiesce has nothing to do. */
static void failed_batches_do_not(struct kunit *test)
{
	const struct refusal *r = test->param_value;
	struct world w = world(test);
	struct jf_batch b;
	u64 text;

	fill(&b, &w, w.a);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	fill(&b, &w, w.b);
	jfk.patch_err = r->patch_err;
	text = jfk_text(w.call[2]);
	if (r->foreign)
		jfk_write(w.call[2], 0x1234567890);
	if (r->twice)
		__jf_batch_set_func(&b, w.f[0], jfk_target(1));
	if (r->last)
		__jf_batch_set_func(&b, w.tp->call, (void *)jfk_tramp(w.m, w.tp->call) - 4);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), r->err);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	KUNIT_EXPECT_EQ(test, seq(), 0ULL);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.gathers, 0U);

	jfk.patch_err = 0;
	if (r->foreign)
		jfk_write(w.call[2], text);
	/* The one error after which things have changed. */
	fill(&b, &w, w.b);
	jfk.patch_err = -EIO;
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EIO);
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 3U);
}

/* Where CPUs execute a change that fails later: the targets that were not kept are searched for. */
static void failed_batches_may_have_run(struct kunit *test)
{
	struct world w = world(test);
	struct jf_batch b;
	struct jfk_task *t;
	unsigned int i;

	jfk.runs_failed = true;
	fill(&b, &w, w.a);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	/* Refused before anything was written. */
	fill(&b, &w, w.b);
	__jf_batch_set_func(&b, w.f[0], jfk_target(1));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EINVAL);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	/* A function that is set to nothing, a key that goes on, and one that stays as it is. */
	fill(&b, &w, w.b);
	jf_key_batch_set(&b, w.key, true);
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], jfk_code(w.b, 1)), 0);
	jf_quiesce();
	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EBUSY);
	for (i = 0; i < FUNCS; i++) {
		KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(w.a, i)));
		KUNIT_EXPECT_EQ(test, jfk_is_retired(jfk_code(w.b, i)), i != 1);
	}
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 2U);
	KUNIT_EXPECT_EQ(test, jfk_retired_pins(jfk_code(w.b, 0)), 0U);
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(jfk_code(w.b, 0)), JF_RETIRED_TARGET);
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 2U);
	jfk.patch_err = 0;

	t = jfk_task(test, jfk_code(w.b, 2));
	t->stays = 3 * HZ;
	jfk.gathers = 0;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_FALSE(test, jfk_is_inside(jfk_code(w.b, 2), jfk_code(w.b, 2) + 1));
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

/* ... but not if text could not be written at all: no CPU has come there. */
static void failed_without_a_store(struct kunit *test)
{
	struct world w = world(test);
	void *b = jfk_code(w.b, 0);
	struct jfk_task *t;

	jfk.runs_failed = true;
	jfk.patch_err = -ENOMEM;
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], b), -ENOMEM);
	KUNIT_EXPECT_EQ(test, jf_key_enable(w.key), -ENOMEM);
	jfk.patch_err = -EFAULT;
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], b), -EFAULT);
	/* Another writer was first, at the first site. */
	jfk.patch_err = -EBUSY;
	jfk.patch_err_at = 1;
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], b), -EBUSY);
	jfk.patch_err = 0;
	jfk.patch_err_at = 0;
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	/* It is set, and a task that stays there is where it belongs. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], b), 0);
	t = jfk_task(test, b);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(HZ), 0);
	jfk_leave(t);
}

static void again(void *func)
{
	mutex_lock(&jf_mutex);
	jf_retired_again(func);
	mutex_unlock(&jf_mutex);
}

/* That something leads there again tells waits, and leaves the record as it is. */
static void record_again(struct kunit *test)
{
	again(X);
	KUNIT_EXPECT_EQ(test, seq(), 0ULL);
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	again(X);
	KUNIT_EXPECT_EQ(test, seq(), 0ULL);
	KUNIT_EXPECT_EQ(test, jfk_retired_pins(X), 1U);
	done(X, true);
	again(X);
	KUNIT_EXPECT_EQ(test, seq(), 2ULL);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(X), 1ULL);
	KUNIT_EXPECT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, true);
	KUNIT_EXPECT_EQ(test, jfk_retired_since(X), 3ULL);
	/* That it is forgotten, too: an image is used anew then. */
	forget(X, 3);
	KUNIT_EXPECT_EQ(test, seq(), 4ULL);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	/* Code that calls others was replaced as their caller. */
	KUNIT_EXPECT_EQ(test, prepare(Y, JF_RETIRED_DISPATCH), 0);
	done(Y, true);
	again(Y);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(Y));
}

/* A function that one change of a batch leaves and another one sets is in use, in either order. */
static void swapped_in_one_batch(struct kunit *test)
{
	struct world w = world(test);
	struct jf_batch b;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[0], jfk_target(0)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], jfk_target(1)), 0);
	jfk_task(test, jfk_target(0));
	jfk_task(test, jfk_target(1));
	for (i = 0; i < 2; i++) {
		jf_batch_init(&b);
		__jf_batch_set_func(&b, w.f[0], jfk_target(!i));
		__jf_batch_set_func(&b, w.f[1], jfk_target(i));
		KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	}
}

/* As many ways as there are to be in use: whether it came before or after, that counts. */
static bool sought(struct kunit *test, void *func)
{
	struct jf_spans text = { };
	struct jf_scan scan;
	bool found;
	u64 since, made;

	KUNIT_ASSERT_EQ(test, jf_spans_add_retired(&text, NULL, &since), 0);
	KUNIT_ASSERT_EQ(test, jf_scan_make(&scan, &text, since, &made), 0);
	found = jf_spans_has(&scan.in, (unsigned long)func);
	jf_scan_free(&scan);
	jf_spans_free(&text);
	return found;
}

/* The unload of @m searches for it. */
static bool leads_into(struct kunit *test, void *func, struct jfk_mod *m)
{
	struct jf_spans text = { };
	bool found;
	u64 since;

	KUNIT_ASSERT_EQ(test, jf_spans_add_retired(&text, &m->mod, &since), 0);
	jf_spans_sort(&text);
	found = jf_spans_has(&text, (unsigned long)func);
	jf_spans_free(&text);
	return found;
}

static void in_use_elsewhere(struct kunit *test)
{
	struct world w = world(test);
	void *a = jfk_code(w.a, 0), *other = w.m->mem.name;

	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], a), 0);
	replace(test, w.f[0], a);
	KUNIT_EXPECT_FALSE(test, sought(test, a));
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], NULL), 0);
	KUNIT_EXPECT_TRUE(test, sought(test, a));
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], a), 0);
	KUNIT_EXPECT_FALSE(test, sought(test, a));
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], NULL), 0);
	/* A tracepoint's probe, with whatever data, of one array and of several. */
	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	KUNIT_EXPECT_FALSE(test, sought(test, a));
	KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, a, other, 1), 0);
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	KUNIT_EXPECT_FALSE(test, sought(test, a));
	KUNIT_ASSERT_EQ(test, __jf_trace_unregister(w.tp, a, other), 0);
	KUNIT_EXPECT_TRUE(test, sought(test, a));
	/* In use or not, the unload of the module that has the data searches for it. */
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], a), 0);
	jf_quiesce();
	KUNIT_EXPECT_TRUE(test, leads_into(test, a, w.m));
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], NULL), 0);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

/* The end of a use by the unload of the module that has the dynamic function. */
static struct jfk_mod *leaving;

static void leave_meanwhile(void)
{
	struct jfk_mod *m = leaving;

	leaving = NULL;
	if (m)
		jfk_notify(m, MODULE_STATE_GOING);
}

struct end_of_use {
	const char	*name;
	bool		init, fails, probe, meanwhile;
};

static const struct end_of_use ends_of_use[] = {
	{ "set to it" },
	{ "set to it, and its init fails", .fails = true },
	{ "compiled to lead there", .init = true },
	{ "compiled to lead there, and its init fails", .init = true, .fails = true },
	{ "of a former probe", .probe = true },
	{ "while another task waits", .meanwhile = true },
	{ "of a former probe, while another task waits", .probe = true, .meanwhile = true },
};

static void end_of_use_desc(const struct end_of_use *u, char *desc)
{
	strscpy(desc, u->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(end_of_use, ends_of_use, end_of_use_desc);

/* A function was replaced, and is in use by a module that is unloaded. */
static void use_ends_with_a_module(struct kunit *test)
{
	const struct end_of_use *u = test->param_value;
	struct world w = world(test);
	struct jfk_mod *n = jfk_module(test, "n");
	void *a = jfk_code(w.a, 0), *data = w.m->mem.name;
	struct jf_func *g = jfk_func(n, "g", u->init ? a : NULL, u->init ? 0 : JF_ENT_NULL_OK);
	struct jfk_task *t;

	KUNIT_ASSERT_EQ(test, u->fails ? jfk_notify(n, MODULE_STATE_COMING) : jfk_load(n), 0);
	if (!u->init)
		KUNIT_ASSERT_EQ(test, __jf_func_update(g, a), 0);
	if (u->probe) {
		KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, a, data, 1), 0);
		KUNIT_ASSERT_EQ(test, __jf_trace_unregister(w.tp, a, data), 0);
	} else {
		replace(test, w.f[0], a);
	}
	t = jfk_task(test, a);
	KUNIT_EXPECT_EQ_MSG(test, jf_quiesce_timeout(0), 0, "it is in use");
	if (u->meanwhile) {
		replace(test, w.f[1], jfk_code(w.a, 1));
		jfk_task(test, jfk_code(w.a, 1))->stays = 3 * HZ;
		leaving = n;
		jfk.on_sleep = leave_meanwhile;
		jf_quiesce();
		jfk.on_sleep = NULL;
		KUNIT_EXPECT_PTR_EQ(test, leaving, NULL);
	} else {
		KUNIT_EXPECT_EQ(test, jfk_notify(n, MODULE_STATE_GOING), 0);
	}
	KUNIT_EXPECT_EQ_MSG(test, jf_quiesce_timeout(0), -ETIMEDOUT, "it is not any more");
	jfk_leave(t);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

/* A change of @f to @func fails, and its call, which comes after the trampoline, stays stuck. */
static void fail_and_stick(struct kunit *test, struct jf_func *f, void *func)
{
	jfk.runs_failed = true;
	jfk.patch_err = -EBUSY;
	jfk.stuck_at = 2;
	jfk.stuck_stays = true;
	KUNIT_EXPECT_EQ(test, __jf_func_update(f, func), -EBUSY);
	jfk.patch_err = 0;
	jfk.stuck_at = 0;
}

/* While a site leads to the rejected target, nothing is over; the value that it has mends it. */
static void stuck_is_waited_for(struct kunit *test)
{
	struct world w = world(test);
	void *a = jfk_code(w.a, 0), *b = jfk_code(w.b, 0);

	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[0], a), 0);
	fail_and_stick(test, w.f[0], b);
	KUNIT_ASSERT_EQ(test, jfk_text(w.call[0]), jfk_call(b));
	KUNIT_EXPECT_PTR_EQ(test, __jf_func_query(w.f[0]), a);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(b));
	jfk.gathers = 0;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(HZ), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 0U);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(b));
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], a), -EBUSY);
	/* Another one is as good as ever. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[1], NULL), 0);
	jfk.sleeps = 0;
	jfk.heal_after = 3;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 3U);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_EQ(test, jfk_text(w.call[0]), jfk_call(a));
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(b));

	/* By the value that it has, and by another one. */
	fail_and_stick(test, w.f[0], b);
	jfk.stuck_stays = false;
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], a), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(w.call[0]), jfk_call(a));
	fail_and_stick(test, w.f[0], b);
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], jfk_code(w.b, 1)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(w.call[0]), jfk_call(jfk_code(w.b, 1)));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(HZ), 0);
}

/* The rejected target is set again: the site leads there, and nothing undoes that. */
static void stuck_and_again(struct kunit *test)
{
	struct world w = world(test);
	void *a = jfk_code(w.a, 0), *b = jfk_code(w.b, 0);

	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[0], a), 0);
	fail_and_stick(test, w.f[0], b);
	jfk.stuck_stays = false;
	KUNIT_EXPECT_EQ(test, __jf_func_update(w.f[0], b), 0);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(HZ), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(w.call[0]), jfk_call(b));
	KUNIT_EXPECT_PTR_EQ(test, __jf_func_query(w.f[0]), b);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(a));
}

static void fall_backs_record(struct kunit *test)
{
	struct world w = world(test);
	struct jf_batch b;

	fill(&b, &w, w.a);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[0], jfk_code(w.b, 0)), 0);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	/* They were recorded, looked for, and forgotten with their module, each of which counts. */
	KUNIT_EXPECT_EQ(test, seq(), 6ULL);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

/* --- tracepoints --------------------------------------------------------- */

/* The records of a step, and nothing else. */
static void expect_retired(struct kunit *test, struct world *w, void *dispatch, int probe,
			   const char *at)
{
	unsigned int i;

	for (i = 0; i < CHAIN + 4; i++)
		KUNIT_EXPECT_EQ_MSG(test, jfk_is_retired(jfk_code(w->a, i)), (int)i == probe,
				    "probe %u, %s", i, at);
	if (probe >= 0)
		KUNIT_EXPECT_EQ(test, jfk_retired_kind(jfk_code(w->a, probe)), JF_RETIRED_TARGET);
	if (dispatch) {
		KUNIT_EXPECT_TRUE_MSG(test, jfk_is_retired(dispatch), "%s", at);
		KUNIT_EXPECT_EQ_MSG(test, jfk_retired_kind(dispatch), JF_RETIRED_DISPATCH, "%s", at);
		KUNIT_EXPECT_EQ_MSG(test, jfk_retired_pins(dispatch), 0U, "%s", at);
	}
	KUNIT_EXPECT_EQ_MSG(test, jfk_num_retired(), (dispatch != NULL) + (probe >= 0), "%s", at);
	jf_quiesce();
	KUNIT_EXPECT_EQ_MSG(test, jfk_num_retired(), 0U, "%s", at);
}

/* 0 -> 1 -> 2 -> 1 -> 0 */
static void chains_record(struct kunit *test)
{
	struct world w = world(test);
	void *image;

	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	expect_retired(test, &w, NULL, -1, "0 -> 1");
	image = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, trace(&w, 1), 0);
	expect_retired(test, &w, image, -1, "1 -> 2");
	image = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	expect_retired(test, &w, image, 0, "2 -> 1");
	image = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, untrace(&w, 1), 0);
	expect_retired(test, &w, image, 1, "1 -> 0");
}

/* A change from one array to another changes no key's value. */
static void iterators_record(struct kunit *test)
{
	struct world w = world(test);
	unsigned int i;
	void *image;

	for (i = 0; i < CHAIN; i++)
		KUNIT_ASSERT_EQ(test, trace(&w, i), 0);
	jf_quiesce();
	image = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, trace(&w, CHAIN), 0);
	expect_retired(test, &w, image, -1, "chain -> iterator");
	jfk.transactions = 0;
	KUNIT_ASSERT_EQ(test, trace(&w, CHAIN + 1), 0);
	expect_retired(test, &w, jfk_iter(), -1, "iterator -> iterator, one more");
	KUNIT_ASSERT_EQ(test, untrace(&w, 3), 0);
	expect_retired(test, &w, jfk_iter(), 3, "iterator -> iterator, one less");
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_ASSERT_EQ(test, untrace(&w, 4), 0);
	expect_retired(test, &w, jfk_iter(), 4, "iterator -> chain");
}

/* The same function with other data is another probe. */
static void same_function_records(struct kunit *test)
{
	struct world w = world(test);
	void *probe = jfk_code(w.a, 0);

	KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, probe, X, 5), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, probe, Y, 5), 0);
	jf_quiesce();
	KUNIT_ASSERT_EQ(test, __jf_trace_unregister(w.tp, probe, X), 0);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(probe));
	jf_quiesce();
	KUNIT_ASSERT_EQ(test, __jf_trace_unregister(w.tp, probe, Y), 0);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(probe));
	KUNIT_EXPECT_EQ(test, jfk_retired_pins(probe), 0U);
}

/* Where there is no image at all. */
static void indirect_records(struct kunit *test)
{
	struct world w;

	jfk.indirect = true;
	w = world(test);
	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	expect_retired(test, &w, NULL, -1, "0 -> 1");
	KUNIT_ASSERT_EQ(test, trace(&w, 1), 0);
	expect_retired(test, &w, jfk_iter(), -1, "1 -> 2");
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	expect_retired(test, &w, jfk_iter(), 0, "2 -> 1");
	KUNIT_ASSERT_EQ(test, untrace(&w, 1), 0);
	expect_retired(test, &w, jfk_iter(), 1, "1 -> 0");
}

/* A failure leaves the old array in force; a task in the iterator saw the new one. */
static void failed_publish_records(struct kunit *test)
{
	struct world w = world(test);
	unsigned int i;

	for (i = 0; i < CHAIN; i++)
		KUNIT_ASSERT_EQ(test, trace(&w, i), 0);
	jf_quiesce();
	jfk.patch_err = -EBUSY;
	/* Removed it is not. */
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), -EBUSY);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(w.a, 0)));
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_probes_image(w.tp)));
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	KUNIT_ASSERT_EQ(test, trace(&w, CHAIN), -EBUSY);
	jfk.patch_err = 0;
	expect_retired(test, &w, jfk_iter(), CHAIN, "chain -> iterator, failed");

	/* -EIO counts as done. */
	jfk.patch_err = -EIO;
	KUNIT_EXPECT_EQ(test, untrace(&w, 0), -EIO);
	jfk.patch_err = 0;
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 2U);
}

/* Each record of a change fails in turn. */
static void records_without_memory(struct kunit *test)
{
	struct world w = world(test);
	const void *id;
	unsigned int i, n;
	int err = -1, not_freed;

	for (i = 0; i < CHAIN + 2; i++)
		KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, jfk_code(i % 2 ? w.a : w.b, i),
							  NULL, 5), 0);
	jfk_reclaim();
	jf_quiesce();
	id = jfk_probes_id(w.tp);
	not_freed = jfk.not_freed;
	for (n = 1; err && n < 10; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = __jf_trace_register(w.tp, jfk_code(w.b, 60), NULL, 5);
		jfk.fail_at = 0;
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		KUNIT_EXPECT_PTR_EQ(test, jfk_probes_id(w.tp), id);
		/* The iterator walks the present array until all is done. */
		KUNIT_EXPECT_EQ_MSG(test, jfk_num_retired(), 0U, "allocation %u", n);
		KUNIT_EXPECT_EQ(test, jfk.not_freed, not_freed);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, n, 8U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 1U);
	/* A module goes whose probes are everywhere in it: that is repeated. */
	jfk.allocs = 0;
	jfk.fail_at = 3;
	jfk.fail_always = true;
	jfk.heal_after = 2;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_probes(w.tp), CHAIN / 2 + 1U);
	for (i = 0; i < jfk_num_probes(w.tp); i++)
		KUNIT_EXPECT_EQ(test, jfk_retired_pins(jfk_probe(w.tp, i)->func), 0U);
}

/* Probes of others on a tracepoint whose module goes. */
static void owners_record(struct kunit *test)
{
	struct world w = world(test);

	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, jfk_code(w.b, 0), NULL, 5), 0);
	jf_quiesce();
	jfk.fail_at = 1;
	jfk.allocs = 0;
	jfk.heal_after = 1;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 1U);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.b, 0)));
}

static struct kunit_case retired_cases[] = {
	KUNIT_CASE_PARAM(spans, span_vector_gen_params),
	KUNIT_CASE(spans_random),
	KUNIT_CASE(spans_grow),
	KUNIT_CASE_PARAM(functions, func_vector_gen_params),
	KUNIT_CASE(tests_of_branches),
	KUNIT_CASE(many_parts),
	KUNIT_CASE(parts_in_any_order),
	KUNIT_CASE(parts_are_forgotten),
	KUNIT_CASE(parts_end_with_the_text),
	KUNIT_CASE(parts_without_names),
	KUNIT_CASE(module_with_plus),
	KUNIT_CASE(function_image),
	KUNIT_CASE(record_life),
	KUNIT_CASE(record_twice),
	KUNIT_CASE(record_forget),
	KUNIT_CASE(record_without_memory),
	KUNIT_CASE(updates_record),
	KUNIT_CASE(batches_record),
	KUNIT_CASE_PARAM(failed_batches_do_not, refusal_gen_params),
	KUNIT_CASE(failed_batches_may_have_run),
	KUNIT_CASE(failed_without_a_store),
	KUNIT_CASE(record_again),
	KUNIT_CASE(swapped_in_one_batch),
	KUNIT_CASE(in_use_elsewhere),
	KUNIT_CASE_PARAM(use_ends_with_a_module, end_of_use_gen_params),
	KUNIT_CASE(stuck_is_waited_for),
	KUNIT_CASE(stuck_and_again),
	KUNIT_CASE(fall_backs_record),
	KUNIT_CASE(chains_record),
	KUNIT_CASE(iterators_record),
	KUNIT_CASE(same_function_records),
	KUNIT_CASE(indirect_records),
	KUNIT_CASE(failed_publish_records),
	KUNIT_CASE(records_without_memory),
	KUNIT_CASE(owners_record),
	{}
};

struct kunit_suite jfk_retired_suite = {
	.name = "jumpfunc-retired",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = retired_cases,
};
