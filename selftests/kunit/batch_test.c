// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-batch: updates and batches (jf_core.c, fake.h).
 *
 * Proves: a batch of any size is one transaction; a batch that changes
 * nothing has no transaction; every reason to refuse a batch, met at whichever entity or site,
 * leaves all text, values, counters and memory as they were, and the next batch
 * works; the documented exception (-EIO) counts as done; an entity named twice is one
 * change or an error; NULL forms, circles of trampolines, also those that would only
 * be closed when a module is unloaded, contexts; counters and trace events tell what
 * happened.
 */
#include "fake.h"

#define FUNCS	3

/*
 * Three dynamic functions with three call sites each and a key with two branches,
 * in a module that is alive.
 */
struct fixture {
	struct jfk_mod	*m;
	struct jf_func	*f[FUNCS], *null, *ret0;
	struct jf_key	*key, *ro;
	unsigned long	call[FUNCS][3], null_call, ret0_call, branch[2];
};

static struct fixture fixture(struct kunit *test)
{
	static const char * const names[] = { "f0", "f1", "f2" };
	struct fixture x = { .m = jfk_module(test, "m") };
	unsigned int i, j;

	for (i = 0; i < FUNCS; i++)
		x.f[i] = jfk_func(x.m, names[i], jfk_target(0), 0);
	x.null = jfk_func(x.m, "null", NULL, JF_ENT_NULL_OK);
	x.ret0 = jfk_func(x.m, "ret0", NULL, JF_ENT_RET0);
	x.key = jfk_key(x.m, "key", false, 0);
	x.ro = jfk_key(x.m, "ro", false, JF_ENT_RO);
	/* Interleaved, so that no entity's sites are neighbours. */
	for (j = 0; j < 3; j++)
		for (i = 0; i < FUNCS; i++)
			x.call[i][j] = jfk_site(x.m, &x.f[i]->ent, JF_SITE_CALL);
	x.null_call = jfk_site(x.m, &x.null->ent, JF_SITE_CALL);
	x.ret0_call = jfk_site(x.m, &x.ret0->ent, JF_SITE_CALL);
	x.branch[0] = jfk_site(x.m, &x.key->ent, JF_SITE_BRANCH);
	x.branch[1] = jfk_site(x.m, &x.key->ent, JF_SITE_BRANCH | JF_SITE_BRANCH_INV);
	KUNIT_ASSERT_EQ(test, jfk_load(x.m), 0);
	jfk.transactions = 0;
	jfk.allocs = 0;
	return x;
}

/* A trampoline and three calls for each function, and two branches. */
#define ALL_SITES	(FUNCS * 4 + 2)

/* All three functions to target @i, and the key on. */
static void fill(struct jf_batch *b, struct fixture *x, unsigned int target)
{
	unsigned int i;

	jf_batch_init(b);
	for (i = 0; i < FUNCS; i++)
		__jf_batch_set_func(b, x->f[i], jfk_target(target));
	jf_key_batch_set(b, x->key, true);
}

static void expect_done(struct kunit *test, struct fixture *x, unsigned int target)
{
	unsigned int i, j;

	for (i = 0; i < FUNCS; i++) {
		KUNIT_EXPECT_PTR_EQ(test, __jf_func_query(x->f[i]), jfk_target(target));
		KUNIT_EXPECT_EQ(test, jfk_text(jfk_tramp(x->m, x->f[i])),
				jfk_jmp(jfk_target(target)));
		for (j = 0; j < 3; j++)
			KUNIT_EXPECT_EQ(test, jfk_text(x->call[i][j]),
					jfk_call(jfk_target(target)));
	}
	KUNIT_EXPECT_TRUE(test, jf_key_enabled(x->key));
	KUNIT_EXPECT_EQ(test, jfk_text(x->branch[0]),
			jfk_insn(JF_OP_JMP, jfk_label(x->branch[0])));
	KUNIT_EXPECT_EQ(test, jfk_text(x->branch[1]), jfk_nop());
}

/* --- success ----------------------------------------------------------- */

static void all_in_one(struct kunit *test)
{
	struct fixture x = fixture(test);
	u64 before = jf_stats.broadcasts;
	struct jf_batch b;

	fill(&b, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk.live, 1U);
	KUNIT_EXPECT_EQ(test, jfk.pokes, ALL_SITES);
	KUNIT_EXPECT_EQ(test, jf_stats.broadcasts - before, 3ULL);
	expect_done(test, &x, 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&b.changes));
}

static const unsigned int sizes[] = { 1, 2, 3, 10, JFK_ENTS };

static void size_desc(const unsigned int *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u entities", *n);
}
KUNIT_ARRAY_PARAM(size, sizes, size_desc);

