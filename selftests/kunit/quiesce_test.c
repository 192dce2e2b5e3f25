// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-quiesce: wait until no task is in replaced code (kernel/quiesce/quiesce.c,
 * fake.h).
 *
 * Proves: a quiesce returns when each task has been seen outside once after
 * the change, not before, and not later because of tasks that entered since; it searches for the
 * documented code, neither more nor less; limits are kept, and want of memory is an error with a
 * limit and a delay without.
 */
#include "world.h"

#include <linux/jiffies.h>

/* --- a module is unloaded ------------------------------------------------ */

/*
 * Where a task is, and which wait is for it: that of module "a", one of whose functions
 * has been a target, and that of jf_quiesce().
 */
struct place {
	const char	*name;
	bool		module, all;
	void		*(*get)(struct world *w, struct kunit *test);
};

#define PLACE(fn, expr)							\
	static void *place_##fn(struct world *w, struct kunit *test)	\
	{								\
		expr;							\
	}

PLACE(target, return jfk_code(w->a, 0))
PLACE(padding, return jfk_code(w->a, 0) - JFK_PAD)
PLACE(before_padding, return jfk_code(w->a, 0) - JFK_PAD - 1)
PLACE(other_function, return jfk_code(w->a, 7))
PLACE(first_byte, return w->a->mem.text)
PLACE(last_byte, return w->a->mem.text + JFK_TEXT - 1)
PLACE(init_text, return w->a->mem.init_text)
PLACE(data, return w->a->mem.name)
PLACE(other_target, replace(test, w->f[1], jfk_code(w->b, 0)); return jfk_code(w->b, 0))
PLACE(free_target, replace(test, w->f[1], jfk_target(0)); return jfk_target(0))
PLACE(live_target, KUNIT_EXPECT_EQ(test, __jf_func_update(w->f[1], jfk_target(0)), 0);
      return jfk_target(0))
PLACE(again, replace(test, w->f[1], jfk_target(0));
      KUNIT_EXPECT_EQ(test, __jf_func_update(w->f[1], jfk_target(0)), 0);
      return jfk_target(0))
PLACE(fall_back, return jf_nop)
PLACE(nowhere, return NULL)

static void *place_image(struct world *w, struct kunit *test)
{
	void *image;

	KUNIT_ASSERT_EQ(test, __jf_trace_register(w->tp, jfk_code(w->b, 0), NULL, 5), 0);
	image = jfk_probes_image(w->tp);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(w->tp, jfk_code(w->b, 1), NULL, 5), 0);
	return image;
}

static void *place_live_image(struct world *w, struct kunit *test)
{
	place_image(w, test);
	return jfk_probes_image(w->tp);
}

static void *place_iterator(struct world *w, struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < CHAIN + 2; i++)
		KUNIT_ASSERT_EQ(test, __jf_trace_register(w->tp, jfk_code(w->b, i), NULL, 5), 0);
	return jfk_iter();
}

static void *place_probe(struct world *w, struct kunit *test)
{
	place_image(w, test);
	KUNIT_ASSERT_EQ(test, __jf_trace_unregister(w->tp, jfk_code(w->b, 0), NULL), 0);
	return jfk_code(w->b, 0);
}

static const struct place places[] = {
	{ "its target", true, true, place_target },
	{ "the padding in front of its target", true, true, place_padding },
	{ "what is in front of that", true, false, place_before_padding },
	{ "another function of its", true, false, place_other_function },
	{ "its first byte", true, false, place_first_byte },
	{ "its last byte", true, false, place_last_byte },
	{ "its __init text", true, false, place_init_text },
	{ "an image of others that was replaced", false, true, place_image },
	{ "the iterator, with another array of others", false, true, place_iterator },
	{ "its data", false, false, place_data },
	{ "another module's target, replaced", false, true, place_other_target },
	{ "another module's probe, removed", false, true, place_probe },
	{ "the kernel's target, replaced", false, true, place_free_target },
	{ "the kernel's target, replaced and back", false, false, place_again },
	{ "the kernel's target", false, false, place_live_target },
	{ "an image that is in use", false, false, place_live_image },
	{ "what it fell back to", false, false, place_fall_back },
	{ "nowhere", false, false, place_nowhere },
};

