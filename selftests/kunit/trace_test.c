// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-trace: the probes of a tracepoint (jf_tracepoint.c, fake.h).
 *
 * Proves: after each step of each script a tracepoint calls exactly the
 * probes of a model, in their order, each with its own data, by the kind of code
 * that the table of transitions names, and each step is one transaction or none;
 * an image is written before it is published and given back only when no task is
 * in it; where images run out the iterator serves, and retired ones are waited
 * for first; a failure of any step leaves the old chain in force and nothing
 * else; probes of a module that is unloaded are removed, however long that takes.
 */
#include "fake.h"

#define PROBES		24

/* The probes that a tracepoint should call. */
struct model {
	unsigned int	num;
	struct jf_probe	probe[PROBES];
};

struct fixture {
	struct jfk_mod		*m;
	struct jf_tracepoint	*tp;
	struct model		model;
};

static struct fixture fixture(struct kunit *test)
{
	struct fixture x = { .m = jfk_module(test, "m") };

	x.tp = jfk_tp(x.m, "tp", 2);
	KUNIT_ASSERT_EQ(test, jfk_load(x.m), 0);
	jfk.transactions = 0;
	return x;
}

/* Probe number @i: four functions, and data that tells them apart. */
static void *func(unsigned int i)
{
	return jfk_target(i % 4);
}

static void *data(unsigned int i)
{
	return (void *)(0xd000UL + i);
}

static unsigned long call_site(struct fixture *x)
{
	/* jfk_tp() makes the branch first, then the call. */
	struct jf_site_rec *r = &x->m->mem.site[1];

	return (unsigned long)&r->addr + r->addr;
}

static unsigned long branch_site(struct fixture *x)
{
	struct jf_site_rec *r = &x->m->mem.site[0];

	return (unsigned long)&r->addr + r->addr;
}

static int add(struct fixture *x, unsigned int i, int prio)
{
	int err = __jf_trace_register(x->tp, func(i), data(i), prio);
	struct model *m = &x->model;
	unsigned int at = m->num;

	if (err)
		return err;
	while (at && m->probe[at - 1].prio < prio) {
		m->probe[at] = m->probe[at - 1];
		at--;
	}
	m->probe[at] = (struct jf_probe){ func(i), data(i), prio };
	m->num++;
	return 0;
}

static int del(struct fixture *x, unsigned int i)
{
	int err = __jf_trace_unregister(x->tp, func(i), data(i));
	struct model *m = &x->model;
	unsigned int at = 0;

	if (err)
		return err;
	if (!m->num)
		return -ENODATA;
	while (at < m->num - 1 && m->probe[at].data != data(i))
		at++;
	memmove(&m->probe[at], &m->probe[at + 1],
		(m->num - at - 1) * sizeof(m->probe[0]));
	m->num--;
	return 0;
}

static bool same(const struct jf_probe *a, const struct jf_probe *b)
{
	return a->func == b->func && a->data == b->data && a->prio == b->prio;
}

static bool calls(const struct jf_arch_call *c, const struct jf_probe *p)
{
	return c->func == (unsigned long)p->func &&
	       c->data == (unsigned long)p->data;
}