/* Three broadcasts, whatever the number of entities and sites. */
static void one_transaction(struct kunit *test)
{
	unsigned int i, n = *(const unsigned int *)test->param_value;
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_key *k[JFK_ENTS];
	struct jf_batch b;
	u64 before;

	for (i = 0; i < n; i++) {
		k[i] = jfk_key(m, "k", false, 0);
		jfk_site(m, &k[i]->ent, JF_SITE_BRANCH);
		jfk_site(m, &k[i]->ent, JF_SITE_BRANCH | JF_SITE_BRANCH_INV);
		jfk_site(m, &k[i]->ent, JF_SITE_BRANCH);
	}
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	jfk.transactions = 0;
	before = jf_stats.broadcasts;
	jf_batch_init(&b);
	/* In another order than the addresses'. */
	for (i = n; i-- > 0; )
		KUNIT_ASSERT_EQ(test, jf_key_batch_set(&b, k[i], true), 0);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk.pokes, 3 * n);
	KUNIT_EXPECT_EQ(test, jf_stats.broadcasts - before, 3ULL);
	KUNIT_EXPECT_EQ(test, jf_stats.updates, (u64)n);
	KUNIT_EXPECT_EQ(test, jf_stats.patched, 3ULL * n);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, jf_key_count(k[i]), 1);
}

static void nothing_changes(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before;
	struct jf_batch b;

	fill(&b, &x, 1);
	KUNIT_ASSERT_EQ(test, jf_batch_commit(&b), 0);
	before = jfk_save(test);
	jfk.transactions = 0;
	fill(&b, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, jf_key_enable(x.key), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	JFK_EXPECT_UNCHANGED(test, before, "by what is there already");
	KUNIT_EXPECT_EQ(test, jf_stats.errors, 0ULL);
}

/* One of three changes something: only its sites are written. */
static void only_what_changes(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;
	unsigned int i;

	jf_batch_init(&b);
	__jf_batch_set_func(&b, x.f[0], jfk_target(0));
	__jf_batch_set_func(&b, x.f[1], jfk_target(2));
	__jf_batch_set_func(&b, x.f[2], jfk_target(0));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.pokes, 4U);
	for (i = 0; i < jfk.pokes; i++)
		KUNIT_EXPECT_TRUE(test, jfk.poke[i].addr == jfk_tramp(x.m, x.f[1]) ||
				  jfk.poke[i].addr == x.call[1][0] ||
				  jfk.poke[i].addr == x.call[1][1] ||
				  jfk.poke[i].addr == x.call[1][2]);
	KUNIT_EXPECT_EQ(test, jf_stats.updates, 1ULL);
}

static void empty_batch(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before = jfk_save(test);
	struct jf_batch b;

	jf_batch_init(&b);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	/* Commit leaves it empty, and ready to be used again. */
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_EXPECT_EQ(test, jfk.ev_batches, 0U);
	JFK_EXPECT_UNCHANGED(test, before, "by nothing");
	KUNIT_EXPECT_EQ(test, __jf_batch_set_func(&b, x.f[0], jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_PTR_EQ(test, x.f[0]->func, jfk_target(1));
}

static void aborted_batch(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before = jfk_save(test);
	struct jf_batch b;

	fill(&b, &x, 1);
	jf_batch_abort(&b);
	JFK_EXPECT_UNCHANGED(test, before, "by an aborted batch");
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	JFK_EXPECT_UNCHANGED(test, before, "by what is left of it");
	/* An error while adding is forgotten as well. */
	jfk.allocs = 0;
	jfk.fail_at = 1;
	KUNIT_EXPECT_EQ(test, __jf_batch_set_func(&b, x.f[0], jfk_target(1)), -ENOMEM);
	jfk.fail_at = 0;
	jf_batch_abort(&b);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
}

/* A key without a site has a value all the same, and nothing is patched. */
static void no_sites(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_key *k = jfk_key(m, "k", false, 0);

	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	KUNIT_EXPECT_EQ(test, jf_key_enable(k), 0);
	KUNIT_EXPECT_TRUE(test, jf_key_enabled(k));
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_EXPECT_EQ(test, jf_stats.updates, 1ULL);
	KUNIT_EXPECT_EQ(test, jf_stats.batches, 0ULL);
}

static struct jf_func *settled;
static void *settled_func;

static void note_settled(void)
{
	settled_func = settled->func;
}

/* A target that only the value leads to, no site, cannot be executed before the value is there. */
static void settles_out_of_reach(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");

	settled = jfk_func(m, "f", jfk_target(0), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	jfk.transactions = 0;
	jfk.settles = 0;
	jfk.unreached = true;
	jfk.on_settle = note_settled;
	KUNIT_EXPECT_EQ(test, __jf_func_update(settled, jfk_target(1)), 0);
	jfk.on_settle = NULL;
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	KUNIT_EXPECT_EQ(test, jfk.settles, 1U);
	KUNIT_EXPECT_PTR_EQ(test, settled_func, jfk_target(0));
	KUNIT_EXPECT_PTR_EQ(test, settled->func, jfk_target(1));
}

static void null_forms(struct kunit *test)
{
	struct fixture x = fixture(test);

	KUNIT_EXPECT_EQ(test, jfk_text(x.null_call), jfk_nop());
	KUNIT_EXPECT_EQ(test, jfk_text(x.ret0_call), jfk_ret0());
	KUNIT_EXPECT_TRUE(test, !__jf_func_query(x.null));
	KUNIT_EXPECT_TRUE(test, !__jf_func_query(x.ret0));
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.null, jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.ret0, jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(x.null_call), jfk_call(jfk_target(1)));
	KUNIT_EXPECT_EQ(test, jfk_text(x.ret0_call), jfk_call(jfk_target(1)));
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.null, NULL), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.ret0, NULL), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(x.null_call), jfk_nop());
	KUNIT_EXPECT_EQ(test, jfk_text(x.ret0_call), jfk_ret0());
	KUNIT_EXPECT_EQ(test, jfk_text(jfk_tramp(x.m, x.null)), jfk_jmp(jf_nop));
	KUNIT_EXPECT_EQ(test, jfk_text(jfk_tramp(x.m, x.ret0)), jfk_jmp(jf_ret0));
	KUNIT_EXPECT_EQ(test, jf_ret0(), 0L);
}

