// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-keys: jump-label keys (branch.h, jf_core.c, fake.h).
 *
 * Proves: text, state and count of a key agree after each operation of
 * each script, and patching happens at the transitions between 0 and 1 users and
 * nowhere else; both forms of a branch hold the right instruction in both states;
 * counts neither wrap nor go below 0; a refused or failed operation changes
 * nothing, at whichever count. While a key has users, counting takes no lock and
 * needs no context; while it is being disabled, no caller can count it up. A deferred
 * key's last user is taken away once, later, and not after its module is unloaded.
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

/* ... but the same rules apply: its module is unloaded, or being unloaded. */
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

/* --- without the lock ---------------------------------------------------- */

static struct jf_key *counted;
static int counted_max;
static bool counted_from_0;

/* As a caller on another CPU would while the text is being written. */
static void count_meanwhile(void)
{
	counted_from_0 |= jf_key_inc_not_zero(counted);
	counted_max = max(counted_max, jf_key_count(counted));
}

/* In the middle of a transaction that disables it, a key has no user to share. */
static void count_is_frozen(struct kunit *test)
{
	struct fixture x = fixture(test, true);
	static const char ops[] = { 'D', 'd', '0' };
	unsigned int i;

	counted = x.key;
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		counted_from_0 = false;
		counted_max = 0;
		jfk.on_sync = count_meanwhile;
		/* Once with a failure, which gives the user back. */
		jfk.patch_err = -EILSEQ;
		jfk.patch_err_at = 1;
		KUNIT_EXPECT_EQ(test, jf_key_step(x.key, ops[i]), -EILSEQ);
		jfk.patch_err = 0;
		jfk.patch_err_at = 0;
		expect_count(test, &x, 1, "the failure");
		KUNIT_EXPECT_EQ(test, jf_key_step(x.key, ops[i]), 0);
		jfk.on_sync = NULL;
		KUNIT_EXPECT_FALSE(test, counted_from_0);
		KUNIT_EXPECT_EQ(test, counted_max, 0);
		expect_count(test, &x, 0, "the end");
		/* Nor has it one before the last site is on. */
		jfk.on_sync = count_meanwhile;
		KUNIT_EXPECT_EQ(test, jf_key_step(x.key, ops[i] == 'D' ? 'i' : ops[i] == 'd' ? 'e' : '1'), 0);
		jfk.on_sync = NULL;
		KUNIT_EXPECT_FALSE(test, counted_from_0);
		expect_count(test, &x, 1, "on again");
	}
}

static int visitor_err;
static bool visitor_came;

static void visitor_leaves(void)
{
	jfk.on_batch = NULL;
	visitor_err = visitor_err ?: jf_key_dec(counted);
	visitor_came = false;
}

static void visitor_comes(void)
{
	jfk.on_cmpxchg = NULL;
	jfk.on_batch = visitor_leaves;
	visitor_err = jf_key_inc(counted);
	visitor_came = true;
}

/* The last user leaves; just then another one comes, and leaves as soon as it can. */
static void last_but_one(struct kunit *test)
{
	struct fixture x = fixture(test, true);
	unsigned int batches = jfk.ev_batches;

	counted = x.key;
	jfk.on_cmpxchg = visitor_comes;
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), 0);
	KUNIT_EXPECT_EQ(test, jfk.ev_batches, batches);
	jfk.on_cmpxchg = NULL;
	jfk.on_batch = NULL;
	if (visitor_came)
		visitor_leaves();
	KUNIT_EXPECT_EQ(test, visitor_err, 0);
	expect_count(test, &x, 0, "the end");
}

/* With the lock held by others, and with interrupts off. */
static void no_lock(struct kunit *test)
{
	struct fixture x = fixture(test, true);
	unsigned long flags;
	int err[2];

	mutex_lock(&jf_mutex);
	local_irq_save(flags);
	err[0] = jf_key_inc(x.key);
	counted_from_0 = jf_key_inc_not_zero(x.key);
	err[1] = jf_key_dec(x.key);
	local_irq_restore(flags);
	mutex_unlock(&jf_mutex);
	KUNIT_EXPECT_EQ(test, err[0], 0);
	KUNIT_EXPECT_EQ(test, err[1], 0);
	KUNIT_EXPECT_TRUE(test, counted_from_0);
	expect_count(test, &x, 2, "counting");
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), 0);
	KUNIT_EXPECT_FALSE(test, jf_key_inc_not_zero(x.key));
	local_irq_save(flags);
	err[0] = jf_key_inc(x.key);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, err[0], -EWOULDBLOCK);
	expect_count(test, &x, 0, "the end");
}