/* Everything that can be seen of the tracepoint agrees with the model. */
static void expect_model(struct kunit *test, struct fixture *x, const char *at)
{
	const struct model *m = &x->model;
	struct jfk_image *image = jfk_probes_image(x->tp);
	bool chain = m->num && image;
	void *code = !m->num ? (void *)jf_nop : chain ? (void *)image : jfk_iter();
	unsigned int i, wrong = 0;

	KUNIT_ASSERT_EQ_MSG(test, jfk_num_probes(x->tp), m->num, "at '%s'", at);
	KUNIT_EXPECT_EQ_MSG(test, jf_key_enabled(x->tp->key), m->num > 0, "at '%s'", at);
	KUNIT_EXPECT_PTR_EQ_MSG(test, x->tp->call->func, code, "at '%s'", at);
	KUNIT_EXPECT_EQ_MSG(test, jfk_num_tps(), m->num > 0 ? 1U : 0U, "at '%s'", at);
	if (!jfk.indirect) {
		KUNIT_EXPECT_EQ_MSG(test, jfk_text(branch_site(x)), m->num ?
				    jfk_insn(JF_OP_JMP, jfk_label(branch_site(x))) :
				    jfk_nop(), "at '%s'", at);
		KUNIT_EXPECT_EQ_MSG(test, jfk_text(call_site(x)),
				    m->num ? jfk_call(code) : jfk_nop(), "at '%s'", at);
	}
	for (i = 0; i < m->num; i++)
		wrong += !same(jfk_probe(x->tp, i), &m->probe[i]);
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0U, "the array at '%s'", at);
	if (chain) {
		KUNIT_EXPECT_TRUE(test, image->used);
		KUNIT_EXPECT_EQ(test, image->nargs, 2U);
		KUNIT_ASSERT_EQ_MSG(test, image->num, m->num, "at '%s'", at);
		for (i = 0; i < m->num; i++)
			wrong += !calls(&image->call[i], &m->probe[i]);
		KUNIT_EXPECT_EQ_MSG(test, wrong, 0U, "the chain at '%s'", at);
	} else if (m->num) {
		/* The iterator walks this until a NULL function. */
		for (i = 0; i < m->num; i++)
			wrong += !same(&x->tp->active[i], &m->probe[i]);
		KUNIT_EXPECT_EQ_MSG(test, wrong, 0U, "the iterator at '%s'", at);
		KUNIT_EXPECT_TRUE(test, !x->tp->active[m->num].func);
	}
}

/* --- scripts ----------------------------------------------------------- */

/*
 * "a" to "x" registers a probe, or unregisters it if it is there; a digit before
 * it is its priority (5 without). '!' before it: it has to be refused, as a
 * duplicate or as missing; '?': try to remove one that is not there.
 */
struct script {
	const char	*steps;
	unsigned int	transactions;
	unsigned int	iter_many;
};

static const struct script scripts[] = {
	/* 0 -> 1 -> 0 and so on, each one a transaction. */
	{ "a", 1 },
	{ "aa", 2 },
	{ "aaaa", 4 },
	{ "ab", 2 },
	{ "aba", 3 },
	{ "abb", 3 },
	{ "abab", 4 },
	{ "abba", 4 },
	{ "abcabc", 6 },
	{ "abccba", 6 },
	{ "abcbdacd", 8 },
	/* Same function, other data; they are of one kind. */
	{ "aeimq", 5 },
	{ "aeieai", 6 },
	/* Refused, and nothing patched. */
	{ "!a", 1 },
	{ "ab!a!b", 2 },
	{ "?a", 0 },
	{ "a?b?c", 1 },
	{ "aa?a", 2 },
	/* Highest priority first, equals in the order of registration. */
	{ "1a9b", 2 },
	{ "9a1b5c", 3 },
	{ "1a2b3c4d5e", 5 },
	{ "5a4b3c2d1e", 5 },
	{ "3a3b3c9d1e3f", 6 },
	{ "1a9b5c9d1eb", 6 },
	{ "9a9b1c1d5eca", 7 },
	/* Up to 16 from a chain, more from the iterator, and back. */
	{ "abcdefghijklmnop", 16 },
	{ "abcdefghijklmnopq", 17, 1 },
	/* Iterator to iterator: nothing to patch. */
	{ "abcdefghijklmnopqr", 17, 2 },
	{ "abcdefghijklmnopqrstuvwx", 17, 8 },
	{ "abcdefghijklmnopqra", 17, 3 },
	{ "abcdefghijklmnopqrar", 18, 3 },
	{ "abcdefghijklmnopqqq", 19, 2 },
	{ "abcdefghijklmnopq9rraq", 19, 3 },
};

static void script_desc(const struct script *s, char *desc)
{
	strscpy(desc, s->steps, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(script, scripts, script_desc);

static void run_script(struct kunit *test, struct fixture *x, const char *steps)
{
	bool there[PROBES] = { };
	const char *p;
	int prio = 5;

	for (p = steps; *p; p++) {
		char mark = *p == '!' || *p == '?' ? *p++ : 0;
		unsigned int i;

		if (*p >= '0' && *p <= '9')
			prio = *p++ - '0';
		i = *p - 'a';
		if (mark == '!') {
			if (!there[i])
				KUNIT_ASSERT_EQ(test, add(x, i, prio), 0);
			there[i] = true;
			KUNIT_EXPECT_EQ_MSG(test, __jf_trace_register(x->tp, func(i), data(i), 7),
					    -EEXIST, "at '%s'", p);
		} else if (mark == '?') {
			KUNIT_EXPECT_EQ_MSG(test, del(x, i), -ENOENT, "at '%s'", p);
		} else {
			KUNIT_ASSERT_EQ_MSG(test, there[i] ? del(x, i) : add(x, i, prio), 0,
					    "at '%s'", p);
			there[i] = !there[i];
		}
		expect_model(test, x, p);
		prio = 5;
	}
}

static void transitions(struct kunit *test)
{
	const struct script *s = test->param_value;
	struct fixture x = fixture(test);

	run_script(test, &x, s->steps);
	KUNIT_EXPECT_EQ(test, jfk.transactions, s->transactions);
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_many, (u64)s->iter_many);
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_exhausted, 0ULL);
}