/* --- the same entity twice --------------------------------------------- */

static void twice_the_same(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;

	fill(&b, &x, 1);
	__jf_batch_set_func(&b, x.f[1], jfk_target(1));
	__jf_batch_set_func(&b, x.f[1], jfk_target(1));
	jf_key_batch_set(&b, x.key, true);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk.pokes, ALL_SITES);
	KUNIT_EXPECT_EQ(test, jf_stats.updates, (u64)FUNCS + 1);
	KUNIT_EXPECT_EQ(test, jfk_updates(&x.f[1]->ent), 1ULL);
	expect_done(test, &x, 1);
}

/* --- failure ----------------------------------------------------------- */

struct failure {
	const char	*name;
	int		err;
	/* Spoils something, or adds a change that is refused. */
	void		(*spoil)(struct fixture *x, struct jf_batch *b);
	/* Puts it right again. */
	void		(*mend)(struct fixture *x);
};

#define FAIL(fn, body, cure)						\
	static void spoil_##fn(struct fixture *x, struct jf_batch *b)	\
	{								\
		body;							\
	}								\
	static void mend_##fn(struct fixture *x)			\
	{								\
		cure;							\
	}

static struct jf_func outside_func = {
	.ent = { "outside", NULL, JF_ENT_FUNC, 0 },
};
static struct jf_key outside_key = {
	.ent = { "outside", NULL, JF_ENT_KEY, 0 },
};
static u64 saved_text;

static unsigned long site_of(struct fixture *x, unsigned int i)
{
	return i ? x->call[2][i - 1] : jfk_tramp(x->m, x->f[0]);
}

static void overwrite(unsigned long addr, u64 insn)
{
	saved_text = jfk_text(addr);
	jfk_write(addr, insn);
}

FAIL(foreign_first, overwrite(site_of(x, 0), 0x1234567890), jfk_write(site_of(x, 0), saved_text))
FAIL(foreign_last, overwrite(x->branch[1], 0x1234567890), jfk_write(x->branch[1], saved_text))
FAIL(foreign_middle, overwrite(site_of(x, 2), 0x1234567890), jfk_write(site_of(x, 2), saved_text))
FAIL(one_byte, overwrite(site_of(x, 3), jfk_text(site_of(x, 3)) ^ 1ULL << 39),
     jfk_write(site_of(x, 3), saved_text))
FAIL(new_already, overwrite(site_of(x, 1), jfk_call(jfk_target(1))), jfk_write(site_of(x, 1), saved_text))
FAIL(breakpoint, overwrite(site_of(x, 2), (jfk_text(site_of(x, 2)) & ~0xffULL) | 0xcc),
     jfk_write(site_of(x, 2), saved_text))
FAIL(far, jfk.far = jfk_target(1), jfk.far = NULL)
FAIL(far_label, jfk.far = (void *)jfk_label(x->branch[0]), jfk.far = NULL)
FAIL(patch_nomem, jfk.patch_err = -ENOMEM, jfk.patch_err = 0)
FAIL(patch_busy, jfk.patch_err = -EBUSY; jfk.patch_err_at = ALL_SITES, jfk.patch_err = 0)
FAIL(patch_foreign, jfk.patch_err = -EILSEQ; jfk.patch_err_at = 7, jfk.patch_err = 0)
FAIL(patch_notsupp, jfk.patch_err = -EOPNOTSUPP, jfk.patch_err = 0)
FAIL(pokes_nomem, jfk.allocs = 0; jfk.fail_at = 1, jfk.fail_at = 0)
FAIL(add_nomem, jfk.allocs = 0; jfk.fail_at = 1; jf_key_batch_set(b, x->ro, true); jfk.fail_at = 0, )
FAIL(twice, __jf_batch_set_func(b, x->f[1], jfk_target(2)), )
FAIL(twice_back, __jf_batch_set_func(b, x->f[1], jfk_target(0)), )
FAIL(twice_key, jf_key_batch_set(b, x->key, false), )
FAIL(no_such_key, jf_key_batch_set(b, &outside_key, true), )
FAIL(no_such_func, __jf_batch_set_func(b, &outside_func, jfk_target(1)), )
FAIL(sealed, jf_key_batch_set(b, x->ro, true), )
FAIL(itself, __jf_batch_set_func(b, x->null, (void *)jfk_tramp(x->m, x->null) - 4), )
FAIL(users, x->ro->count = 2; x->ro->enabled = 1; jfk_ctl(&x->ro->ent)->sealed = false;
     jf_key_batch_set(b, x->ro, false),
     x->ro->count = 0; x->ro->enabled = 0; jfk_ctl(&x->ro->ent)->sealed = true)