static void place_desc(const struct place *p, char *desc)
{
	strscpy(desc, p->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(place, places, place_desc);

static void module_scope(struct kunit *test)
{
	const struct place *p = test->param_value;
	struct world w = world(test);
	unsigned long begun = jfk.now;
	struct jfk_task *t;

	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[0], jfk_code(w.a, 0)), 0);
	t = jfk_task(test, p->get(&w, test));
	t->stays = 20 * HZ;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	if (p->module) {
		KUNIT_EXPECT_EQ(test, t->at, 0UL);
		KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 20 * HZ));
		KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 22 * HZ));
	} else {
		KUNIT_EXPECT_EQ(test, t->scans, 1U);
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
		KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + HZ));
	}
}

/* Nothing of it was ever a target: no stack is scanned, wherever a task is. */
static void module_no_target(struct kunit *test)
{
	struct world w = world(test);

	replace(test, w.f[0], jfk_code(w.b, 0));
	jfk_task(test, jfk_code(w.b, 0));
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.scans, 0U);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.b, 0)));
	jfk_no_tasks();
}

/*
 * One that ever was a target: a task may be in a helper in that module, which the
 * target jumped to, and which no scan searched for when the target was replaced.
 */
static void once_a_target(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct jfk_mod *m = i ? w.a : w.b;

		if (i) {
			KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
			KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
		} else {
			replace(test, w.f[0], jfk_code(w.b, 0));
		}
		t = jfk_task(test, jfk_code(m, 7));
		jf_quiesce();
		KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
		KUNIT_EXPECT_EQ(test, t->scans, 1U);
		t->stays = 30 * HZ;
		KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
		KUNIT_EXPECT_EQ(test, t->at, 0UL);
	}
}

/* Exactly the records that it has waited for are forgotten. */
static void module_forgets(struct kunit *test)
{
	struct world w = world(test);
	void *image;

	replace(test, w.f[0], jfk_code(w.a, 0));
	replace(test, w.f[1], jfk_code(w.b, 0));
	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	image = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 3U);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(image));
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(w.a, 0)));
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(image));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.b, 0)));
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 1U);
	/* There is still something to wait for. */
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 1ULL);
	/* And b's turn. */
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 2ULL);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

/*
 * A task stays in code that called @num probes of module "a": the unload of "a" waits for it,
 * and that of "b" does not.
 */
static void waits_for_callers(struct kunit *test, unsigned int num)
{
	struct world w = world(test);
	struct jfk_task *t;
	unsigned int i;
	void *code;

	for (i = 0; i < num; i++)
		KUNIT_ASSERT_EQ(test, trace(&w, i), 0);
	code = jfk_probes_image(w.tp) ?: jfk_iter();
	t = jfk_task(test, code);
	t->stays = 30 * HZ;
	for (i = 0; i < num; i++)
		KUNIT_ASSERT_EQ(test, untrace(&w, i), 0);
	replace(test, w.f[0], jfk_code(w.b, 0));
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_NE(test, t->at, 0UL);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(code));
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(code));
}

static void module_waits_for_its_images(struct kunit *test)
{
	waits_for_callers(test, 1);
}

static void module_waits_for_its_iterators(struct kunit *test)
{
	waits_for_callers(test, CHAIN + 1);
}