/* The same where nothing is patched: always the iterator. */
static void transitions_indirect(struct kunit *test)
{
	const struct script *s = test->param_value;
	struct fixture x;

	jfk.indirect = true;
	jfk.blind = true;
	x = fixture(test);
	run_script(test, &x, s->steps);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_exhausted, 0ULL);
}

/* --- arguments --------------------------------------------------------- */

static void bad_arguments(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_mod *other = jfk_module(test, "other");
	struct jfk_state *before;
	unsigned long flags;
	int err[2];

	KUNIT_ASSERT_EQ(test, jfk_load(other), 0);
	KUNIT_ASSERT_EQ(test, add(&x, 0, 5), 0);
	before = jfk_save(test);
	KUNIT_EXPECT_EQ(test, __jf_trace_register(x.tp, NULL, data(1), 5), -EINVAL);
	/* Function or data differ. */
	KUNIT_EXPECT_EQ(test, __jf_trace_unregister(x.tp, func(0), data(1)), -ENOENT);
	KUNIT_EXPECT_EQ(test, __jf_trace_unregister(x.tp, func(1), data(0)), -ENOENT);
	KUNIT_EXPECT_EQ(test, __jf_trace_unregister(x.tp, NULL, NULL), -ENOENT);
	other->mod.state = MODULE_STATE_GOING;
	KUNIT_EXPECT_EQ(test, __jf_trace_register(x.tp, jfk_code(other, 0), NULL, 5), -EBUSY);
	other->mod.state = MODULE_STATE_COMING;
	KUNIT_EXPECT_EQ(test, __jf_trace_register(x.tp, jfk_init_text(other), NULL, 5), -EINVAL);
	other->mod.state = MODULE_STATE_LIVE;
	local_irq_save(flags);
	err[0] = __jf_trace_register(x.tp, func(1), data(1), 5);
	err[1] = __jf_trace_unregister(x.tp, func(0), data(0));
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, err[0], -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, err[1], -EWOULDBLOCK);
	JFK_EXPECT_UNCHANGED(test, before, "by bad arguments");
	expect_model(test, &x, "the end");
}

/* The same function with NULL and with data are two probes. */
static void null_data(struct kunit *test)
{
	struct fixture x = fixture(test);

	KUNIT_EXPECT_EQ(test, __jf_trace_register(x.tp, func(0), NULL, 5), 0);
	KUNIT_EXPECT_EQ(test, __jf_trace_register(x.tp, func(0), NULL, 5), -EEXIST);
	KUNIT_EXPECT_EQ(test, __jf_trace_register(x.tp, func(0), data(0), 5), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_probes(x.tp), 2U);
	KUNIT_EXPECT_EQ(test, __jf_trace_unregister(x.tp, func(0), NULL), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_probes(x.tp), 1U);
	KUNIT_EXPECT_PTR_EQ(test, jfk_probe(x.tp, 0)->data, data(0));
}

/* --- images ------------------------------------------------------------ */

/* Replaced code is used again only after a grace period. */
static void images_are_retired(struct kunit *test)
{
	struct fixture x = fixture(test);
	void *first;

	KUNIT_ASSERT_EQ(test, add(&x, 0, 5), 0);
	first = jfk_probes_image(x.tp);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
	KUNIT_ASSERT_EQ(test, add(&x, 1, 5), 0);
	KUNIT_EXPECT_PTR_NE(test, jfk_probes_image(x.tp), first);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 2U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	KUNIT_EXPECT_TRUE(test, jfk.scheduled);
	KUNIT_ASSERT_EQ(test, del(&x, 0), 0);
	KUNIT_ASSERT_EQ(test, del(&x, 1), 0);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 3U);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.scans, 0U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 3U);
	jfk_reclaim();
	/* One scan for all of them. */
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_EQ(test, jfk.scans, 1U);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
	/* Nothing is retired: nothing is scanned. */
	jfk.scheduled = true;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
}

