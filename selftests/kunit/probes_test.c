// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-probes: probes in batches (kernel/tracepoint/batch.c, jf_tracepoint.c, fake.h).
 *
 * Proves: the probes of any number of tracepoints change together with
 * functions and keys, in one transaction; several requests for one tracepoint are
 * one change of it, in the order of the requests; a batch that is refused, at
 * whichever request, or that fails, at whichever allocation, image or site, leaves
 * every tracepoint, value and piece of memory as it was, and the next one works.
 */
#include "fake.h"

#define TPS	3

struct fixture {
	struct jfk_mod		*m;
	struct jf_tracepoint	*tp[TPS];
	struct jf_func		*f;
	struct jf_key		*key;
};

static struct fixture fixture(struct kunit *test)
{
	static const char * const names[] = { "tp0", "tp1", "tp2" };
	struct fixture x = { .m = jfk_module(test, "m") };
	unsigned int i;

	for (i = 0; i < TPS; i++)
		x.tp[i] = jfk_tp(x.m, names[i], 2);
	x.f = jfk_func(x.m, "f", jfk_target(0), 0);
	jfk_site(x.m, &x.f->ent, JF_SITE_CALL);
	x.key = jfk_key(x.m, "key", false, 0);
	jfk_site(x.m, &x.key->ent, JF_SITE_BRANCH);
	KUNIT_ASSERT_EQ(test, jfk_load(x.m), 0);
	jfk.transactions = 0;
	return x;
}

static void *data(unsigned int i)
{
	return (void *)(0xd000UL + i);
}

static int add(struct jf_batch *b, struct jf_tracepoint *tp, unsigned int i, int prio)
{
	return __jf_batch_probe(b, tp, jfk_target(i % 4), data(i), prio, true);
}

static int del(struct jf_batch *b, struct jf_tracepoint *tp, unsigned int i)
{
	return __jf_batch_probe(b, tp, jfk_target(i % 4), data(i), 0, false);
}

/* The probes of a tracepoint, as digits, in their order; the sites and values agree. */
static void expect_probes(struct kunit *test, struct jf_tracepoint *tp, const char *probes)
{
	unsigned int i, n = strlen(probes);
	struct jfk_image *image = jfk_probes_image(tp);

	KUNIT_ASSERT_EQ(test, jfk_num_probes(tp), n);
	KUNIT_EXPECT_EQ(test, jf_key_enabled(tp->key), n > 0);
	KUNIT_EXPECT_EQ(test, jf_key_count(tp->key), n > 0);
	KUNIT_EXPECT_PTR_EQ(test, tp->call->func,
			    !n ? (void *)jf_nop : image ? (void *)image : jfk_iter());
	for (i = 0; i < n; i++) {
		unsigned int p = probes[i] - '0';

		KUNIT_EXPECT_PTR_EQ(test, jfk_probe(tp, i)->func, jfk_target(p % 4));
		KUNIT_EXPECT_PTR_EQ(test, jfk_probe(tp, i)->data, data(p));
		if (image)
			KUNIT_EXPECT_EQ(test, image->call[i].data, (unsigned long)data(p));
	}
}

/* --- scripts ------------------------------------------------------------- */

/*
 * Batches of one tracepoint, separated by spaces: +n adds probe n, -n removes it,
 * ^n adds it in front. After '!' the batch has to fail, with the error given.
 */