/* The same for the probe of one module with data of another one. */
static void module_waits_for_its_data(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_mod *c = jfk_module(test, "c");
	void *probe = jfk_code(w.a, 0), *data = jfk_code(w.b, 8);
	struct jfk_task *t;

	c->mod.num_kp = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(c), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, probe, data, 0), 0);
	KUNIT_ASSERT_EQ(test, __jf_trace_unregister(w.tp, probe, data), 0);
	replace(test, w.f[0], jfk_code(c, 0));
	t = jfk_task(test, probe);
	t->stays = 30 * HZ;
	KUNIT_EXPECT_EQ(test, jfk_notify(c, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_NE(test, t->at, 0UL);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
}

/* ... and of one that was loaded before jumpfunc, of which no record says which one it is. */
static void early_module_waits_for_its_probes(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_mod *old = jfk_module(test, "old");
	void *image, *probe = jfk_code(old, 0);
	struct jfk_task *t;

	old->mod.num_kp = 0;
	jfk.early = &old->mod;
	jfk.old_text = probe;
	KUNIT_ASSERT_EQ(test, __jf_trace_register(w.tp, probe, NULL, 0), 0);
	image = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, __jf_trace_unregister(w.tp, probe, NULL), 0);
	replace(test, w.f[0], jfk_code(w.b, 0));
	t = jfk_task(test, image);
	t->stays = 30 * HZ;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_NE(test, t->at, 0UL);
	KUNIT_EXPECT_EQ(test, jfk_notify(old, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
}

/* Want of memory delays the unload. */
static void module_without_memory(struct kunit *test)
{
	struct world w = world(test);
	unsigned int n;

	for (n = 1; n < 10; n++) {
		replace(test, w.f[0], jfk_code(w.a, 0));
		jfk.sleeps = 0;
		jfk.allocs = 0;
		jfk.fail_at = n;
		jfk.fail_always = true;
		jfk.heal_after = 2;
		jf_quiesce_module(&w.a->mod, true, MAX_SCHEDULE_TIMEOUT);
		jfk.fail_at = 0;
		KUNIT_EXPECT_EQ(test, jfk.gathers, n);
		if (!jfk.sleeps)
			break;
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 2U);
	}
	/* The list of records, spans, the search, suspects. */
	KUNIT_EXPECT_EQ(test, n, 5U);
}

/* --- all that was replaced ----------------------------------------------- */

/* Only replaced code, and all of it. */
static void quiesce_scope(struct kunit *test)
{
	const struct place *p = test->param_value;
	struct world w = world(test);
	struct jfk_task *t;

	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, p->get(&w, test));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), p->all ? -ETIMEDOUT : 0);
	KUNIT_EXPECT_EQ(test, t->scans, 1U);
	KUNIT_EXPECT_EQ(test, jfk_is_retired(jfk_code(w.a, 0)), p->all);
	jfk_leave(t);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_sought(), 0U);
}

/* Nothing was replaced, so there is no text to search for. */
static void quiesce_nothing(struct kunit *test)
{
	struct world w = world(test);

	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[0], jfk_target(0)), 0);
	jfk_task(test, jfk_target(0));
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.scans, 0U);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 1ULL);
}

/* It returns when the last task has left, and not before. */
static void quiesce_waits(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t[3];
	unsigned long begun;
	unsigned int i;

	replace(test, w.f[0], jfk_code(w.a, 0));
	for (i = 0; i < 3; i++) {
		t[i] = jfk_task(test, jfk_code(w.a, 0));
		t[i]->stays = (1 + 7 * i) * HZ;
	}
	/* A task whose stack cannot be read counts as inside, */
	t[1]->unreadable = true;
	/* and a task that runs is scanned again. */
	t[2]->restless = true;
	begun = jfk.now;
	jf_quiesce();
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, t[i]->at, 0UL);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 15 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before_eq(jfk.now, begun + 17 * HZ));
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_LT(test, t[0]->scans, t[1]->scans);
	KUNIT_EXPECT_LT(test, t[1]->scans, t[2]->scans);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

/* A task that was seen outside is not scanned again, wherever it goes. */
static struct jfk_task *late, *newborn;
static void *late_at;
static struct kunit *late_test;