/* Where stacks cannot be read it is a grace period, and one for all of them. */
static void images_are_retired_blind(struct kunit *test)
{
	struct fixture x = fixture(test);

	jfk.blind = true;
	KUNIT_ASSERT_EQ(test, add(&x, 0, 5), 0);
	KUNIT_ASSERT_EQ(test, add(&x, 1, 5), 0);
	KUNIT_ASSERT_EQ(test, del(&x, 0), 0);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 3U);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 1U);
	KUNIT_EXPECT_EQ(test, jfk.rude_graces, 1U);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 0U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
	/* It does not end: retired code stays. */
	jfk.gp_takes = -1;
	KUNIT_ASSERT_EQ(test, del(&x, 1), 0);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	KUNIT_EXPECT_TRUE(test, jfk.busy_scheduled);
	KUNIT_EXPECT_EQ(test, jfk.busy_delay, 10UL * HZ);
	/* Once for all of them: for each by itself there is no time. */
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 2U);
	jfk_end_graces();
	jfk.gp_takes = 1;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 0U);
}

/* None free, but some retired: they are waited for, and the fast path stays. */
static void images_are_reclaimed(struct kunit *test)
{
	struct fixture x = fixture(test);
	unsigned int i;

	jfk.images = 3;
	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_EQ(test, add(&x, i, 5), 0);
		expect_model(test, &x, "adding");
		KUNIT_EXPECT_TRUE(test, jfk_probes_image(x.tp) != NULL);
	}
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_exhausted, 0ULL);
	/* Images 4, 6, 8, 10 found none free, with two retired ones each time. */
	KUNIT_EXPECT_EQ(test, jfk.gathers, 4U);
}

/* All taken by others, and none retired: the iterator, until one is free. */
static void images_run_out(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct fixture x = { .m = m };
	struct jf_tracepoint *other[2];

	x.tp = jfk_tp(m, "tp", 2);
	other[0] = jfk_tp(m, "other0", 2);
	other[1] = jfk_tp(m, "other1", 2);
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	jfk.images = 2;
	KUNIT_ASSERT_EQ(test, __jf_trace_register(other[0], func(0), NULL, 5), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(other[1], func(0), NULL, 5), 0);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 2U);

	KUNIT_EXPECT_EQ(test, add(&x, 0, 5), 0);
	KUNIT_EXPECT_TRUE(test, !jfk_probes_image(x.tp));
	KUNIT_EXPECT_PTR_EQ(test, x.tp->call->func, jfk_iter());
	KUNIT_EXPECT_PTR_EQ(test, x.tp->active[0].func, func(0));
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_exhausted, 1ULL);

	KUNIT_ASSERT_EQ(test, __jf_trace_unregister(other[0], func(0), NULL), 0);
	/* The next change finds it, though it is only retired as yet. */
	KUNIT_EXPECT_EQ(test, add(&x, 1, 5), 0);
	KUNIT_EXPECT_TRUE(test, jfk_probes_image(x.tp) != NULL);
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_exhausted, 1ULL);
	KUNIT_EXPECT_EQ(test, jfk_num_probes(other[1]), 1U);
	KUNIT_EXPECT_TRUE(test, jfk_probes_image(other[1]) &&
			  ((struct jfk_image *)jfk_probes_image(other[1]))->used);
}

/* --- failures ---------------------------------------------------------- */

/* From n probes, by adding one or removing the first. */
struct change {
	unsigned int	from;
	bool		removal;
};

static const struct change changes[] = {
	{ 0, false }, { 1, false }, { 2, false }, { 15, false }, { 16, false }, { 17, false },
	{ 1, true }, { 2, true }, { 3, true }, { 16, true }, { 17, true }, { 18, true },
};

static void change_desc(const struct change *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u to %u probes", c->from,
		 c->removal ? c->from - 1 : c->from + 1);
}
KUNIT_ARRAY_PARAM(change, changes, change_desc);

static struct fixture with_probes(struct kunit *test, unsigned int num)
{
	struct fixture x = fixture(test);
	unsigned int i;

