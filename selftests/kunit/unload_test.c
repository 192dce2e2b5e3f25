// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-unload: modules are unloaded (kernel/consumers/module.c, fake.h).
 *
 * Proves: calls into a module that is being unloaded fall back in one transaction which is repeated
 * until it succeeds; then unloading waits until no task is in it; until then no calls are sent
 * there, and no memory is freed.
 */
#include "everything.h"

/* --- unloading --------------------------------------------------------- */

static void going(struct kunit *test)
{
	struct everything e = everything(test, "m");

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), jfk_call(jfk_target(0)));
	jfk.transactions = 0;
	jfk_watch(e.m);
	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	/* Its text is not freed at once: it may lead to nothing that is. */
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), compiled(e.m, e.f));
	KUNIT_EXPECT_EQ(test, jfk.watched_freed, 4U);
	KUNIT_EXPECT_EQ_MSG(test, jfk.freed_without_grace, 0U,
			    "the handler may still read a site");
	expect_unloaded(test, &e);
}

/* A module with dynamic functions calls its own functions by them: it is always scanned for. */
static void going_with_keys(struct kunit *test)
{
	struct everything e = everything(test, "m");
	struct jfk_task *t;

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	t = jfk_task(test, jfk_code(e.m, 0));
	t->stays = 3 * HZ;
	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
}

/* So is one that was loaded before jumpfunc: it may have been a target. */
static void going_unknown(struct kunit *test)
{
	struct jfk_mod *m = jfk_module(test, "m");
	struct jfk_task *t = jfk_task(test, jfk_code(m, 0));

	m->mod.num_kp = 0;
	t->stays = 3 * HZ;
	KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 0U);
}

/* Its init function failed: no LIVE between. */
static void going_without_living(struct kunit *test)
{
	struct everything e = everything(test, "m");

	KUNIT_ASSERT_EQ(test, jfk_notify(e.m, MODULE_STATE_COMING), 0);
	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	expect_unloaded(test, &e);
	/* The second attempt finds its text as it is loaded again. */
	e = everything(test, "m");
	KUNIT_EXPECT_EQ(test, jfk_load(e.m), 0);
}

/* In its exit function a module's entities are as good as unregistered. */
static void no_update_while_going(struct kunit *test)
{
	struct everything e = everything(test, "m"), other = everything(test, "other");
	struct jfk_state *before;

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(other.m), 0);
	before = jfk_save(test);
	e.m->mod.state = MODULE_STATE_GOING;
	KUNIT_EXPECT_EQ(test, __jf_func_update(e.f, jfk_target(1)), -EBUSY);
	KUNIT_EXPECT_EQ(test, jf_key_enable(e.off), -EBUSY);
	KUNIT_EXPECT_EQ(test, jf_key_inc(e.on), -EBUSY);
	/* Nor may another module send calls there; away from it is fine. */
	KUNIT_EXPECT_EQ(test, __jf_func_update(other.f, jfk_code(e.m, 0)), -EBUSY);
	KUNIT_EXPECT_EQ(test, jfk_check_target(jfk_code(e.m, 0), e.m), 0);
	JFK_EXPECT_UNCHANGED(test, before, "by refused updates");
	KUNIT_EXPECT_EQ(test, __jf_func_update(other.f, jfk_target(1)), 0);
}

/* Calls into it fall back, all of them in one transaction. */
static void fall_back(struct kunit *test)
{
	struct everything e = everything(test, "m"), target = everything(test, "target");
	struct jf_func *f2 = jfk_func(e.m, "f2", jfk_target(3), 0);

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(target.m), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(target.m, 0)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.g, jfk_code(target.m, 1)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(f2, jfk_target(2)), 0);
	/* Its own stays: it is unloaded together with its target. */
	KUNIT_ASSERT_EQ(test, __jf_func_update(target.f, jfk_code(target.m, 2)), 0);
	jfk.transactions = 0;
	jfk.gathers = 0;
	KUNIT_EXPECT_EQ(test, jfk_notify(target.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.transactions, 1U);
	KUNIT_EXPECT_EQ(test, jfk.pokes, 4U);
	KUNIT_EXPECT_EQ(test, jf_stats.fallbacks, 2ULL);
	KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(0));
	KUNIT_EXPECT_PTR_EQ(test, e.g->func, (void *)jf_nop);
	KUNIT_EXPECT_PTR_EQ(test, f2->func, jfk_target(2));
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), jfk_call(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_g), jfk_nop());
	KUNIT_EXPECT_EQ_MSG(test, jfk.gathers, 1U,
			    "a task may still be running in the target");
	KUNIT_EXPECT_PTR_EQ(test, target.f->func, jfk_code(target.m, 2));
}