/* A read-only key is never written to without the lock, which knows if it may. */
static void read_only(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_key *key = jfk_key(m, "ro", true, JF_ENT_RO | JF_ENT_ON);

	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_COMING), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(key), 0);
	KUNIT_EXPECT_FALSE(test, jf_key_inc_not_zero(key));
	KUNIT_EXPECT_EQ(test, jf_key_count(key), 2);
	KUNIT_ASSERT_EQ(test, jfk_notify(m, MODULE_STATE_LIVE), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(key), -EROFS);
	KUNIT_EXPECT_EQ(test, jf_key_dec(key), -EROFS);
	KUNIT_EXPECT_FALSE(test, jf_key_inc_not_zero(key));
	KUNIT_EXPECT_EQ(test, jf_key_count(key), 2);
}

/* The caller has the hotplug lock: it is not taken once more. */
static void cpuslocked(struct kunit *test)
{
	struct fixture x = fixture(test, false);
	struct jf_batch b;

	jfk.cpus_locks = 0;
	KUNIT_EXPECT_EQ(test, jf_key_inc_cpuslocked(x.key), 0);
	expect_count(test, &x, 1, "inc");
	KUNIT_EXPECT_EQ(test, jf_key_dec_cpuslocked(x.key), 0);
	expect_count(test, &x, 0, "dec");
	KUNIT_EXPECT_EQ(test, jf_key_enable_cpuslocked(x.key), 0);
	expect_count(test, &x, 1, "enable");
	KUNIT_EXPECT_EQ(test, jf_key_disable_cpuslocked(x.key), 0);
	expect_count(test, &x, 0, "disable");
	jf_batch_init(&b);
	jf_key_batch_set(&b, x.key, true);
	KUNIT_EXPECT_EQ(test, jf_batch_commit_cpuslocked(&b), 0);
	expect_count(test, &x, 1, "batch");
	KUNIT_EXPECT_EQ(test, jfk.cpus_locks, 0U);
	KUNIT_EXPECT_EQ(test, jf_key_dec(x.key), 0);
	KUNIT_EXPECT_EQ(test, jfk.cpus_locks, 1U);
}

/* Probes have locks that are taken before the hotplug lock. */
static void cpuslocked_probes(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jf_tracepoint *tp = jfk_tp(m, "tp", 2);
	struct jf_key *key = jfk_key(m, "key", false, 0);
	struct jf_batch b;

	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	jf_batch_init(&b);
	jf_key_batch_set(&b, key, true);
	KUNIT_EXPECT_EQ(test, __jf_batch_probe(&b, tp, jfk_target(0), NULL, 5, true), 0);
	KUNIT_EXPECT_EQ(test, jf_batch_commit_cpuslocked(&b), -EDEADLK);
	KUNIT_EXPECT_EQ(test, jf_key_count(key), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_probes(tp), 0U);
}

/* --- deferred -------------------------------------------------------------- */

static struct jf_key *shared;

static struct jf_key_deferred *deferred(struct kunit *test, struct jfk_mod **m)
{
	struct jf_key_deferred *d;

	*m = jfk_module(test, "m");
	d = jfk_deferred(*m, "late", 50);
	jfk_site(*m, &d->key.ent, JF_SITE_BRANCH);
	shared = jfk_key(*m, "shared", true, 0);
	KUNIT_ASSERT_EQ(test, jfk_load(*m), 0);
	KUNIT_ASSERT_EQ(test, jf_key_inc(shared), 0);
	jfk.transactions = 0;
	return d;
}

/*
 * i inc  D dec  L dec_deferred  e enable  x disable  w the work runs, if pending
 * f flush  b enable in a batch  B in one that is refused; after '!' it fails with -EINVAL.
 * P and N in between: the work is pending, is not.
 */
static const struct jf_key_script late_scripts[] = {
	{ "NiNLPwN", false, 0, 2 },
	{ "iLfN", false, 0, 2 },
	/* A user that comes in time finds it on, and nothing is patched. */
	{ "iLiPwN", false, 1, 1 },
	{ "iLiLPwN", false, 0, 2 },
	{ "iLiDPwN", false, 0, 2 },
	{ "iLiDiDiLPwN", false, 0, 2 },
	/* Not the last one: at once. */
	{ "iiLNLPwN", false, 0, 2 },
	{ "iiLNw", false, 1, 1 },
	/* One decrement too many is refused. */
	{ "!LN", false, 0, 0 },
	{ "iL!LPwN!L", false, 0, 2 },
	/* The other way round. */
	{ "iLiwLPw", false, 0, 2 },
	/* Disabled in between: nothing is left to the work, not even the next user. */
	{ "iLxwN", false, 0, 2 },
	{ "iLxiwN", false, 1, 3 },
	{ "iLxewN", false, 1, 3 },
	{ "iLxiLwN", false, 0, 4 },
	{ "iLx!L", false, 0, 2 },
	/* A caller that enables it in time has it enabled for good, as its only user. */
	{ "iLewN", false, 1, 1 },
	{ "iLbwN", false, 1, 1 },
	{ "iLiewDN", false, 1, 1 },
	{ "iLeLPwN", false, 0, 2 },
	{ "iLexwN", false, 0, 2 },
	/* A batch that fails has not. */
	{ "iLBPwN", false, 0, 2 },
};
KUNIT_ARRAY_PARAM(late_script, late_scripts, script_desc);