FAIL(owner_goes, x->m->mod.state = MODULE_STATE_GOING, x->m->mod.state = MODULE_STATE_LIVE)
FAIL(atomic, jfk_force_context(true), jfk_force_context(false))

static const struct failure failures[] = {
	{ "foreign bytes at the first site", -EILSEQ, spoil_foreign_first, mend_foreign_first },
	{ "foreign bytes at the last site", -EILSEQ, spoil_foreign_last, mend_foreign_last },
	{ "foreign bytes in between", -EILSEQ, spoil_foreign_middle, mend_foreign_middle },
	{ "one bit of a last byte", -EILSEQ, spoil_one_byte, mend_one_byte },
	{ "the new bytes are there already", -EILSEQ, spoil_new_already, mend_new_already },
	{ "a breakpoint", -EBUSY, spoil_breakpoint, mend_breakpoint },
	{ "a target out of reach", -ERANGE, spoil_far, mend_far },
	{ "a branch out of reach", -ERANGE, spoil_far_label, mend_far_label },
	{ "no memory while patching", -ENOMEM, spoil_patch_nomem, mend_patch_nomem },
	{ "a breakpoint while patching, at the last poke", -EBUSY, spoil_patch_busy, mend_patch_busy },
	{ "foreign bytes while patching, at poke 7", -EILSEQ, spoil_patch_foreign, mend_patch_foreign },
	{ "the back end cannot write it", -EOPNOTSUPP, spoil_patch_notsupp, mend_patch_notsupp },
	{ "no memory for the pokes", -ENOMEM, spoil_pokes_nomem, mend_pokes_nomem },
	{ "no memory when a change was added", -ENOMEM, spoil_add_nomem, mend_add_nomem },
	{ "one function, two targets", -EINVAL, spoil_twice, mend_twice },
	{ "one function, a target and back", -EINVAL, spoil_twice_back, mend_twice_back },
	{ "one key, on and off", -EINVAL, spoil_twice_key, mend_twice_key },
	{ "a key of no module", -ENODEV, spoil_no_such_key, mend_no_such_key },
	{ "a function of no module", -ENODEV, spoil_no_such_func, mend_no_such_func },
	{ "a key that is sealed", -EROFS, spoil_sealed, mend_sealed },
	{ "a function that would call itself", -EINVAL, spoil_itself, mend_itself },
	{ "a key with two users, off", -EBUSY, spoil_users, mend_users },
	{ "the keys' module is being unloaded", -EBUSY, spoil_owner_goes, mend_owner_goes },
	{ "atomic context", -EWOULDBLOCK, spoil_atomic, mend_atomic },
};

static void failure_desc(const struct failure *f, char *desc)
{
	strscpy(desc, f->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(failure, failures, failure_desc);

/* Whatever the reason: nothing has changed, and the next attempt succeeds. */
static void all_or_nothing(struct kunit *test)
{
	const struct failure *f = test->param_value;
	struct fixture x = fixture(test);
	struct jfk_state *before;
	struct jf_batch b;
	u64 errors;

	/* Not all at their initial values. */
	KUNIT_ASSERT_EQ(test, __jf_func_update(x.f[2], jfk_target(3)), 0);
	before = jfk_save(test);
	fill(&b, &x, 1);
	f->spoil(&x, &b);
	errors = jf_stats.errors;
	jfk.ev_batches = 0;
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), f->err);
	KUNIT_EXPECT_TRUE(test, list_empty(&b.changes));
	KUNIT_EXPECT_EQ(test, b.err, 0);
	if (jfk.ev_batches) {
		KUNIT_EXPECT_EQ(test, jfk.ev_error, f->err);
		KUNIT_EXPECT_EQ(test, jfk.ev_entities, 0U);
		KUNIT_EXPECT_EQ(test, jfk.ev_sites, 0U);
		KUNIT_EXPECT_EQ(test, jf_stats.errors, errors + 1);
	}
	f->mend(&x);
	JFK_EXPECT_UNCHANGED(test, before, "by a batch that was refused");

	fill(&b, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	expect_done(test, &x, 1);
}

static const int poke_errs[] = { -EILSEQ, -EBUSY };

static void poke_err_desc(const int *err, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", *err == -EBUSY ?
		 "as the breakpoint is set" : "as the bytes are compared");
}
KUNIT_ARRAY_PARAM(poke_err, poke_errs, poke_err_desc);