static void come_late(void)
{
	if (jfk.sleeps != 1)
		return;
	late->at = (unsigned long)late_at;
	late->nvcsw++;
	newborn = jfk_task(late_test, late_at);
}

static void list_only_shrinks(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;

	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, jfk_code(w.a, 0));
	t->stays = 5 * HZ;
	t->restless = true;
	late = jfk_task(test, NULL);
	newborn = NULL;
	late_test = test;
	late_at = jfk_code(w.a, 0);
	jfk.on_sleep = come_late;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
	KUNIT_EXPECT_GT(test, t->scans, 3U);
	KUNIT_EXPECT_EQ(test, late->scans, 1U);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, newborn);
	KUNIT_EXPECT_EQ(test, newborn->scans, 0U);
	/* They are still there: that was not an accident. */
	KUNIT_EXPECT_TRUE(test, late->at && newborn->at);
	/* Each one once, but for the one that stayed. */
	KUNIT_EXPECT_EQ(test, jfk.seen, 3 + t->scans);
	jfk_no_tasks();
}

/* Code that is replaced while a quiesce waits is left to the next one. */
static struct world *meanwhile;
static int meanwhile_err;

static void replace_meanwhile(void)
{
	if (jfk.sleeps != 1)
		return;
	meanwhile_err = __jf_func_update(meanwhile->f[1], jfk_code(meanwhile->b, 0));
	meanwhile_err |= __jf_func_update(meanwhile->f[1], NULL);
}

static void replaced_meanwhile(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;

	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, jfk_code(w.a, 0));
	t->stays = HZ;
	meanwhile = &w;
	meanwhile_err = -1;
	jfk.on_sleep = replace_meanwhile;
	jf_quiesce();
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, meanwhile_err, 0);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(w.a, 0)));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.b, 0)));
	/* Two replacements, and one that is forgotten. */
	KUNIT_EXPECT_EQ(test, seq(), 3ULL);
}

/* The caller cannot leave while it waits, so it is not waited for. All others wait for it. */
static void caller_is_left_out(struct kunit *test)
{
	struct world w = world(test);

	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk_self()->at = (unsigned long)jfk_code(w.a, 0);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
	jfk_leave(jfk_self());
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(jfk_code(w.a, 0)));
}

/* Its stack is freed while it is on the list of suspects. */
static struct jfk_task *dying;

static void die(void)
{
	if (jfk.sleeps != 2)
		return;
	jfk_unlist(dying);
	jfk_free_stack(dying);
}

static void dead_is_outside(struct kunit *test)
{
	struct world w = world(test);

	replace(test, w.f[0], jfk_code(w.a, 0));
	dying = jfk_task(test, jfk_code(w.a, 0));
	dying->unreadable = true;
	jfk.on_sleep = die;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 2U);
	KUNIT_EXPECT_EQ(test, dying->refs, 0);
}

/* Other callers give the text themselves. */
static void certain_spans(struct kunit *test)
{
	struct jf_spans s = { };
	struct jfk_task *t = jfk_task(test, X);
	unsigned long begun = jfk.now;

	KUNIT_ASSERT_EQ(test, jf_spans_add(&s, (unsigned long)Y, (unsigned long)Y + 1), 0);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 0, NULL), 0);
	KUNIT_ASSERT_EQ(test, jf_spans_add(&s, (unsigned long)X, (unsigned long)X + 1), 0);
	jf_spans_sort(&s);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 0, NULL), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.now, begun);
	t->stays = 12 * HZ;
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 11 * HZ, NULL), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, strstr(jfk.warning, "test: waiting for") != NULL);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, MAX_SCHEDULE_TIMEOUT, NULL), 0);
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 0ULL);
	/* They are the caller's. */
	KUNIT_EXPECT_EQ(test, s.num, 2U);
	jf_spans_free(&s);
}