	for (i = 0; i < num; i++)
		KUNIT_ASSERT_EQ(test, add(&x, i, 5), 0);
	jfk_reclaim();
	jf_quiesce();
	KUNIT_ASSERT_EQ(test, jfk_num_retired(), 0U);
	expect_model(test, &x, "the start");
	return x;
}

static int try_change(struct fixture *x, const struct change *c)
{
	return c->removal ? del(x, 0) : add(x, c->from, 5);
}

/*
 * The chain of before is in force, and the prepared data are freed: but for records of code that a
 * task can have executed, until a quiesce.
 */
static void expect_old(struct kunit *test, struct fixture *x, const void *id,
		       const char *what)
{
	int not_freed;

	expect_model(test, x, what);
	KUNIT_EXPECT_PTR_EQ_MSG(test, jfk_probes_id(x->tp), id, "%s", what);
	jfk_reclaim();
	not_freed = jfk.not_freed - jfk_num_records();
	jf_quiesce();
	KUNIT_EXPECT_EQ_MSG(test, jfk_num_sought(), 0U, "%s", what);
	KUNIT_EXPECT_EQ_MSG(test, jfk.not_freed - (int)jfk_num_records(), not_freed, "%s", what);
}

/* Every allocation of a change fails in turn. */
static void each_allocation_fails(struct kunit *test)
{
	const struct change *c = test->param_value;
	struct fixture x = with_probes(test, c->from);
	const void *id = jfk_probes_id(x.tp);
	unsigned int n, images = jfk_images_used();
	int err = -1, not_freed = jfk.not_freed;

	for (n = 1; err && n < 20; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = try_change(&x, c);
		jfk.fail_at = 0;
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		expect_old(test, &x, id, "a failed allocation");
		KUNIT_EXPECT_EQ(test, jfk_images_used(), images);
		KUNIT_EXPECT_EQ(test, jfk.not_freed, not_freed);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, n, 1U);
	expect_model(test, &x, "the end");
}

/* The transaction, or filling in an image, fails. */
static void patching_fails(struct kunit *test)
{
	static const int errors[] = { -EILSEQ, -EBUSY, -ENOMEM, -ERANGE };
	const struct change *c = test->param_value;
	struct fixture x = with_probes(test, c->from);
	const void *id = jfk_probes_id(x.tp);
	unsigned int i, images = jfk_images_used();
	int err, not_freed = jfk.not_freed;
	/* A change without an image afterwards, or with nothing to patch, cannot fail there. */
	unsigned int to = c->removal ? c->from - 1 : c->from + 1;
	bool image = to && to <= JF_TRACE_CHAIN_MAX;
	bool patch = c->from <= JF_TRACE_CHAIN_MAX || to <= JF_TRACE_CHAIN_MAX;

	for (i = 0; patch && i < ARRAY_SIZE(errors); i++) {
		jfk.patch_err = errors[i];
		err = try_change(&x, c);
		jfk.patch_err = 0;
		KUNIT_ASSERT_EQ(test, err, errors[i]);
		expect_old(test, &x, id, "a failed transaction");
		KUNIT_EXPECT_EQ(test, jfk_images_used(), images);
		KUNIT_EXPECT_EQ(test, jfk.not_freed, not_freed);
	}
	for (i = 0; image && i < ARRAY_SIZE(errors); i++) {
		jfk.image_err = errors[i];
		err = try_change(&x, c);
		jfk.image_err = 0;
		KUNIT_ASSERT_EQ(test, err, errors[i]);
		expect_old(test, &x, id, "a failed image");
		KUNIT_EXPECT_EQ(test, jfk_images_used(), images);
		KUNIT_EXPECT_EQ(test, jfk.not_freed, not_freed);
	}
	KUNIT_EXPECT_EQ(test, try_change(&x, c), 0);
	expect_model(test, &x, "the end");
}

/* To the iterator and the patch fails: a task in it may have seen the new array. */
static void failed_array_is_retired(struct kunit *test)
{
	struct fixture x = with_probes(test, 17);
	static const struct jf_probe none;

	/* From the chain of 16 again, so that there is something to patch. */
	KUNIT_ASSERT_EQ(test, del(&x, 16), 0);
	jfk_reclaim();
	/* No task is in the iterator now, so it may be any array. */
	x.tp->active = &none;
	jfk.patch_err = -EILSEQ;
	KUNIT_EXPECT_EQ(test, add(&x, 17, 5), -EILSEQ);
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	KUNIT_EXPECT_PTR_EQ(test, x.tp->active, &none);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(func(17)));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_iter()));
	expect_model(test, &x, "after the failure");
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
}