/* The architecture refuses at poke n of the transaction, for each n. */
static void each_poke_fails(struct kunit *test)
{
	int want = *(const int *)test->param_value, err = -1;
	struct fixture x = fixture(test);
	struct jfk_state *before = jfk_save(test);
	struct jf_batch b;
	unsigned int n;

	for (n = 1; n <= ALL_SITES + 1; n++) {
		fill(&b, &x, 1);
		jfk.patch_err = want;
		jfk.patch_err_at = n;
		err = jf_batch_commit(&b);
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, want);
		JFK_EXPECT_UNCHANGED(test, before, "poke %u", n);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, n, ALL_SITES + 1U);
	/* Each one was taken back with a broadcast. */
	KUNIT_EXPECT_EQ(test, jfk.undone, want == -EBUSY ? ALL_SITES : 0U);
	expect_done(test, &x, 1);
}

/* Every site in turn holds foreign bytes. */
static void each_site_foreign(struct kunit *test)
{
	struct fixture x = fixture(test);
	unsigned long site, end = x.branch[1];
	unsigned int seen = 0;
	struct jf_batch b;

	for (site = (unsigned long)x.m->mem.text; site <= end; site++) {
		struct jf_site *s = jf_site_find(site);
		struct jfk_state *before;

		if (!s || s->ctl->ent == &x.null->ent || s->ctl->ent == &x.ret0->ent)
			continue;
		seen++;
		overwrite(site, 0x9090909090);
		before = jfk_save(test);
		fill(&b, &x, 1);
		KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EILSEQ);
		JFK_EXPECT_UNCHANGED(test, before, "site %u", seen);
		kunit_kfree(test, before);
		jfk_write(site, saved_text);
	}
	KUNIT_EXPECT_EQ(test, seen, ALL_SITES);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 0U);
	fill(&b, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	expect_done(test, &x, 1);
}

/* Every allocation fails in turn, in adding and in committing. */
static void each_allocation_fails(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before;
	struct jf_batch b;
	unsigned int n;
	int err = -1;

	/* Each replaces another target, and so has a record of its own. */
	KUNIT_ASSERT_EQ(test, __jf_func_update(x.f[1], jfk_target(2)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(x.f[2], jfk_target(3)), 0);
	jf_quiesce();
	before = jfk_save(test);
	for (n = 1; err && n < 20; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		fill(&b, &x, 1);
		err = jf_batch_commit(&b);
		jfk.fail_at = 0;
		if (err) {
			KUNIT_EXPECT_EQ(test, err, -ENOMEM);
			JFK_EXPECT_UNCHANGED(test, before, "allocation %u", n);
			KUNIT_EXPECT_EQ(test, jfk_num_sought(), 0U);
		}
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	/*
	 * Four changes, two records and the pokes failed before one got through. The target that
	 * all of them had first, and one still has, has a record already.
	 */
	KUNIT_EXPECT_EQ(test, n, 9U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 3U);
	expect_done(test, &x, 1);
}

/* One update takes no list: it allocates a record, and the pokes. */
static void one_update_without_memory(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before = jfk_save(test);

	jfk.allocs = 0;
	jfk.fail_at = 1;
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(1)), -ENOMEM);
	JFK_EXPECT_UNCHANGED(test, before, "by an update without memory");
	jfk.allocs = 0;
	jfk.fail_at = 2;
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(1)), -ENOMEM);
	JFK_EXPECT_UNCHANGED(test, before, "by an update without memory for pokes");
	jfk.fail_at = 3;
	jfk.allocs = 0;
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, jfk.allocs, 2U);
}

/* The one error after which things have changed. */
static void read_back_differs(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;

	jfk.patch_err = -EIO;
	fill(&b, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EIO);
	jfk.patch_err = 0;
	expect_done(test, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_stats.errors, 1ULL);
	KUNIT_EXPECT_EQ(test, jf_stats.updates, (u64)FUNCS + 1);
}

static void no_null_form(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before = jfk_save(test);

	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jf_nop), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by NULL");
}

/* Interrupts off, for real this time. */
static void interrupts_off(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before = jfk_save(test);
	struct jf_batch b;
	unsigned long flags;
	int err[7];

	fill(&b, &x, 1);
	local_irq_save(flags);
	err[0] = __jf_func_update(x.f[0], jfk_target(1));
	err[1] = jf_key_enable(x.key);
	err[2] = jf_key_disable(x.key);
	err[3] = jf_key_inc(x.key);
	err[4] = jf_key_dec(x.key);
	err[5] = jf_batch_commit(&b);
	err[6] = jf_check_context();
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, err[0], -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, err[1], -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, err[2], -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, err[3], -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, err[4], -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, err[5], -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, err[6], -EWOULDBLOCK);
	JFK_EXPECT_UNCHANGED(test, before, "with interrupts off");
	KUNIT_EXPECT_EQ(test, jf_check_context(), 0);
}

/* --- circles ----------------------------------------------------------- */

static void *entry(struct fixture *x, struct jf_func *f)
{
	return (void *)jfk_tramp(x->m, f) - 4;
}