/* --- with a limit -------------------------------------------------------- */

struct limit {
	const char	*name;
	unsigned long	limit, stays;
	int		err;
};

static const struct limit limits[] = {
	{ "no time, no task", 0, 0, 0 },
	{ "no time, a task", 0, 10 * HZ, -ETIMEDOUT },
	{ "a moment, no task", 1, 0, 0 },
	{ "a moment, a task", 1, 10 * HZ, -ETIMEDOUT },
	{ "a second, for ten", HZ, 10 * HZ, -ETIMEDOUT },
	{ "nine seconds, for ten", 9 * HZ, 10 * HZ, -ETIMEDOUT },
	{ "twelve seconds, for ten", 12 * HZ, 10 * HZ, 0 },
	{ "a day, for ten seconds", 86400UL * HZ, 10 * HZ, 0 },
	{ "the longest time, for ten seconds", ULONG_MAX, 10 * HZ, 0 },
	{ "half of that, for ten seconds", LONG_MAX, 10 * HZ, 0 },
	{ "a bit more, for ten seconds", LONG_MAX + 1UL, 10 * HZ, 0 },
};

static void limit_desc(const struct limit *l, char *desc)
{
	strscpy(desc, l->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(limit, limits, limit_desc);

static void limited(struct kunit *test)
{
	const struct limit *l = test->param_value;
	struct world w = world(test);
	unsigned int restless;

	/* A task that sleeps there, and one that runs there. */
	for (restless = 0; restless < 2; restless++) {
		struct jfk_task *t = jfk_task(test, l->stays ? jfk_code(w.a, 0) : NULL);
		unsigned long begun = jfk.now;

		replace(test, w.f[0], jfk_code(w.a, 0));
		t->stays = l->stays;
		t->restless = restless;
		jfk.sleeps = 0;
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(l->limit), l->err);
		KUNIT_EXPECT_EQ(test, jfk_is_retired(jfk_code(w.a, 0)), l->err != 0);
		if (l->err) {
			KUNIT_EXPECT_TRUE(test, t->at != 0);
			KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + l->limit));
			KUNIT_EXPECT_TRUE(test, time_before_eq(jfk.now, begun + l->limit + HZ / 10));
		} else {
			KUNIT_EXPECT_EQ(test, t->at, 0UL);
			KUNIT_EXPECT_TRUE(test, time_before_eq(jfk.now, begun + l->stays + 2 * HZ));
		}
		if (!l->limit) {
			KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
			KUNIT_EXPECT_EQ(test, jfk.now, begun);
			KUNIT_EXPECT_EQ(test, t->scans, 1U);
		}
		/* Having failed does no harm. */
		jfk_leave(t);
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
		KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	}
}

/* With a limit want of memory is an error, and nothing else. */
static void limited_without_memory(struct kunit *test)
{
	struct world w = world(test);
	int err, not_freed;
	unsigned int n;

	/* 1: the list of records, 2: spans, 3: the search, 4: suspects. */
	for (n = 1; n < 10; n++) {
		replace(test, w.f[0], jfk_code(w.a, 0));
		not_freed = jfk.not_freed;
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = jf_quiesce_timeout(HZ);
		jfk.fail_at = 0;
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
		KUNIT_EXPECT_EQ(test, jfk_is_retired(jfk_code(w.a, 0)), err != 0);
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		KUNIT_EXPECT_EQ(test, jfk.not_freed, not_freed);
	}
	KUNIT_EXPECT_EQ(test, n, 5U);
}

/* Allocation @n and all after it fail, until it has slept @heal_after times. */
static void quiesce_in_want(struct kunit *test, const struct world *w, unsigned int n,
			    unsigned int heal_after)
{
	replace(test, w->f[0], jfk_code(w->a, 0));
	jfk.sleeps = 0;
	jfk.allocs = 0;
	jfk.fail_at = n;
	jfk.fail_always = true;
	jfk.heal_after = heal_after;
	jf_quiesce();
}