static const struct script {
	const char	*steps, *probes;
	unsigned int	transactions;
	int		err;
} scripts[] = {
	{ "+0", "0", 1 },
	{ "+0+1", "01", 1 },
	{ "+0+1^2", "201", 1 },
	{ "+0+1 -0-1", "", 2 },
	{ "+0 -0+1", "1", 2 },
	{ "+0 +1-0", "1", 2 },
	{ "+0+1+2 -1+3", "023", 2 },
	/* The same probe, elsewhere in the order. */
	{ "+0+1 -1^1", "10", 2 },
	{ "+0 -0+0", "0", 2 },
	/* Changes that cancel each other. */
	{ "+0-0", "", 0 },
	{ "+0 +1-1", "0", 2 },
	/* Beyond a chain, and back. */
	{ "+0+1+2+3+4+5+6+7+8+9", "0123456789", 1 },
	/* All or nothing, in order. */
	{ "!+0+0", "", 0, -EEXIST },
	{ "+0 !+1+0", "0", 1, -EEXIST },
	{ "!-0+0", "", 0, -ENOENT },
	{ "+0 !-0-0", "0", 1, -ENOENT },
	{ "+0 !-0+1-2", "0", 1, -ENOENT },
};

static void script_desc(const struct script *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "'%s'", s->steps);
}
KUNIT_ARRAY_PARAM(script, scripts, script_desc);

static void one_tracepoint(struct kunit *test)
{
	const struct script *s = test->param_value;
	struct fixture x = fixture(test);
	const char *p = s->steps;

	while (*p) {
		bool fails = *p == '!';
		struct jf_batch b;

		p += fails;
		jf_batch_init(&b);
		for (; *p && *p != ' '; p += 2) {
			if (*p == '-')
				KUNIT_ASSERT_EQ(test, del(&b, x.tp[0], p[1] - '0'), 0);
			else
				KUNIT_ASSERT_EQ(test, add(&b, x.tp[0], p[1] - '0',
							  *p == '^' ? 9 : 5), 0);
		}
		KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), fails ? s->err : 0);
		KUNIT_EXPECT_TRUE(test, list_empty(&b.probes));
		p += *p == ' ';
	}
	expect_probes(test, x.tp[0], s->probes);
	KUNIT_EXPECT_EQ(test, jfk.transactions, s->transactions);
}

/* --- together -------------------------------------------------------------- */

/* Two probes for each tracepoint, a function and a key. */
static void fill(struct jf_batch *b, struct fixture *x)
{
	unsigned int i;

	jf_batch_init(b);
	for (i = 0; i < TPS; i++) {
		add(b, x->tp[i], 2 * i, 5);
		add(b, x->tp[i], 2 * i + 1, 5);
	}
	__jf_batch_set_func(b, x->f, jfk_target(1));
	jf_key_batch_set(b, x->key, true);
}

static void unfill(struct jf_batch *b, struct fixture *x)
{
	unsigned int i;

	jf_batch_init(b);
	__jf_batch_set_func(b, x->f, jfk_target(0));
	jf_key_batch_set(b, x->key, false);
	for (i = 0; i < TPS; i++) {
		del(b, x->tp[i], 2 * i + 1);
		del(b, x->tp[i], 2 * i);
	}
}

static void expect_all(struct kunit *test, struct fixture *x, bool on)
{
	static const char * const probes[] = { "01", "23", "45" };
	unsigned int i;

	for (i = 0; i < TPS; i++)
		expect_probes(test, x->tp[i], on ? probes[i] : "");
	KUNIT_EXPECT_PTR_EQ(test, x->f->func, jfk_target(on));
	KUNIT_EXPECT_EQ(test, jf_key_enabled(x->key), on);
	KUNIT_EXPECT_EQ(test, jfk_num_tps(), on ? (unsigned int)TPS : 0U);
}

static void all_in_one(struct kunit *test)
{
	struct fixture x = fixture(test);
	u64 before = jf_stats.broadcasts;
	struct jf_batch b;

	fill(&b, &x);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jf_stats.broadcasts - before, 3ULL);
	/* A branch, a call and a trampoline each; f's two; the key's branch. */
	KUNIT_EXPECT_EQ(test, jfk.pokes, TPS * 3U + 3U);
	expect_all(test, &x, true);
	unfill(&b, &x);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 2U);
	KUNIT_EXPECT_EQ(test, jf_stats.broadcasts - before, 6ULL);
	expect_all(test, &x, false);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);
}