/* A transaction that is taken back before a CPU has executed it leaves no record of its probes. */
static void failed_probe_is_not_retired(struct kunit *test)
{
	struct fixture x = with_probes(test, 1);

	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, add(&x, 1, 5), -EBUSY);
	jfk.patch_err = 0;
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(func(1)));
	/* All images are taken, and the first attempt is to be made again. */
	jfk.image_err = -ENOMEM;
	KUNIT_EXPECT_EQ(test, add(&x, 1, 5), -ENOMEM);
	jfk.image_err = 0;
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	jfk.runs_failed = true;
	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, add(&x, 1, 5), -EBUSY);
	jfk.patch_err = 0;
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(func(1)));
	jfk_reclaim();
	jf_quiesce();
}

/* The transaction fails after a CPU has executed it: a task may be in the new image. */
static void failed_image_is_retired(struct kunit *test)
{
	struct fixture x = with_probes(test, 1);
	const void *id = jfk_probes_id(x.tp);
	struct jfk_image *image;
	struct jfk_task *t;

	jfk.runs_failed = true;
	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, add(&x, 1, 5), -EBUSY);
	jfk.patch_err = 0;
	expect_model(test, &x, "the failure");
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 2U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	image = jfk.image + (jfk_probes_image(x.tp) == jfk.image);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(image));
	KUNIT_EXPECT_EQ(test, jfk_retired_kind(image), JF_RETIRED_DISPATCH);
	KUNIT_EXPECT_EQ(test, jfk_retired_pins(image), 0U);
	t = jfk_task(test, image);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 2U);
	jfk_leave(t);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 1U);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(image));
	expect_old(test, &x, id, "the failure, after a while");
	/* A change that succeeds leaves no record of its new target. */
	KUNIT_EXPECT_EQ(test, add(&x, 1, 5), 0);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_probes_image(x.tp)));
	expect_model(test, &x, "the end");
}

/* ... and may come there again, until the site that leads there is taken back. */
static void stuck_image_stays(struct kunit *test)
{
	struct fixture x = with_probes(test, 1);

	jfk.runs_failed = true;
	jfk.patch_err = -EBUSY;
	jfk.stuck_at = 1;
	jfk.stuck_stays = true;
	KUNIT_EXPECT_EQ(test, add(&x, 1, 5), -EBUSY);
	jfk.patch_err = 0;
	jfk.stuck_at = 0;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 2U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	jfk.stuck_stays = false;
	jfk_reclaim();
	KUNIT_EXPECT_TRUE(test, !jfk.stuck);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 1U);
	expect_model(test, &x, "the end");
}

/*
 * ... or in the iterator, which has yet to read where its array is. That must not be one that
 * has been freed since the iterator last served.
 */
static void failed_array_stays(struct kunit *test)
{
	struct fixture x = with_probes(test, 17);
	static const struct jf_probe freed;
	struct jfk_task *t;

	KUNIT_ASSERT_EQ(test, del(&x, 16), 0);
	jfk_reclaim();
	x.tp->active = &freed;
	jfk.runs_failed = true;
	jfk.patch_err = -EILSEQ;
	KUNIT_EXPECT_EQ(test, add(&x, 17, 5), -EILSEQ);
	jfk.patch_err = 0;
	KUNIT_ASSERT_PTR_NE(test, x.tp->active, &freed);
	KUNIT_EXPECT_PTR_EQ(test, x.tp->active[16].func, func(17));
	expect_model(test, &x, "after the failure");
	t = jfk_task(test, jfk_iter());
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	jfk_leave(t);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
}

/* After -EIO the new code counts as published. */
static void read_back_differs(struct kunit *test)
{
	struct fixture x = with_probes(test, 1);

	jfk.patch_err = -EIO;
	KUNIT_EXPECT_EQ(test, __jf_trace_register(x.tp, func(1), data(1), 5), -EIO);
	jfk.patch_err = 0;
	x.model.probe[x.model.num++] = (struct jf_probe){ func(1), data(1), 5 };
	expect_model(test, &x, "after -EIO");
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
}

/* --- modules ----------------------------------------------------------- */