/* A module without tables can be a target as well. */
static void fall_back_no_tables(struct kunit *test)
{
	struct everything e = everything(test, "m");
	struct jfk_mod *target = jfk_module(test, "target");

	target->mod.num_kp = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(target), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(target, 0)), 0);
	jfk.gathers = 0;
	KUNIT_EXPECT_EQ(test, jfk_notify(target, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(0));
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);

	/* The second time nothing leads into it, and nothing is waited for. */
	KUNIT_ASSERT_EQ(test, jfk_load(target), 0);
	KUNIT_EXPECT_EQ(test, jfk_notify(target, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
}

/* While a task is in it, it is known as one that is being unloaded. */
static struct everything *going_e;
static struct jfk_mod *going_target;
static int going_err[3];

static void while_going(void)
{
	if (!jfk.sleeps || going_err[0])
		return;
	/* Not an assertion: where this is called from there is no test to be seen. */
	going_err[0] = __jf_func_update(going_e->f, jfk_code(going_target, 0));
	going_err[1] = jfk_check_target(jfk_code(going_target, 1), going_e->m);
	going_err[2] = jfk_num_modules();
}

static void going_stays_known(struct kunit *test)
{
	struct everything e = everything(test, "m");
	struct jfk_mod *target = jfk_module(test, "target"), *missed = jfk_module(test, "missed");
	struct jfk_task *t;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	for (i = 0; i < 2; i++) {
		target->mod.num_kp = 0;
		/* The second one was there before us. */
		if (i)
			target = missed;
		else
			KUNIT_ASSERT_EQ(test, jfk_load(target), 0);
		KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(target, 0)), 0);
		t = jfk_task(test, jfk_code(target, 0));
		t->stays = 3 * HZ;
		going_e = &e;
		going_target = target;
		memset(going_err, 0, sizeof(going_err));
		jfk.sleeps = 0;
		jfk.on_sleep = while_going;
		KUNIT_EXPECT_EQ(test, jfk_notify(target, MODULE_STATE_GOING), 0);
		jfk.on_sleep = NULL;
		KUNIT_EXPECT_GT(test, jfk.sleeps, 1U);
		KUNIT_EXPECT_EQ(test, going_err[0], -EBUSY);
		KUNIT_EXPECT_EQ(test, going_err[1], -EBUSY);
		KUNIT_EXPECT_EQ(test, going_err[2], 2);
		KUNIT_EXPECT_EQ(test, jfk_num_modules(), 1U);
		KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(0));
	}
}

/* The notifier chain is no lock: other modules are loaded and unloaded at the same time. */
static struct jfk_mod *going_late, *going_others_mod;
static unsigned long going_late_site;

static void others_meanwhile(void)
{
	if (going_err[0])
		return;
	going_err[0] = 1 + jfk_load(going_late);
	going_err[1] = jfk_text(going_late_site) == jfk_call(jfk_target(0));
	going_err[2] = jfk_notify(going_others_mod, MODULE_STATE_GOING);
}

static void others_come_and_go(struct kunit *test)
{
	struct everything e = everything(test, "m");
	struct jfk_mod *target = jfk_module(test, "target"), *other = jfk_module(test, "other");
	struct jf_func *g = jfk_func(e.m, "h", jfk_target(0), 0);
	struct jfk_mod *late = jfk_module(test, "late");
	struct jfk_task *t;

	target->mod.num_kp = 0;
	other->mod.num_kp = 0;
	going_late_site = jfk_site(late, &e.f->ent, JF_SITE_CALL);
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(target), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(other), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(target, 0)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(g, jfk_code(other, 0)), 0);
	t = jfk_task(test, jfk_code(target, 0));
	t->stays = 3 * HZ;
	going_late = late;
	going_others_mod = other;
	memset(going_err, 0, sizeof(going_err));
	jfk.on_sleep = others_meanwhile;
	KUNIT_EXPECT_EQ(test, jfk_notify(target, MODULE_STATE_GOING), 0);
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, going_err[0], 1);
	KUNIT_EXPECT_EQ(test, going_err[1], 1);
	KUNIT_EXPECT_EQ(test, going_err[2], 0);
	KUNIT_EXPECT_PTR_EQ(test, g->func, jfk_target(0));
	/* The site of the loaded one follows changes. */
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 2U);
	KUNIT_EXPECT_EQ(test, __jf_func_update(e.f, jfk_target(1)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(going_late_site), jfk_call(jfk_target(1)));
	KUNIT_EXPECT_EQ(test, jfk_notify(late, MODULE_STATE_GOING), 0);
}