/* @shared: a key with two users, which is refused to be disabled; or NULL */
static int enable_in_batch(struct jf_key *key, struct jf_key *shared)
{
	struct jf_batch b;
	int err;

	jf_batch_init(&b);
	jf_key_batch_set(&b, key, true);
	if (shared)
		jf_key_batch_set(&b, shared, false);
	err = jf_batch_commit(&b);
	return shared && err == -EBUSY ? 0 : err;
}

static void later(struct kunit *test)
{
	const struct jf_key_script *s = test->param_value;
	struct jfk_mod *m;
	struct jf_key_deferred *d = deferred(test, &m);
	const char *p;

	for (p = s->steps; *p; p++) {
		bool fails = *p == '!';
		int err = 0;

		p += fails;
		switch (*p) {
		case 'i':
			err = jf_key_inc(&d->key);
			break;
		case 'D':
			err = jf_key_dec(&d->key);
			break;
		case 'L':
			err = jf_key_dec_deferred(d);
			break;
		case 'e':
			err = jf_key_enable(&d->key);
			break;
		case 'x':
			err = jf_key_disable(&d->key);
			break;
		case 'b':
		case 'B':
			err = enable_in_batch(&d->key, *p == 'B' ? shared : NULL);
			break;
		case 'w':
			jfk_key_work();
			break;
		case 'f':
			jf_key_deferred_flush(d);
			break;
		case 'P':
			KUNIT_EXPECT_TRUE_MSG(test, jfk.key_work, "at '%s'", p);
			KUNIT_EXPECT_EQ(test, jfk.key_delay, 50UL);
			break;
		case 'N':
			KUNIT_EXPECT_TRUE_MSG(test, !jfk.key_work, "at '%s'", p);
			break;
		}
		KUNIT_EXPECT_EQ_MSG(test, err, fails ? -EINVAL : 0, "at '%s'", p);
		KUNIT_EXPECT_EQ(test, jf_key_enabled(&d->key), jf_key_count(&d->key) > 0);
	}
	KUNIT_EXPECT_EQ(test, jf_key_count(&d->key), s->count);
	KUNIT_EXPECT_EQ(test, jfk.transactions, s->transactions);
}

/* It cannot be disabled yet: it stays on, with its user, and is tried again. */
static void later_fails(struct kunit *test)
{
	struct jfk_mod *m;
	struct jf_key_deferred *d = deferred(test, &m);

	KUNIT_ASSERT_EQ(test, jf_key_inc(&d->key), 0);
	KUNIT_ASSERT_EQ(test, jf_key_dec_deferred(d), 0);
	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, jf_key_count(&d->key), 1);
	KUNIT_EXPECT_TRUE(test, jf_key_enabled(&d->key));
	KUNIT_EXPECT_TRUE(test, jfk.key_work);
	KUNIT_EXPECT_EQ(test, jfk.key_delay, max_t(unsigned long, 50, HZ));
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
	KUNIT_EXPECT_EQ(test, jf_key_count(&d->key), 0);
	KUNIT_EXPECT_TRUE(test, !jfk.key_work);
}

/* Another delay is for later calls, not for pending work. */
static void later_than_before(struct kunit *test)
{
	struct jfk_mod *m;
	struct jf_key_deferred *d = deferred(test, &m);

	KUNIT_ASSERT_EQ(test, jf_key_inc(&d->key), 0);
	KUNIT_ASSERT_EQ(test, jf_key_dec_deferred(d), 0);
	jf_key_deferred_delay(d, 3 * HZ);
	KUNIT_EXPECT_EQ(test, jfk.key_delay, 50UL);
	/* Unless it fails: it is begun once more. */
	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, jfk.key_delay, 3UL * HZ);
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
	KUNIT_ASSERT_EQ(test, jf_key_inc(&d->key), 0);
	jf_key_deferred_delay(d, 7);
	KUNIT_ASSERT_EQ(test, jf_key_dec_deferred(d), 0);
	KUNIT_EXPECT_EQ(test, jfk.key_delay, 7UL);
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
}

