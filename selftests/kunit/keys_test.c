// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-keys: jump-label keys (branch.h, jf_core.c, fake.h).
 *
 * What it proves: text, state and count of a key agree after each operation of
 * each script, and patching happens at the transitions between 0 and 1 users and
 * nowhere else; both forms of a branch hold the right instruction in both states;
 * counts neither wrap nor go below 0; a refused or failed operation changes
 * nothing, at whichever count.
 */
#include "fake.h"

#include "../vectors/keys.h"

struct fixture {
	struct jfk_mod	*m;
	struct jf_key	*key, *other;
	unsigned long	unlikely, likely, other_site;
};

static struct fixture fixture(struct kunit *test, bool on)
{
	struct fixture x = { .m = jfk_module(test, "m") };

	x.key = jfk_key(x.m, "key", on, on ? JF_ENT_ON : 0);
	x.other = jfk_key(x.m, "other", false, 0);
	x.unlikely = jfk_site(x.m, &x.key->ent, JF_SITE_BRANCH);
	x.likely = jfk_site(x.m, &x.key->ent, JF_SITE_BRANCH | JF_SITE_BRANCH_INV);
	x.other_site = jfk_site(x.m, &x.other->ent, JF_SITE_BRANCH);
	KUNIT_ASSERT_EQ(test, jfk_load(x.m), 0);
	jfk.transactions = 0;
	return x;
}

static void expect_count(struct kunit *test, struct fixture *x, int count,
			 const char *at)
{
	u64 unlikely_jmp = jfk_insn(JF_OP_JMP, jfk_label(x->unlikely));
	u64 likely_jmp = jfk_insn(JF_OP_JMP, jfk_label(x->likely));

	KUNIT_EXPECT_EQ_MSG(test, jf_key_count(x->key), count, "at '%s'", at);
	KUNIT_EXPECT_EQ_MSG(test, jf_key_enabled(x->key), count > 0, "at '%s'", at);
	KUNIT_EXPECT_EQ_MSG(test, jfk_text(x->unlikely),
			    count ? unlikely_jmp : jfk_nop(), "at '%s'", at);
	KUNIT_EXPECT_EQ_MSG(test, jfk_text(x->likely),
			    count ? jfk_nop() : likely_jmp, "at '%s'", at);
	KUNIT_EXPECT_EQ_MSG(test, jfk_text(x->other_site), jfk_nop(), "at '%s'", at);
}

/* --- scripts ----------------------------------------------------------- */

static void script_desc(const struct jf_key_script *s, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "'%s' from %d", s->steps, s->on);
}
KUNIT_ARRAY_PARAM(script, jf_key_scripts, script_desc);

static void counts(struct kunit *test)
{
	const struct jf_key_script *s = test->param_value;
	struct fixture x = fixture(test, s->on);
	int count = s->on;
	const char *p;

	expect_count(test, &x, count, "the start");
	for (p = s->steps; *p; p++) {
		bool fails = *p == '!';
		int err;

		p += fails;
		err = jf_key_step(x.key, *p);
		if (fails)
			KUNIT_EXPECT_EQ_MSG(test, err, jf_key_script_err(*p),
					    "at '%s'", p);
		else
			KUNIT_EXPECT_EQ_MSG(test, err, 0, "at '%s'", p);
		if (!fails)
			count = jf_key_script_count(count, *p);
		expect_count(test, &x, count, p);
	}
	KUNIT_EXPECT_EQ(test, count, s->count);
	KUNIT_EXPECT_EQ(test, jfk.transactions, s->transactions);
	KUNIT_EXPECT_EQ(test, jfk_updates(&x.key->ent), (u64)s->transactions);
}

/* --- edges ------------------------------------------------------------- */

static void count_saturates(struct kunit *test)
{
	struct fixture x = fixture(test, false);

	KUNIT_ASSERT_EQ(test, jf_key_inc(x.key), 0);
	x.key->count = INT_MAX - 1;
	KUNIT_EXPECT_EQ(test, jf_key_inc(x.key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(x.key), -EOVERFLOW);
	KUNIT_EXPECT_EQ(test, jf_key_inc(x.key), -EOVERFLOW);
	expect_count(test, &x, INT_MAX, "the top");
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), 0);
	expect_count(test, &x, INT_MAX - 1, "below the top");
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	x.key->count = 1;
}