/*
 * Another notifier refused it: then it gets the event GOING while its state is still
 * COMING. It has targets to offer all the same.
 */
static struct jf_func *going_others;

static void while_not_said(void)
{
	if (going_err[0])
		return;
	going_target->mod.state = MODULE_STATE_COMING;
	going_err[0] = __jf_func_update(going_e->f, jfk_code(going_target, 0));
	going_err[1] = __jf_func_update(going_others, jfk_target(2));
}

static void going_unsaid(struct kunit *test)
{
	struct everything e = everything(test, "m"), target = everything(test, "target");
	struct jfk_task *t;

	going_others = target.f;
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_notify(target.m, MODULE_STATE_COMING), 0);
	t = jfk_task(test, jfk_code(target.m, 0));
	t->stays = 3 * HZ;
	going_e = &e;
	going_target = target.m;
	memset(going_err, 0, sizeof(going_err));
	jfk.on_sleep = while_not_said;
	KUNIT_EXPECT_EQ(test, jfk_notify(target.m, MODULE_STATE_GOING), 0);
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, going_err[0], -EBUSY);
	KUNIT_EXPECT_EQ(test, going_err[1], -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(0));
}

/* A task that is still in it executes its sites: they follow until no task is there. */
static unsigned long going_site;
static u64 going_text;
static unsigned int going_refs;

static void while_its_own_going(void)
{
	if (going_err[0])
		return;
	going_err[0] = __jf_func_update(going_e->f, jfk_target(1));
	going_err[1] = __jf_func_update(going_others, jfk_target(2));
	going_err[2] = jfk_num_modules();
	going_text = jfk_text(going_site);
	going_refs = going_target->refs;
}

static void going_keeps_tables(struct kunit *test)
{
	struct everything other = everything(test, "other"), e = everything(test, "m");
	struct jfk_mod *target = jfk_module(test, "target");
	struct jfk_task *t;

	target->mod.num_kp = 0;
	going_others = jfk_func(other.m, "others", jfk_target(3), 0);
	going_site = jfk_site(e.m, &going_others->ent, JF_SITE_CALL);
	KUNIT_ASSERT_EQ(test, jfk_load(target), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(other.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(other.f, jfk_code(e.m, 0)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update_flags(e.g, jfk_code(target, 0), JF_PIN), 0);
	t = jfk_task(test, jfk_code(e.m, 0));
	t->stays = 3 * HZ;
	going_e = &e;
	going_target = target;
	memset(going_err, 0, sizeof(going_err));
	jfk.on_sleep = while_its_own_going;
	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, going_err[0], -EBUSY);
	KUNIT_EXPECT_EQ(test, going_err[1], 0);
	KUNIT_EXPECT_EQ(test, going_err[2], 3);
	KUNIT_EXPECT_EQ(test, going_text, jfk_call(jfk_target(2)));
	KUNIT_EXPECT_EQ(test, going_refs, 1U);
	/* And then they are forgotten. */
	KUNIT_EXPECT_EQ(test, target->refs, 0U);
	KUNIT_EXPECT_EQ(test, __jf_func_update(e.f, jfk_target(1)), -ENODEV);
	KUNIT_EXPECT_TRUE(test, !jf_site_find(e.call_f));
	KUNIT_EXPECT_EQ(test, __jf_func_update(going_others, jfk_target(3)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(going_site), compiled(other.m, going_others));
	KUNIT_EXPECT_EQ(test, jfk_num_modules(), 2U);
}

/* Nothing in it leads to a module that may be unloaded first; others' entities keep values. */
static void going_restores(struct kunit *test)
{
	struct everything other = everything(test, "other"), e = everything(test, "m");
	unsigned long own, its;

	own = jfk_site(e.m, &e.f->ent, JF_SITE_CALL);
	its = jfk_site(e.m, &other.f->ent, JF_SITE_CALL);
	KUNIT_ASSERT_EQ(test, jfk_load(other.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(other.m, 0)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.g, jfk_code(e.m, 0)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(other.f, jfk_code(other.m, 1)), 0);
	KUNIT_EXPECT_EQ(test, jfk_text(own), jfk_call(jfk_code(other.m, 0)));
	KUNIT_EXPECT_EQ(test, jfk_text(its), jfk_call(jfk_code(other.m, 1)));
	jfk.patch_err = -ENOMEM;
	jfk.heal_after = 3;
	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 3U);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(other.m, 0)));
	KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(0));
	KUNIT_EXPECT_EQ(test, jfk_text(jfk_tramp(e.m, e.f)), jfk_jmp(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, jfk_text(own), compiled(e.m, e.f));
	KUNIT_EXPECT_EQ(test, jfk_text(its), compiled(other.m, other.f));
	/* Targets in it are freed with it. */
	KUNIT_EXPECT_PTR_EQ(test, e.g->func, jfk_code(e.m, 0));
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_g), jfk_call(jfk_code(e.m, 0)));
	KUNIT_EXPECT_PTR_EQ(test, other.f->func, jfk_code(other.m, 1));
}