/* Without a limit it is a delay. */
static void quiesce_without_memory(struct kunit *test)
{
	struct world w = world(test);
	unsigned int n;

	for (n = 1; n < 10; n++) {
		quiesce_in_want(test, &w, n, 3);
		jfk.fail_at = 0;
		KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
		KUNIT_EXPECT_EQ(test, jfk.gathers, n);
		if (!jfk.sleeps)
			break;
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 3U);
		KUNIT_EXPECT_GE(test, jfk.slept, 100U);
	}
	KUNIT_EXPECT_EQ(test, n, 5U);
}

/* ... of which the log tells, if it takes long. */
static void memory_is_told(struct kunit *test)
{
	struct world w = world(test);
	unsigned int n;

	for (n = 1; n < 5; n++) {
		jfk.warnings = 0;
		quiesce_in_want(test, &w, n, 250);
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 250U);
		KUNIT_EXPECT_EQ(test, jfk.warnings, 2U);
		KUNIT_EXPECT_TRUE(test, !!strstr(jfk.warning, "waiting for memory, since 2"));
	}
	jfk.heal_after = 0;
}

/* Code that a branch leads to: no task is searched for, and a grace period of RCU passes. */
static void quiesce_keys(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t = jfk_task(test, (void *)w.branch);
	unsigned int graces;

	KUNIT_ASSERT_EQ(test, jf_key_enable(w.key), 0);
	graces = jfk.graces;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_EQ(test, jfk.graces, graces + 1);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.graces, graces + 2);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.scans, 0U);
	KUNIT_EXPECT_EQ(test, t->scans, 0U);
}

/* A target that is set again while a quiesce waits is in use: the wait ends. */
static void set_again(void)
{
	if (jfk.sleeps == 1)
		meanwhile_err = __jf_func_update(meanwhile->f[0], jfk_code(meanwhile->a, 0));
}

static void set_again_meanwhile(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;

	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, jfk_code(w.a, 0));
	meanwhile = &w;
	meanwhile_err = -1;
	jfk.on_sleep = set_again;
	jf_quiesce();
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, meanwhile_err, 0);
	KUNIT_EXPECT_TRUE(test, t->at != 0);
	jfk_leave(t);
}

/* Nor is the target of a module that is loaded at the same time. */
static struct jfk_mod *late_mod;

static void load_late(void)
{
	if (jfk.sleeps == 1)
		meanwhile_err = jfk_load(late_mod);
}

static void led_to_by_a_new_module(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;

	late_mod = jfk_module(test, "late");
	jfk_func(late_mod, "f", jfk_code(w.a, 0), 0);
	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, jfk_code(w.a, 0));
	meanwhile_err = -1;
	jfk.on_sleep = load_late;
	jf_quiesce();
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, meanwhile_err, 0);
	KUNIT_EXPECT_TRUE(test, t->at != 0);
	jfk_leave(t);
}

/* One that a change was to lead to which fails is not in use: it is waited for. */
static void set_in_vain(void)
{
	void *func = jfk_code(meanwhile->a, 0);
	struct jf_func *f = meanwhile->f[1];
	struct jf_batch b;

	if (jfk.sleeps != 1)
		return;
	jf_batch_init(&b);
	if (jfk.indirect) {
		__jf_batch_probe(&b, meanwhile->tp, func, NULL, 5, true);
		/* Would call itself. */
		__jf_batch_set_func(&b, f, (void *)jfk_tramp(meanwhile->m, f) - 4);
	} else {
		__jf_batch_set_func(&b, meanwhile->f[0], func);
	}
	jfk.patch_err = -EBUSY;
	meanwhile_err = jf_batch_commit(&b);
	jfk.patch_err = 0;
}