/* f0 -> f1 -> f2 -> f0, closed by one update or by a batch. */
static void circles(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_state *before;
	struct jf_batch b;

	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], entry(&x, x.f[0])), -EINVAL);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], entry(&x, x.f[1])), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[1], entry(&x, x.f[0])), -EINVAL);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[1], entry(&x, x.f[2])), 0);
	before = jfk_save(test);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[2], entry(&x, x.f[0])), -EINVAL);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[2], entry(&x, x.f[1])), -EINVAL);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[2], entry(&x, x.f[2])), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by a circle");
	/* Legal only if the batch is checked as a whole. */
	jf_batch_init(&b);
	__jf_batch_set_func(&b, x.f[2], entry(&x, x.f[0]));
	__jf_batch_set_func(&b, x.f[1], jfk_target(1));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	/* And the other way round. */
	jf_batch_init(&b);
	__jf_batch_set_func(&b, x.f[0], jfk_target(0));
	__jf_batch_set_func(&b, x.f[2], jfk_target(0));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	before = jfk_save(test);
	jf_batch_init(&b);
	__jf_batch_set_func(&b, x.f[0], entry(&x, x.f[1]));
	__jf_batch_set_func(&b, x.f[1], entry(&x, x.f[0]));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by a circle within the batch");
}

/*
 * A function with a target in another module may fall back to its initial one at any
 * time, and so leads to both. Here the initial target of h1 is f1's trampoline, and
 * that of h2 is h1's; "far" has targets of its own.
 */
struct falls {
	struct fixture	x;
	struct jfk_mod	*m, *far;
	struct jf_func	*h1, *h2;
};

static struct falls falls(struct kunit *test)
{
	struct falls y = { .x = fixture(test) };

	y.m = jfk_module(test, "falls");
	y.far = jfk_module(test, "far");
	y.h1 = jfk_func(y.m, "h1", entry(&y.x, y.x.f[1]), 0);
	y.h2 = jfk_func(y.m, "h2", entry(&(struct fixture){ .m = y.m }, y.h1), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(y.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(y.far), 0);
	return y;
}

static void *fall_entry(struct falls *y, struct jf_func *f)
{
	return (void *)jfk_tramp(y->m, f) - 4;
}

/* Two functions: each change by itself is fine, in either order, but not both. */
static void circles_of_two(struct kunit *test)
{
	struct falls y = falls(test);
	struct jfk_state *before;
	struct jf_batch b;

	/* h1 -> far, f1 -> h1: when far is unloaded, h1 -> f1 -> h1. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, jfk_code(y.far, 0)), 0);
	before = jfk_save(test);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[1], fall_entry(&y, y.h1)), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by a circle of a fall-back");
	/* The same in one batch, in either order. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, entry(&y.x, y.x.f[1])), 0);
	before = jfk_save(test);
	jf_batch_init(&b);
	__jf_batch_set_func(&b, y.h1, jfk_code(y.far, 0));
	__jf_batch_set_func(&b, y.x.f[1], fall_entry(&y, y.h1));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EINVAL);
	jf_batch_init(&b);
	__jf_batch_set_func(&b, y.x.f[1], fall_entry(&y, y.h1));
	__jf_batch_set_func(&b, y.h1, jfk_code(y.far, 0));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by a circle of a fall-back in a batch");

	/* A target in the function's own module does not fall back. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, jfk_code(y.m, 0)), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[1], fall_entry(&y, y.h1)), 0);
	/* And now the first half is refused after the second. */
	before = jfk_save(test);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, jfk_code(y.far, 0)), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by the other half");
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, jfk_code(y.m, 1)), 0);

	/* A module is unloaded that was never part of it: nothing happens to them. */
	KUNIT_EXPECT_EQ(test, jfk_notify(y.far, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_PTR_EQ(test, y.h1->func, jfk_code(y.m, 1));
	KUNIT_EXPECT_EQ(test, jf_stats.fallbacks, 0ULL);
}

/* Three functions, of which two would have to fall back. */
static void circles_of_three(struct kunit *test)
{
	struct falls y = falls(test);
	struct jfk_state *before;
	struct jf_batch b;

	/* h2 -> far, h1 -> far; then f1 -> h2 would close h2 -> h1 -> f1 -> h2. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h2, jfk_code(y.far, 0)), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, jfk_code(y.far, 1)), 0);
	before = jfk_save(test);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[1], fall_entry(&y, y.h2)), -EINVAL);
	/* Over one more. */
	jf_batch_init(&b);
	__jf_batch_set_func(&b, y.x.f[1], entry(&y.x, y.x.f[2]));
	__jf_batch_set_func(&b, y.x.f[2], fall_entry(&y, y.h2));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by a circle of two fall-backs");
	/* One link is cut for good: then the circle is open. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, jfk_code(y.m, 0)), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[1], fall_entry(&y, y.h2)), 0);
	before = jfk_save(test);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h1, jfk_code(y.far, 1)), -EINVAL);
	JFK_EXPECT_UNCHANGED(test, before, "by what cannot fall back");

	/* It is unloaded, and falling back is not refused. */
	KUNIT_EXPECT_EQ(test, jfk_notify(y.far, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_PTR_EQ(test, y.h2->func, fall_entry(&y, y.h1));
	KUNIT_EXPECT_EQ(test, jf_stats.fallbacks, 1ULL);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
}

/* Two ways that lead to one function are no circle. */
static void no_circle(struct kunit *test)
{
	struct falls y = falls(test);

	KUNIT_EXPECT_EQ(test, __jf_func_update(y.h2, entry(&y.x, y.x.f[0])), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[0], entry(&y.x, y.x.f[1])), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[2], fall_entry(&y, y.h2)), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[1], jfk_target(2)), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[1], fall_entry(&y, y.h2)), -EINVAL);
	KUNIT_EXPECT_EQ(test, __jf_func_update(y.x.f[1], fall_entry(&y, y.h1)), -EINVAL);
}