/* A module that is unloaded loses the probes that it left, others keep theirs. */
static void left_behind(struct kunit *test)
{
	struct fixture x = with_probes(test, 2);
	struct jfk_mod *other = jfk_module(test, "other");

	/* Any module: this one has no tables. */
	other->mod.num_kp = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(other), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(x.tp, jfk_code(other, 0), NULL, 9), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(x.tp, jfk_code(other, 1), NULL, 5), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(x.tp, jfk_code(other, 1), data(1), 1), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_probes(x.tp), 5U);
	jfk.transactions = 0;
	jfk.gathers = 0;
	KUNIT_EXPECT_EQ(test, jfk_notify(other, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	expect_model(test, &x, "without them");
}

/* All of a tracepoint's probes were its. */
static void left_behind_all(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_mod *other = jfk_module(test, "other");

	KUNIT_ASSERT_EQ(test, jfk_load(other), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(x.tp, jfk_code(other, 0), NULL, 5), 0);
	KUNIT_EXPECT_EQ(test, jfk_notify(other, MODULE_STATE_GOING), 0);
	expect_model(test, &x, "without it");
}

/* Its unloading waits while its probes cannot be removed. */
static void left_behind_waits(struct kunit *test)
{
	struct fixture x = with_probes(test, 1);
	struct jfk_mod *other = jfk_module(test, "other");

	KUNIT_ASSERT_EQ(test, jfk_load(other), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(x.tp, jfk_code(other, 0), NULL, 5), 0);
	jfk.patch_err = -EBUSY;
	jfk.heal_after = 4;
	KUNIT_EXPECT_EQ(test, jfk_notify(other, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 4U);
	expect_model(test, &x, "in the end");
}

/* The tracepoint's module is unloaded with others' probes on it: a task in it still calls it. */
static void owner_goes(struct kunit *test)
{
	struct fixture x = with_probes(test, 3);

	jfk.transactions = 0;
	KUNIT_EXPECT_EQ(test, jfk_notify(x.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_FALSE(test, jf_key_enabled(x.tp->key));
	KUNIT_EXPECT_PTR_EQ(test, x.tp->call->func, (void *)jf_nop);
	KUNIT_EXPECT_EQ(test, jfk_num_tps(), 0U);
	KUNIT_EXPECT_TRUE(test, !jfk_probes_id(x.tp));
	/* The next check of jfk_exit() is that nothing of it was lost. */
}

/* In its exit function it may still clean up, but not add. */
static void exit_function(struct kunit *test)
{
	struct fixture x = with_probes(test, 2);

	x.m->mod.state = MODULE_STATE_GOING;
	KUNIT_EXPECT_EQ(test, add(&x, 5, 5), -EBUSY);
	expect_model(test, &x, "not added");
	KUNIT_EXPECT_EQ(test, del(&x, 0), 0);
	expect_model(test, &x, "one removed");
	KUNIT_EXPECT_EQ(test, del(&x, 1), 0);
	expect_model(test, &x, "both removed");
	KUNIT_EXPECT_EQ(test, jfk_notify(x.m, MODULE_STATE_GOING), 0);
}

static struct kunit_case trace_cases[] = {
	KUNIT_CASE_PARAM(transitions, script_gen_params),
	KUNIT_CASE_PARAM(transitions_indirect, script_gen_params),
	KUNIT_CASE(bad_arguments),
	KUNIT_CASE(null_data),
	KUNIT_CASE(images_are_retired),
	KUNIT_CASE(images_are_retired_blind),
	KUNIT_CASE(images_are_reclaimed),
	KUNIT_CASE(images_run_out),
	KUNIT_CASE_PARAM(each_allocation_fails, change_gen_params),
	KUNIT_CASE_PARAM(patching_fails, change_gen_params),
	KUNIT_CASE(failed_array_is_retired),
	KUNIT_CASE(failed_probe_is_not_retired),
	KUNIT_CASE(failed_image_is_retired),
	KUNIT_CASE(stuck_image_stays),
	KUNIT_CASE(failed_array_stays),
	KUNIT_CASE(read_back_differs),
	KUNIT_CASE(left_behind),
	KUNIT_CASE(left_behind_all),
	KUNIT_CASE(left_behind_waits),
	KUNIT_CASE(owner_goes),
	KUNIT_CASE(exit_function),
	{}
};

struct kunit_suite jfk_trace_suite = {
	.name = "jumpfunc-trace",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = trace_cases,
};