static void waits_although_set_in_vain(struct kunit *test)
{
	struct world w = world(test);
	void *func = jfk_code(w.a, 0);

	replace(test, w.f[0], func);
	jfk_task(test, func)->stays = 20 * HZ;
	meanwhile = &w;
	meanwhile_err = 0;
	jfk.on_sleep = set_in_vain;
	jf_quiesce();
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_LT(test, meanwhile_err, 0);
	KUNIT_EXPECT_FALSE(test, jfk_is_inside(func, func + 1));
}

/* The iterator finds the probe until that change is taken back. */
static void set_in_vain_meanwhile(struct kunit *test)
{
	jfk.indirect = true;
	waits_although_set_in_vain(test);
}

/* CPUs execute a change that fails later. */
static void set_in_vain_and_run(struct kunit *test)
{
	jfk.runs_failed = true;
	waits_although_set_in_vain(test);
}

/* An image that is given back while a quiesce waits for something else, and used again. */
static void *used_again;

static void use_again(void)
{
	if (jfk.sleeps != 1)
		return;
	jfk_reclaim();
	meanwhile_err = trace(meanwhile, 1);
	if (jfk_probes_image(meanwhile->tp) == used_again)
		jfk_task(jfk.test, used_again)->restless = true;
}

static void image_used_again_meanwhile(struct kunit *test)
{
	struct world w = world(test);

	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	used_again = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	replace(test, w.f[0], jfk_code(w.b, 0));
	jfk_task(test, jfk_code(w.b, 0))->stays = 20 * HZ;
	meanwhile = &w;
	jfk.on_sleep = use_again;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(30 * HZ), 0);
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, meanwhile_err, 0);
	KUNIT_EXPECT_PTR_EQ(test, jfk_probes_image(w.tp), used_again);
	KUNIT_EXPECT_TRUE(test, jfk_is_inside(used_again, used_again + 1));
}

static void quiesce_context(struct kunit *test)
{
	struct world w = world(test);
	unsigned long flags;
	int err;

	replace(test, w.f[0], jfk_code(w.a, 0));
	local_irq_save(flags);
	err = jf_quiesce_timeout(HZ);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, err, -EWOULDBLOCK);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.tasks_graces, 0U);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
}

static struct kunit_case quiesce_cases[] = {
	KUNIT_CASE_PARAM(module_scope, place_gen_params),
	KUNIT_CASE(module_no_target),
	KUNIT_CASE(once_a_target),
	KUNIT_CASE(module_forgets),
	KUNIT_CASE(module_waits_for_its_images),
	KUNIT_CASE(module_waits_for_its_iterators),
	KUNIT_CASE(module_waits_for_its_data),
	KUNIT_CASE(early_module_waits_for_its_probes),
	KUNIT_CASE(module_without_memory),
	KUNIT_CASE_PARAM(quiesce_scope, place_gen_params),
	KUNIT_CASE(quiesce_nothing),
	KUNIT_CASE(quiesce_waits),
	KUNIT_CASE(list_only_shrinks),
	KUNIT_CASE(replaced_meanwhile),
	KUNIT_CASE(caller_is_left_out),
	KUNIT_CASE(dead_is_outside),
	KUNIT_CASE(certain_spans),
	KUNIT_CASE_PARAM(limited, limit_gen_params),
	KUNIT_CASE(limited_without_memory),
	KUNIT_CASE(quiesce_without_memory),
	KUNIT_CASE(memory_is_told),
	KUNIT_CASE(quiesce_keys),
	KUNIT_CASE(set_again_meanwhile),
	KUNIT_CASE(led_to_by_a_new_module),
	KUNIT_CASE(set_in_vain_meanwhile),
	KUNIT_CASE(set_in_vain_and_run),
	KUNIT_CASE(image_used_again_meanwhile),
	KUNIT_CASE(quiesce_context),
	{}
};

struct kunit_suite jfk_quiesce_suite = {
	.name = "jumpfunc-quiesce",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = quiesce_cases,
};