/* --- accounts ---------------------------------------------------------- */

static void counters(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_stats s;
	struct jf_batch b;

	fill(&b, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(2)), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], NULL), -EINVAL);
	jf_stats_get(&s);
	KUNIT_EXPECT_EQ(test, s.updates, FUNCS + 2ULL);
	KUNIT_EXPECT_EQ(test, s.batches, 2ULL);
	KUNIT_EXPECT_EQ(test, s.patched, ALL_SITES + 4ULL);
	KUNIT_EXPECT_EQ(test, s.errors, 1ULL);
	KUNIT_EXPECT_EQ(test, s.fallbacks, 0ULL);
	KUNIT_EXPECT_GT(test, s.ns_min, 0ULL);
	KUNIT_EXPECT_TRUE(test, s.ns_min <= s.ns_last && s.ns_last <= s.ns_max);
	KUNIT_EXPECT_EQ(test, jfk_updates(&x.f[0]->ent), 2ULL);
	KUNIT_EXPECT_EQ(test, jfk_updates(&x.f[1]->ent), 1ULL);
	KUNIT_EXPECT_EQ(test, jfk_updates(&x.key->ent), 1ULL);
}

static void trace_events(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;

	fill(&b, &x, 1);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, jfk.ev_updates, FUNCS + 1U);
	KUNIT_EXPECT_EQ(test, jfk.ev_batches, 1U);
	KUNIT_EXPECT_EQ(test, jfk.ev_entities, FUNCS + 1U);
	KUNIT_EXPECT_EQ(test, jfk.ev_sites, ALL_SITES);
	KUNIT_EXPECT_EQ(test, jfk.ev_error, 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, jfk.ev_updates, FUNCS + 1U);
	KUNIT_EXPECT_EQ(test, jfk.ev_batches, 2U);
	KUNIT_EXPECT_EQ(test, jfk.ev_error, -EINVAL);
}

/* A module is unloaded, and loaded again. */
static void expect_due(struct kunit *test, struct jfk_mod *m, unsigned int due,
		       const char *when)
{
	jfk.gathers = jfk.scans = 0;
	jf_stats.quiesces = 0;
	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ_MSG(test, jfk.gathers, due, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, jfk.scans, due, "%s", when);
	KUNIT_EXPECT_EQ_MSG(test, jf_stats.quiesces, (u64)due, "%s", when);
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
}

/* A wait is due when a module is unloaded that has been a target, once. */
static void quiesce_when_needed(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_mod *other = jfk_module(test, "other");
	void *target = jfk_code(other, 0);

	other->mod.num_kp = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(other), 0);
	expect_due(test, other, 0, "nothing has happened");
	KUNIT_EXPECT_EQ(test, jf_key_enable(x.key), 0);
	expect_due(test, other, 0, "a key has changed");
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(1)), 0);
	expect_due(test, other, 0, "a target in another module was replaced");
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], NULL), -EINVAL);
	expect_due(test, other, 0, "an update was refused");
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], target), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[1], target), 0);
	expect_due(test, other, 1, "it was the target of two");
	expect_due(test, other, 0, "it was loaded again as another one");
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], target), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(1)), 0);
	expect_due(test, other, 1, "it was a target for a while");
	/* A task may have jumped to a helper, which the scan does not cover. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], target), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(1)), 0);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk_num_sought(), 0U);
	expect_due(test, other, 1, "it was, and others have waited for the target");
}

static void target_names(struct kunit *test)
{
	char *buf = kunit_kzalloc(test, JF_NAME_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	KUNIT_EXPECT_STREQ(test, jf_target_name(jf_nop, buf), "none");
	KUNIT_EXPECT_STREQ(test, jf_target_name(jf_ret0, buf), "return-0");
	KUNIT_EXPECT_EQ(test, strncmp(jf_target_name(jfk_target(1), buf), "target1", 7), 0);
}

/* --- targets that last, and modules that are kept ------------------------- */