/* Two keys in one batch: both, or none. */
static void two_keys(struct kunit *test)
{
	struct fixture x = fixture(test, true);
	struct jfk_state *before;
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, x.key, false);
	jf_key_batch_set(&b, x.other, true);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk.pokes, 3U);
	KUNIT_EXPECT_EQ(test, jf_key_count(x.key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_count(x.other), 1);

	/* The second one has users: the first one stays as well. */
	KUNIT_ASSERT_EQ(test, jf_key_inc(x.other), 0);
	before = jfk_save(test);
	jf_batch_init(&b);
	jf_key_batch_set(&b, x.key, true);
	jf_key_batch_set(&b, x.other, false);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EBUSY);
	JFK_EXPECT_UNCHANGED(test, before, "by half a batch");
}

/* --- failures ---------------------------------------------------------- */

struct key_failure {
	const char	*name;
	char		op;
	int		count;		/* before */
	int		patch_err;
	bool		memory;
};

static const struct key_failure key_failures[] = {
	{ "enable, patching fails", 'e', 0, -EILSEQ },
	{ "enable, no memory", 'e', 0, 0, true },
	{ "inc, patching fails", 'i', 0, -EBUSY },
	{ "inc, no memory", 'i', 0, 0, true },
	{ "dec, patching fails", 'D', 1, -EILSEQ },
	{ "dec, no memory", 'D', 1, 0, true },
	{ "disable, patching fails", 'd', 1, -EILSEQ },
	{ "disable, no memory", 'd', 1, 0, true },
	{ "batch on, patching fails", '1', 0, -ENOMEM },
	{ "batch off, patching fails", '0', 1, -EBUSY },
};

static void key_failure_desc(const struct key_failure *f, char *desc)
{
	strscpy(desc, f->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(key_failure, key_failures, key_failure_desc);

static void fails(struct kunit *test)
{
	const struct key_failure *f = test->param_value;
	struct fixture x = fixture(test, f->count > 0);
	struct jfk_state *before = jfk_save(test);

	jfk.patch_err = f->patch_err;
	jfk.allocs = 0;
	jfk.fail_at = f->memory;
	KUNIT_EXPECT_EQ(test, jf_key_step(x.key, f->op), f->memory ? -ENOMEM : f->patch_err);
	jfk.patch_err = 0;
	jfk.fail_at = 0;
	JFK_EXPECT_UNCHANGED(test, before, "by '%c'", f->op);
	expect_count(test, &x, f->count, "the failure");
	KUNIT_EXPECT_EQ(test, jf_key_step(x.key, f->op), 0);
	expect_count(test, &x, !f->count, "the second attempt");
}

/* Where only the count changes nothing is patched, and nothing can fail. */
static void count_alone_needs_nothing(struct kunit *test)
{
	struct fixture x = fixture(test, true);

	jfk.patch_err = -EILSEQ;
	jfk.allocs = 0;
	jfk.fail_at = 1;
	KUNIT_EXPECT_EQ(test, jf_key_inc(x.key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(x.key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), 0);
	KUNIT_EXPECT_EQ(test, jfk.allocs, 0U);
	jfk.patch_err = 0;
	jfk.fail_at = 0;
	expect_count(test, &x, 1, "the end");
}

/* ... but the same rules apply: module gone, module going. */
static void count_alone_obeys(struct kunit *test)
{
	struct fixture x = fixture(test, true);

	KUNIT_ASSERT_EQ(test, jf_key_inc(x.key), 0);
	x.m->mod.state = MODULE_STATE_GOING;
	KUNIT_EXPECT_EQ(test, jf_key_inc(x.key), -EBUSY);
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), -EBUSY);
	KUNIT_EXPECT_EQ(test, jf_key_count(x.key), 2);
	KUNIT_EXPECT_EQ(test, jfk_notify(x.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(x.key), -ENODEV);
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), -ENODEV);
	KUNIT_EXPECT_EQ(test, jf_key_count(x.key), 2);
}

static struct kunit_case keys_cases[] = {
	KUNIT_CASE_PARAM(counts, script_gen_params),
	KUNIT_CASE(count_saturates),
	KUNIT_CASE(two_keys),
	KUNIT_CASE_PARAM(fails, key_failure_gen_params),
	KUNIT_CASE(count_alone_needs_nothing),
	KUNIT_CASE(count_alone_obeys),
	{}
};

struct kunit_suite jfk_keys_suite = {
	.name = "jumpfunc-keys",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = keys_cases,
};