/* A delay that is too long for the kernel's timers is not "at once". */
static void later_than_ever(struct kunit *test)
{
	struct jfk_mod *m;
	struct jf_key_deferred *d = deferred(test, &m);

	KUNIT_ASSERT_EQ(test, jf_key_inc(&d->key), 0);
	jf_key_deferred_delay(d, ULONG_MAX);
	KUNIT_ASSERT_EQ(test, jf_key_dec_deferred(d), 0);
	KUNIT_EXPECT_EQ(test, jfk.key_delay, (unsigned long)MAX_JIFFY_OFFSET);
	jfk.patch_err = -EBUSY;
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, jfk.key_delay, (unsigned long)MAX_JIFFY_OFFSET);
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
}

/* It was disabled, though not as it should be: the next user is not taken for that. */
static void later_differs(struct kunit *test)
{
	struct jfk_mod *m;
	struct jf_key_deferred *d = deferred(test, &m);

	KUNIT_ASSERT_EQ(test, jf_key_inc(&d->key), 0);
	KUNIT_ASSERT_EQ(test, jf_key_dec_deferred(d), 0);
	jfk.patch_err = -EIO;
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
	jfk.patch_err = 0;
	KUNIT_EXPECT_EQ(test, jf_key_count(&d->key), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(&d->key), 0);
	jfk_key_work();
	KUNIT_EXPECT_EQ(test, jf_key_count(&d->key), 1);
	KUNIT_EXPECT_TRUE(test, !jfk.key_work);
}

/*
 * A task in the module has found it alive before it was unloaded, and queues the
 * work while it is waited for.
 */
static struct jf_key_deferred *late_d;
static struct jfk_mod *late_m;

static void leave_late(void)
{
	late_m->mod.state = MODULE_STATE_LIVE;
	WARN_ON(jf_key_dec_deferred(late_d));
	late_m->mod.state = MODULE_STATE_GOING;
	jfk_leave_all();
}

static void later_than_too_late(struct kunit *test)
{
	late_d = deferred(test, &late_m);
	KUNIT_ASSERT_EQ(test, jf_key_inc(&late_d->key), 0);
	jfk_task(test, jfk_code(late_m, 0));
	jfk.on_sleep = leave_late;
	KUNIT_EXPECT_EQ(test, jfk_notify(late_m, MODULE_STATE_GOING), 0);
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_TRUE(test, !jfk.key_work);
}

/* Its module is unloaded: pending work is cancelled, and nothing new begins. */
static void later_is_too_late(struct kunit *test)
{
	struct jfk_mod *m;
	struct jf_key_deferred *d = deferred(test, &m);

	KUNIT_ASSERT_EQ(test, jf_key_inc(&d->key), 0);
	KUNIT_ASSERT_EQ(test, jf_key_dec_deferred(d), 0);
	m->mod.state = MODULE_STATE_GOING;
	KUNIT_EXPECT_EQ(test, jf_key_dec_deferred(d), -EBUSY);
	KUNIT_EXPECT_TRUE(test, jfk.key_work);
	KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_TRUE(test, !jfk.key_work);

	/* The work was running already: it gives up by itself. */
	m = jfk_module(test, "m2");
	d = jfk_deferred(m, "late", 50);
	KUNIT_ASSERT_EQ(test, jfk_load(m), 0);
	KUNIT_ASSERT_EQ(test, jf_key_inc(&d->key), 0);
	KUNIT_ASSERT_EQ(test, jf_key_dec_deferred(d), 0);
	m->mod.state = MODULE_STATE_GOING;
	KUNIT_EXPECT_TRUE(test, jfk_key_work());
	KUNIT_EXPECT_TRUE(test, !jfk.key_work);
	KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
}

static struct kunit_case keys_cases[] = {
	KUNIT_CASE(count_is_frozen),
	KUNIT_CASE(last_but_one),
	KUNIT_CASE(no_lock),
	KUNIT_CASE(read_only),
	KUNIT_CASE(cpuslocked),
	KUNIT_CASE(cpuslocked_probes),
	KUNIT_CASE_PARAM(later, late_script_gen_params),
	KUNIT_CASE(later_fails),
	KUNIT_CASE(later_than_before),
	KUNIT_CASE(later_than_ever),
	KUNIT_CASE(later_differs),
	KUNIT_CASE(later_is_too_late),
	KUNIT_CASE(later_than_too_late),
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