static void aborted(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;

	fill(&b, &x);
	jf_batch_abort(&b);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	expect_all(test, &x, false);
}

/* --- failures --------------------------------------------------------------- */

static const struct failure {
	const char	*name;
	bool		off;		/* while everything is on, and is to be off */
	int		patch_err, image_err, err;
} failures[] = {
	{ "on, patching fails", false, -EILSEQ, 0, -EILSEQ },
	{ "on, an image fails", false, 0, -ENOMEM, -ENOMEM },
	/* An error of an image comes before the transaction: nothing has changed. */
	{ "on, an image is not as written", false, 0, -EIO, -EIO },
	{ "off, patching fails", true, -EBUSY, 0, -EBUSY },
};

static void failure_desc(const struct failure *f, char *desc)
{
	strscpy(desc, f->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(failure, failures, failure_desc);

static void fails(struct kunit *test)
{
	const struct failure *f = test->param_value;
	struct fixture x = fixture(test);
	struct jf_batch b;
	unsigned int images;

	if (f->off) {
		fill(&b, &x);
		KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	}
	images = jfk_images_used();
	jfk.patch_err = f->patch_err;
	jfk.image_err = f->image_err;
	if (f->off)
		unfill(&b, &x);
	else
		fill(&b, &x);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), f->err);
	jfk.patch_err = 0;
	jfk.image_err = 0;
	expect_all(test, &x, f->off);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), images);
	if (f->off)
		unfill(&b, &x);
	else
		fill(&b, &x);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	expect_all(test, &x, !f->off);
}

/* Images run out in the middle: the rest is served by the iterator, and undone. */
static void images_run_out(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;

	jfk.images = 1;
	jfk.patch_err = -EILSEQ;
	fill(&b, &x);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EILSEQ);
	jfk.patch_err = 0;
	expect_all(test, &x, false);
	/* A task in the iterator may have seen them. */
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 2U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);
	fill(&b, &x);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	expect_all(test, &x, true);
	KUNIT_EXPECT_PTR_EQ(test, x.tp[1]->call->func, jfk_iter());
}

static void each_allocation_fails(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;
	unsigned int n;
	int err = -1;

	for (n = 1; err && n < 100; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		fill(&b, &x);
		err = jf_batch_commit(&b);
		jfk.fail_at = 0;
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		expect_all(test, &x, false);
		KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);
		jfk_reclaim();
		jf_quiesce();
		KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	}
	KUNIT_EXPECT_GT(test, n, 20U);
	KUNIT_EXPECT_EQ(test, err, 0);
	expect_all(test, &x, true);
}

/* One request that cannot be granted, beside many that can. */
static void one_is_refused(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_mod *going = jfk_module(test, "going");
	struct jf_batch b;

	KUNIT_ASSERT_EQ(test, jfk_load(going), 0);
	fill(&b, &x);
	del(&b, x.tp[2], 0);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -ENOENT);
	expect_all(test, &x, false);

	fill(&b, &x);
	KUNIT_EXPECT_EQ(test, __jf_batch_probe(&b, x.tp[0], NULL, NULL, 5, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EINVAL);
	expect_all(test, &x, false);

	going->mod.state = MODULE_STATE_GOING;
	fill(&b, &x);
	__jf_batch_probe(&b, x.tp[1], jfk_code(going, 0), NULL, 5, true);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EBUSY);
	expect_all(test, &x, false);
	fill(&b, &x);
	__jf_batch_probe(&b, x.tp[1], jfk_code(x.m, 0), jfk_code(going, 0), 5, true);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EBUSY);
	expect_all(test, &x, false);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);

	/* The key has more users than the batch can take away. */
	KUNIT_ASSERT_EQ(test, jf_key_inc(x.key), 0);
	KUNIT_ASSERT_EQ(test, jf_key_inc(x.key), 0);
	jf_batch_init(&b);
	add(&b, x.tp[0], 0, 5);
	jf_key_batch_set(&b, x.key, false);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EBUSY);
	expect_probes(test, x.tp[0], "");
	KUNIT_EXPECT_EQ(test, jf_key_count(x.key), 2);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
}