/* A task that came through its trampoline is nowhere in it: the target is recorded as retired. */
static void going_was_passed(struct kunit *test)
{
	struct everything other = everything(test, "other"), e = everything(test, "m");

	KUNIT_ASSERT_EQ(test, jfk_load(other.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(other.m, 0)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.g, jfk_code(other.m, 1)), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(other.f, (void *)(jfk_tramp(e.m, e.f) - 4)), 0);
	KUNIT_EXPECT_EQ(test, jfk_notify(e.m, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(other.m, 0)));
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(other.m, 1)));
}

struct obstacle {
	const char	*name;
	int		patch_err;
	unsigned int	fail_at;
};

static const struct obstacle obstacles[] = {
	{ "no memory for the list", 0, 1 },
	{ "no memory for the record of the target", 0, 2 },
	{ "no memory for the pokes", 0, 3 },
	{ "no memory for the alias", -ENOMEM },
	{ "a breakpoint on a site", -EBUSY },
	{ "foreign bytes at a site", -EILSEQ },
};

static void obstacle_desc(const struct obstacle *o, char *desc)
{
	strscpy(desc, o->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(obstacle, obstacles, obstacle_desc);

/* A module that calls lead into is not freed: it waits until they do not. */
static void fall_back_waits(struct kunit *test)
{
	const struct obstacle *o = test->param_value;
	struct everything e = everything(test, "m");
	struct jfk_mod *target = jfk_module(test, "target");

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(target), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(target, 0)), 0);
	jfk.patch_err = o->patch_err;
	jfk.allocs = 0;
	jfk.fail_at = o->fail_at;
	jfk.fail_always = true;
	jfk.gathers = 0;
	jfk.heal_after = 3;
	KUNIT_EXPECT_EQ(test, jfk_notify(target, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 3U);
	KUNIT_EXPECT_PTR_EQ(test, e.f->func, jfk_target(0));
	KUNIT_EXPECT_EQ(test, jfk_text(e.call_f), jfk_call(jfk_target(0)));
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_EQ(test, jf_stats.fallbacks, 1ULL);
}

/* Nor is one that no value leads to, but a site that could not be taken back. */
static void stuck_delays(struct kunit *test)
{
	struct everything e = everything(test, "m");
	struct jfk_mod *target = jfk_module(test, "target");

	KUNIT_ASSERT_EQ(test, jfk_load(e.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(target), 0);
	jfk.runs_failed = true;
	jfk.patch_err = -EBUSY;
	jfk.stuck_at = 1;
	jfk.stuck_stays = true;
	KUNIT_ASSERT_EQ(test, __jf_func_update(e.f, jfk_code(target, 0)), -EBUSY);
	jfk.patch_err = 0;
	jfk.stuck_at = 0;
	jfk.gathers = 0;
	jfk.heal_after = 3;
	KUNIT_EXPECT_EQ(test, jfk_notify(target, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 3U);
	KUNIT_EXPECT_TRUE(test, !jfk.stuck);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
}

static struct kunit_case unload_cases[] = {
	KUNIT_CASE(going),
	KUNIT_CASE(going_with_keys),
	KUNIT_CASE(going_unknown),
	KUNIT_CASE(going_without_living),
	KUNIT_CASE(no_update_while_going),
	KUNIT_CASE(fall_back),
	KUNIT_CASE(fall_back_no_tables),
	KUNIT_CASE_PARAM(fall_back_waits, obstacle_gen_params),
	KUNIT_CASE(stuck_delays),
	KUNIT_CASE(going_stays_known),
	KUNIT_CASE(others_come_and_go),
	KUNIT_CASE(going_unsaid),
	KUNIT_CASE(going_keeps_tables),
	KUNIT_CASE(going_restores),
	KUNIT_CASE(going_was_passed),
	{}
};

struct kunit_suite jfk_unload_suite = {
	.name = "jumpfunc-unload",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = unload_cases,
};