static void foreign_text(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jf_batch b;

	jfk.no_text = jfk_target(3);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(3)), -EPERM);
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], jfk_target(3), JF_PIN), -EPERM);
	KUNIT_EXPECT_PTR_EQ(test, __jf_func_query(x.f[0]), jfk_target(0));
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], jfk_target(3), JF_VOUCH), 0);
	KUNIT_EXPECT_PTR_EQ(test, __jf_func_query(x.f[0]), jfk_target(3));
	/* It is asked of each update anew, not of the value. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(3)), -EPERM);
	jf_batch_init(&b);
	__jf_batch_set_func(&b, x.f[1], jfk_target(1));
	__jf_batch_set_func(&b, x.f[2], jfk_target(3));
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EPERM);
	KUNIT_EXPECT_PTR_EQ(test, __jf_func_query(x.f[1]), jfk_target(0));
	jf_batch_init(&b);
	__jf_batch_set_func(&b, x.f[1], jfk_target(1));
	__jf_batch_set_func_flags(&b, x.f[2], jfk_target(3), JF_VOUCH);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	/* JF_VOUCH does not help for addresses that are not text, in a module that is known. */
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], x.m->mem.name, JF_VOUCH), -EPERM);
}

static void pinned(struct kunit *test)
{
	struct fixture x = fixture(test);
	struct jfk_mod *a = jfk_module(test, "a"), *b = jfk_module(test, "b");
	struct jf_batch batch;
	void *in_a, *in_b;
	unsigned int i;

	a->mod.num_kp = 0;
	b->mod.num_kp = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(a), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(b), 0);
	in_a = jfk_code(a, 0);
	in_b = jfk_code(b, 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], in_a), 0);
	KUNIT_EXPECT_EQ(test, a->refs, 0U);
	/* The same value, kept; once, however often that is asked for. */
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], in_a, JF_PIN), 0);
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], in_a, JF_PIN), 0);
	KUNIT_EXPECT_EQ(test, a->refs, 1U);
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[1], in_a, JF_PIN), 0);
	KUNIT_EXPECT_EQ(test, a->refs, 2U);
	/* A failure keeps the kept record. */
	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], in_b, JF_PIN), -EBUSY);
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, a->refs, 2U);
	KUNIT_EXPECT_EQ(test, b->refs, 0U);
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], in_b, JF_PIN), 0);
	KUNIT_EXPECT_EQ(test, a->refs, 1U);
	KUNIT_EXPECT_EQ(test, b->refs, 1U);
	/* The next update decides anew. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], in_b), 0);
	KUNIT_EXPECT_EQ(test, b->refs, 0U);
	/* Twice in a batch: one request is enough. */
	for (i = 0; i < 2; i++) {
		jf_batch_init(&batch);
		__jf_batch_set_func_flags(&batch, x.f[2], in_b, i ? JF_PIN : 0);
		__jf_batch_set_func_flags(&batch, x.f[2], in_b, i ? 0 : JF_PIN);
		KUNIT_EXPECT_EQ(test, jf_batch_commit(&batch), 0);
		KUNIT_EXPECT_EQ(test, b->refs, 1U);
		KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[2], jfk_target(0)), 0);
		KUNIT_EXPECT_EQ(test, b->refs, 0U);
	}
	/* A target that needs no pin, one in no module, one in a module that is unloaded. */
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], jfk_code(x.m, 0), JF_PIN), 0);
	KUNIT_EXPECT_EQ(test, x.m->refs, 0U);
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], jfk_target(0), JF_PIN), 0);
	jfk.old_text = jfk_target(2);
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], jfk_target(2), JF_PIN), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, __jf_func_update(x.f[0], jfk_target(2)), 0);
	b->mod.state = MODULE_STATE_GOING;
	KUNIT_EXPECT_EQ(test, __jf_func_update_flags(x.f[0], in_b, JF_PIN), -EBUSY);
	/* The module with the functions is unloaded, and releases its pins. */
	KUNIT_EXPECT_EQ(test, a->refs, 1U);
	KUNIT_EXPECT_EQ(test, jfk_notify(x.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, a->refs, 0U);
}

static struct kunit_case batch_cases[] = {
	KUNIT_CASE(foreign_text),
	KUNIT_CASE(pinned),
	KUNIT_CASE(all_in_one),
	KUNIT_CASE_PARAM(one_transaction, size_gen_params),
	KUNIT_CASE(nothing_changes),
	KUNIT_CASE(only_what_changes),
	KUNIT_CASE(empty_batch),
	KUNIT_CASE(aborted_batch),
	KUNIT_CASE(no_sites),
	KUNIT_CASE(settles_out_of_reach),
	KUNIT_CASE(null_forms),
	KUNIT_CASE(twice_the_same),
	KUNIT_CASE_PARAM(all_or_nothing, failure_gen_params),
	KUNIT_CASE_PARAM(each_poke_fails, poke_err_gen_params),
	KUNIT_CASE(each_site_foreign),
	KUNIT_CASE(each_allocation_fails),
	KUNIT_CASE(one_update_without_memory),
	KUNIT_CASE(read_back_differs),
	KUNIT_CASE(no_null_form),
	KUNIT_CASE(interrupts_off),
	KUNIT_CASE(circles),
	KUNIT_CASE(circles_of_two),
	KUNIT_CASE(circles_of_three),
	KUNIT_CASE(no_circle),
	KUNIT_CASE(counters),
	KUNIT_CASE(trace_events),
	KUNIT_CASE(quiesce_when_needed),
	KUNIT_CASE(target_names),
	{}
};

struct kunit_suite jfk_batch_suite = {
	.name = "jumpfunc-batch",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = batch_cases,
};