/* A task in the iterator sees nothing of a batch that fails in the end. */
static struct jf_tracepoint *seen_tp;
static const struct jf_probe *seen_active;
static unsigned int reads, seen_other;

static void read_active(void)
{
	reads++;
	if (READ_ONCE(seen_tp->active) != seen_active)
		seen_other++;
}

static void iterator_sees_no_failure(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;
	unsigned int i;

	jf_batch_init(&b);
	for (i = 0; i <= JF_TRACE_CHAIN_MAX; i++)
		add(&b, x.tp[0], i, 5);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_ASSERT_PTR_EQ(test, x.tp[0]->call->func, jfk_iter());
	seen_tp = x.tp[0];
	seen_active = seen_tp->active;
	reads = 0;
	seen_other = 0;

	for (i = 0; i < 2; i++) {
		jf_batch_init(&b);
		add(&b, x.tp[0], JF_TRACE_CHAIN_MAX + 1, 5);
		del(&b, x.tp[0], 0);
		__jf_batch_set_func(&b, x.f, jfk_target(1));
		jfk.patch_err = i ? 0 : -EBUSY;
		jfk.patch_err_at = i ? 0 : 2;
		jfk.on_sync = i ? NULL : read_active;
		KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), i ? 0 : -EBUSY);
		jfk.on_sync = NULL;
		KUNIT_EXPECT_EQ(test, seen_tp->active == seen_active, !i);
		/* Of an array that no task saw nothing is kept. */
		KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), i);
	}
	KUNIT_EXPECT_GT(test, reads, 0U);
	KUNIT_EXPECT_EQ_MSG(test, seen_other, 0U, "a probe of a batch that fails could run");
}

/* A module's exit function may remove probes in a batch, not add any. */
static void owner_is_going(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;

	jf_batch_init(&b);
	add(&b, x.tp[0], 0, 5);
	add(&b, x.tp[0], 1, 5);
	add(&b, x.tp[1], 2, 5);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	x.m->mod.state = MODULE_STATE_GOING;
	jf_batch_init(&b);
	del(&b, x.tp[0], 0);
	add(&b, x.tp[0], 3, 5);
	del(&b, x.tp[1], 2);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EBUSY);
	expect_probes(test, x.tp[0], "01");
	expect_probes(test, x.tp[1], "2");
	jf_batch_init(&b);
	del(&b, x.tp[0], 0);
	del(&b, x.tp[1], 2);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	expect_probes(test, x.tp[0], "1");
	expect_probes(test, x.tp[1], "");
	/* The rest goes in one transaction. */
	x.m->mod.state = MODULE_STATE_LIVE;
	jf_batch_init(&b);
	add(&b, x.tp[1], 2, 5);
	add(&b, x.tp[2], 3, 5);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	jfk.transactions = 0;
	KUNIT_EXPECT_EQ(test, jf_trace_unload_begin(&x.m->mod), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_tps(), 0U);
}

static struct kunit_case probes_cases[] = {
	KUNIT_CASE_PARAM(one_tracepoint, script_gen_params),
	KUNIT_CASE(all_in_one),
	KUNIT_CASE(aborted),
	KUNIT_CASE_PARAM(fails, failure_gen_params),
	KUNIT_CASE(images_run_out),
	KUNIT_CASE(each_allocation_fails),
	KUNIT_CASE(one_is_refused),
	KUNIT_CASE(iterator_sees_no_failure),
	KUNIT_CASE(owner_is_going),
	{}
};

struct kunit_suite jfk_probes_suite = {
	.name = "jumpfunc-probes",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = probes_cases,
};
