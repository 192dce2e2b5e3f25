// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-quiesce: who is still in what was replaced (quiesce/quiesce.c, fake.h).
 *
 * What it proves: a quiesce returns when each task has been seen outside once after
 * the change, not before, and not later because of tasks that came there since; what
 * it looks for is what it says, neither more nor less; the CPUs stand still for few
 * tasks at a time, and not at all while nobody has moved; Tasks RCU is waited for as
 * long as it helps; limits are kept, and want of memory is an error with a limit and
 * a delay without; tasks that exit are found, or waited for by other means; callbacks
 * run in order, and before their module goes; dispatch code that somebody stays in is
 * kept, and no other.
 */
#include "world.h"

#include <linux/jiffies.h>

/* --- a module goes ------------------------------------------------------- */

/*
 * Where somebody is, and who waits for him: module "a", one of whose functions has
 * been a target, and jf_quiesce().
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
PLACE(live_target, __jf_func_update(w->f[1], jfk_target(0)); return jfk_target(0))
PLACE(again, replace(test, w->f[1], jfk_target(0)); __jf_func_update(w->f[1], jfk_target(0));
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
	{ "an image that was replaced", true, true, place_image },
	{ "the iterator, with another array", true, true, place_iterator },
	{ "its data", false, false, place_data },
	{ "another module's target, replaced", false, true, place_other_target },
	{ "another module's probe, removed", false, true, place_probe },
	{ "the kernel's target, replaced", false, true, place_free_target },
	{ "the kernel's target, replaced and back", false, true, place_again },
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
		KUNIT_EXPECT_EQ(test, t->looks, 1U);
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
		KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + HZ));
	}
}

/* Nothing of it was ever a target: whoever is where, nobody looks. */
static void module_no_target(struct kunit *test)
{
	struct world w = world(test);

	replace(test, w.f[0], jfk_code(w.b, 0));
	jfk_task(test, jfk_code(w.b, 0));
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.looks, 0U);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.b, 0)));
	jfk_no_tasks();
}

/*
 * One that ever was a target: there may be somebody in a helper of it, who came there
 * by a jump, and whom nobody looked for when the target was replaced.
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
		KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
		KUNIT_EXPECT_EQ(test, t->looks, 1U);
		t->stays = 30 * HZ;
		KUNIT_EXPECT_EQ(test, jfk_notify(m, MODULE_STATE_GOING), 0);
		KUNIT_EXPECT_EQ(test, t->at, 0UL);
	}
}

/* What it has waited for is what is forgotten. */
static void module_forgets(struct kunit *test)
{
	struct world w = world(test);
	void *image;

	replace(test, w.f[0], jfk_code(w.a, 0));
	replace(test, w.f[1], jfk_code(w.b, 0));
	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	image = jfk_probes_image(w.tp);
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 3U);
	KUNIT_EXPECT_TRUE(test, jfk_gone(image));
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_FALSE(test, jfk_gone(jfk_code(w.a, 0)));
	KUNIT_EXPECT_FALSE(test, jfk_gone(image));
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.b, 0)));
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 1U);
	/* There is still something to wait for. */
	KUNIT_EXPECT_EQ(test, jfk_quiesced_seq(), 0ULL);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 1ULL);
	/* And b's turn. */
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 2ULL);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
}

/* Want of memory does not let it go. */
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
		jf_quiesce_module(&w.a->mod, true);
		jfk.fail_at = 0;
		KUNIT_EXPECT_EQ(test, jfk.gathers, n);
		if (!jfk.sleeps)
			break;
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 2U);
	}
	/* The list of records, spans, the grace period, four lists of what changed, suspects. */
	KUNIT_EXPECT_EQ(test, n, 9U);
}

/* --- everybody ----------------------------------------------------------- */

/* Only what was replaced, and all that was. */
static void quiesce_scope(struct kunit *test)
{
	const struct place *p = test->param_value;
	struct world w = world(test);
	struct jfk_task *t;

	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, p->get(&w, test));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), p->all ? -ETIMEDOUT : 0);
	KUNIT_EXPECT_EQ(test, t->looks, 1U);
	KUNIT_EXPECT_EQ(test, jfk_gone(jfk_code(w.a, 0)), p->all);
	jfk_leave(t);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
}

/* Nothing was replaced, so there is no text to look for, but data may be in use. */
static void quiesce_nothing(struct kunit *test)
{
	struct world w = world(test);

	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[0], jfk_target(0)), 0);
	jfk_task(test, jfk_target(0));
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.looks, 0U);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 1U);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 1ULL);
}

/* It returns when the last one has left, and not before. */
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
	/* One that nothing is known of counts as inside, */
	t[1]->unreadable = true;
	/* and whoever runs is looked at again. */
	t[2]->restless = true;
	begun = jfk.now;
	jf_quiesce();
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, t[i]->at, 0UL);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 15 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before_eq(jfk.now, begun + 17 * HZ));
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_LT(test, t[0]->looks, t[1]->looks);
	KUNIT_EXPECT_LT(test, t[1]->looks, t[2]->looks);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_quiesced_seq(), 1ULL);
}

/* Who has been seen outside is not looked at again, wherever he goes. */
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
	KUNIT_EXPECT_GT(test, t->looks, 3U);
	KUNIT_EXPECT_EQ(test, late->looks, 1U);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, newborn);
	KUNIT_EXPECT_EQ(test, newborn->looks, 0U);
	/* They are still there: that was not an accident. */
	KUNIT_EXPECT_TRUE(test, late->at && newborn->at);
	/* Each one once, but for him. */
	KUNIT_EXPECT_EQ(test, jfk.seen, 3 + t->looks);
	jfk_no_tasks();
}

/* What was replaced while it waited has to be waited for by the next one. */
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
	KUNIT_EXPECT_FALSE(test, jfk_gone(jfk_code(w.a, 0)));
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.b, 0)));
	KUNIT_EXPECT_EQ(test, jfk_quiesced_seq(), 1ULL);
	KUNIT_EXPECT_EQ(test, seq(), 2ULL);
}

/* The caller cannot have left: it is he who waits. */
static void caller_is_left_out(struct kunit *test)
{
	struct world w = world(test);

	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk_self()->at = (unsigned long)jfk_code(w.a, 0);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_EQ(test, jfk_self()->looks, 0U);
	jfk_leave(jfk_self());
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

/* What others ask for: text of their own choice, and no data. */
static void certain_spans(struct kunit *test)
{
	struct jf_spans s = { };
	struct jfk_task *t = jfk_task(test, X);
	unsigned long begun = jfk.now;

	KUNIT_ASSERT_EQ(test, jf_spans_add(&s, (unsigned long)Y, (unsigned long)Y + 1), 0);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 0), 0);
	KUNIT_ASSERT_EQ(test, jf_spans_add(&s, (unsigned long)X, (unsigned long)X + 1), 0);
	jf_spans_sort(&s);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.now, begun);
	t->stays = 12 * HZ;
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 11 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, strstr(jfk.warning, "test: waiting for") != NULL);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, MAX_SCHEDULE_TIMEOUT), 0);
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
	{ "no time, nobody", 0, 0, 0 },
	{ "no time, somebody", 0, 10 * HZ, -ETIMEDOUT },
	{ "a moment, nobody", 1, 0, 0 },
	{ "a moment, somebody", 1, 10 * HZ, -ETIMEDOUT },
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

	/* One who sleeps there, and one who runs there. */
	for (restless = 0; restless < 2; restless++) {
		struct jfk_task *t = jfk_task(test, l->stays ? jfk_code(w.a, 0) : NULL);
		unsigned long begun = jfk.now;

		replace(test, w.f[0], jfk_code(w.a, 0));
		t->stays = l->stays;
		t->restless = restless;
		jfk.sleeps = 0;
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(l->limit), l->err);
		KUNIT_EXPECT_EQ(test, jfk_gone(jfk_code(w.a, 0)), l->err != 0);
		if (l->err) {
			KUNIT_EXPECT_TRUE(test, t->at != 0);
			KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + l->limit));
			KUNIT_EXPECT_TRUE(test, time_before_eq(jfk.now, begun + l->limit + HZ / 10));
			KUNIT_EXPECT_EQ(test, jfk_quiesced_seq(), (u64)restless);
		} else {
			KUNIT_EXPECT_EQ(test, t->at, 0UL);
			KUNIT_EXPECT_TRUE(test, time_before_eq(jfk.now, begun + l->stays + 2 * HZ));
		}
		if (!l->limit) {
			KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
			KUNIT_EXPECT_EQ(test, jfk.now, begun);
			KUNIT_EXPECT_EQ(test, t->looks, 1U);
		}
		/* Having failed does no harm. */
		jfk_leave(t);
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
		KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
	}
}

/* With a limit want of memory is an error, and nothing else. */
static void limited_without_memory(struct kunit *test)
{
	struct world w = world(test);
	int err, not_freed;
	unsigned int n;

	/*
	 * 1: the list of records, 2: spans, 3: the grace period, which can be done
	 * without, 4: what is looked for, 5: what has changed, 6: changed trampolines,
	 * 7: changed calls, 8: suspects.
	 */
	for (n = 1; n < 10; n++) {
		replace(test, w.f[0], jfk_code(w.a, 0));
		not_freed = jfk.not_freed;
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = jf_quiesce_timeout(HZ);
		jfk.fail_at = 0;
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
		KUNIT_EXPECT_EQ(test, jfk_gone(jfk_code(w.a, 0)), err != 0);
		if (n != 3 && !err)
			break;
		KUNIT_EXPECT_EQ(test, err, n == 3 ? 0 : -ENOMEM);
		/* One record less, or the same. */
		KUNIT_EXPECT_EQ(test, jfk.not_freed, not_freed - (n == 3));
	}
	KUNIT_EXPECT_EQ(test, n, 9U);
}

/* Without a limit it is a delay. */
static void quiesce_without_memory(struct kunit *test)
{
	struct world w = world(test);
	unsigned int n;

	for (n = 1; n < 10; n++) {
		replace(test, w.f[0], jfk_code(w.a, 0));
		jfk.sleeps = 0;
		jfk.allocs = 0;
		jfk.fail_at = n;
		jfk.fail_always = true;
		jfk.heal_after = 3;
		jf_quiesce();
		jfk.fail_at = 0;
		KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
		KUNIT_EXPECT_EQ(test, jfk.gathers, n);
		if (!jfk.sleeps)
			break;
		KUNIT_EXPECT_EQ(test, jfk.sleeps, 3U);
		KUNIT_EXPECT_GE(test, jfk.slept, 100U);
	}
	KUNIT_EXPECT_EQ(test, n, 9U);
}

/* What only a key led to is waited for, once, and by a quiesce alone. */
static void quiesce_keys(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t = jfk_task(test, (void *)w.branch);

	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_ASSERT_EQ(test, jf_key_enable(w.key), 0);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(20 * HZ), -ETIMEDOUT);
	/* A module that goes is another matter. */
	jfk.sleeps = 0;
	jf_quiesce_module(&w.a->mod, true);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	t->stays = 20 * HZ;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, t->stays, 0UL);
	/* It has come since. */
	t->at = w.branch;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_ASSERT_EQ(test, jf_key_disable(w.key), 0);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	jfk_leave(t);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
}

static struct jf_key *jfk_later;

static void change_later(void)
{
	if (!jfk_later)
		return;
	jf_key_enable(jfk_later);
	jfk_later = NULL;
}

/* A key that changes while a quiesce waits does not keep that one. */
static void quiesce_keys_later(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t = jfk_task(test, jfk_code(w.a, 0));
	struct jfk_task *later = jfk_task(test, (void *)w.branch);

	replace(test, w.f[0], jfk_code(w.a, 0));
	t->stays = HZ;
	later->stays = 100 * HZ;
	jfk_later = w.key;
	jfk.on_stop = change_later;
	jf_quiesce();
	jfk.on_stop = NULL;
	KUNIT_EXPECT_GT(test, later->stays, 90UL * HZ);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
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
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.a, 0)));
}

/* --- what it used -------------------------------------------------------- */

/*
 * A task that is outside, but about to return from a call that was changed. As long
 * as it can run it counts, whatever Tasks RCU says.
 */
static void returning(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t[2];
	unsigned long begun;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		t[i] = jfk_task(test, NULL);
		t[i]->ret = w.call[0] + JF_ARCH_SITE_SIZE;
	}
	t[0]->on_rq = 1;
	t[0]->stays = 5 * HZ;
	replace(test, w.f[0], jfk_code(w.a, 0));
	begun = jfk.now;
	jf_quiesce();
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 5 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 7 * HZ));
	KUNIT_EXPECT_EQ(test, t[0]->ret, 0UL);
	KUNIT_EXPECT_EQ(test, t[0]->strict, t[0]->looks);
	KUNIT_EXPECT_GT(test, t[0]->looks, 1U);
	/* One that sleeps may do so for reasons of its own. */
	KUNIT_EXPECT_TRUE(test, t[1]->ret != 0);
	KUNIT_EXPECT_EQ(test, t[1]->looks, 1U);
	KUNIT_EXPECT_EQ(test, t[1]->strict, 0U);

	/* Who only asks for text is not told of calls. */
	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	KUNIT_ASSERT_EQ(test, trace(&w, 1), 0);
	t[0] = jfk_task(test, NULL);
	t[0]->tramp = jfk_tramp(w.m, w.tp->call) - 4;
	t[0]->on_rq = 1;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 0U);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
}

/* In the run queue, but only because it has not been taken out yet: it sleeps. */
static void delayed_is_asleep(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t = jfk_task(test, NULL);

	t->ret = w.call[0] + JF_ARCH_SITE_SIZE;
	t->on_rq = 1;
	t->delayed = 1;
	replace(test, w.f[0], jfk_code(w.a, 0));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_EQ(test, t->strict, 0U);
	t->delayed = 0;
	replace(test, w.f[0], jfk_code(w.a, 0));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, t->strict, 1U);
}

/* It waits for what is a spinlock elsewhere: not of its own accord. */
static void rtlock_is_awake(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t = jfk_task(test, NULL);

	t->ret = w.call[0] + JF_ARCH_SITE_SIZE;
	t->rtlock = 1;
	replace(test, w.f[0], jfk_code(w.a, 0));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, t->strict, 1U);
	t->rtlock = 0;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	KUNIT_EXPECT_EQ(test, t->strict, 1U);
}

/* Who has not come back after ten seconds stays in the new target. */
static void returning_expires(struct kunit *test)
{
	struct world w = world(test);
	unsigned int how;

	for (how = 0; how < 3; how++) {
		struct jfk_task *t = jfk_task(test, NULL);
		unsigned long begun = jfk.now;

		t->ret = w.call[0] + JF_ARCH_SITE_SIZE;
		t->on_rq = 1;
		/* It does not move; it runs; and it is in the old target as well. */
		t->restless = how == 1;
		t->at = how == 2 ? (unsigned long)jfk_code(w.a, 0) : 0;
		t->stays = 60 * HZ;
		replace(test, w.f[0], jfk_code(w.a, 0));
		jf_quiesce();
		if (how == 2) {
			KUNIT_EXPECT_EQ(test, t->at, 0UL);
			KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 60 * HZ));
		} else {
			KUNIT_EXPECT_TRUE(test, t->ret != 0);
			KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 10 * HZ));
			KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 12 * HZ));
		}
		jfk_leave(t);
		t->stays = 0;
		t->restless = false;
	}
}

/* As long as Tasks RCU ends, it is waited for. */
static void tasks_rcu_ends(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun = jfk.now;

	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.gp_takes = HZ - 1;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun + HZ - 1);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 0U);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 0U);
}

/* Where it does not, for a second, and no more. */
static void tasks_rcu_does_not_end(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun = jfk.now;

	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.gp_takes = -1;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun + HZ);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
	/* It has ended meanwhile, and the next one gets the same chance. */
	jfk_end_graces();
	replace(test, w.f[0], jfk_code(w.a, 0));
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 2 * HZ);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 2U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 1U);
}

/* Which calls: those whose keys have changed since all was quiet. */
static void changed_calls(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_mod *user = jfk_module(test, "user");
	unsigned long there = jfk_site(user, &w.f[0]->ent, JF_SITE_CALL);
	const struct {
		const char	*what;
		unsigned long	ret, tramp;
		bool		counts;
	} v[] = {
		{ "a call of what changed", w.call[0] + JF_ARCH_SITE_SIZE, 0, true },
		{ "in another module", there + JF_ARCH_SITE_SIZE, 0, true },
		{ "through its trampoline", 0, jfk_tramp(w.m, w.f[0]) - 4, true },
		{ "through its padding", 0, jfk_tramp(w.m, w.f[0]) - 4 - JFK_PAD, true },
		{ "by what is in front of that", 0, jfk_tramp(w.m, w.f[0]) - 5 - JFK_PAD, false },
		{ "of a tracepoint whose array changed", 0, jfk_tramp(w.m, w.tp->call) - 4, true },
		{ "about to call it", w.call[0], 0, false },
		{ "behind it", w.call[0] + JF_ARCH_SITE_SIZE + 1, 0, false },
		{ "of what changed before that", w.call[1] + JF_ARCH_SITE_SIZE, 0, false },
		{ "of what never changed", w.call[2] + JF_ARCH_SITE_SIZE, 0, false },
		{ "through the trampoline of that", 0, jfk_tramp(w.m, w.f[2]) - 4, false },
	};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, jfk_load(user), 0);
	for (i = 0; i < CHAIN + 1; i++)
		KUNIT_ASSERT_EQ(test, trace(&w, i), 0);
	replace(test, w.f[1], jfk_code(w.b, 0));
	jf_quiesce();
	replace(test, w.f[0], jfk_code(w.a, 0));
	/* From one array to the next. */
	KUNIT_ASSERT_EQ(test, trace(&w, CHAIN + 1), 0);
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		struct jfk_task *t = jfk_task(test, NULL);

		t->ret = v[i].ret;
		t->tramp = v[i].tramp;
		t->on_rq = 1;
		KUNIT_EXPECT_EQ_MSG(test, jf_quiesce_timeout(0), v[i].counts ? -ETIMEDOUT : 0,
				    "%s", v[i].what);
		jfk_leave(t);
		if (v[i].counts)
			continue;
		replace(test, w.f[0], jfk_code(w.a, 0));
		KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
		KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	}
}

/* One that is overdue says that the next will not end either. */
static void overdue_does_not_pile_up(struct kunit *test)
{
	struct world w = world(test);
	unsigned int i;

	jfk.gp_takes = -1;
	for (i = 0; i < 20; i++) {
		replace(test, w.f[0], jfk_code(w.a, 0));
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(3 * HZ), 0);
		jfk_pass(HZ / 10);
	}
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 1U);
	/* Nor does any begin for who has no time for it. */
	jfk_end_graces();
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 2U);
	jfk_end_graces();
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk_task(test, jfk_code(w.a, 0))->stays = HZ;
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	jfk.blind = true;
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	jfk.blind = false;
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 2U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 0U);
	/* And as long as they end there is nothing to be remembered. */
	jfk.gp_takes = 1;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 3U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 0U);
}

/* Where stacks cannot be read it is all there is. */
static void blind(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun = jfk.now;
	unsigned int n;
	int err = -1;

	jfk.blind = true;
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.gp_takes = 100 * HZ;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 100 * HZ);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 1U);
	KUNIT_EXPECT_EQ(test, jfk.rude_graces, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);

	replace(test, w.f[0], jfk_code(w.a, 0));
	begun = jfk.now;
	jfk.gp_takes = -1;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(5 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 5 * HZ);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.a, 0)));
	jfk_end_graces();
	jfk.gp_takes = 1;
	for (n = 1; n < 10; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		err = jf_quiesce_timeout(HZ);
		jfk.fail_at = 0;
		if (!err)
			break;
		KUNIT_EXPECT_EQ(test, err, -ENOMEM);
		KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.a, 0)));
	}
	KUNIT_EXPECT_EQ(test, n, 4U);
	/* A module, and its memory fails. */
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.allocs = 0;
	jfk.fail_at = 3;
	jfk.fail_always = true;
	jfk.heal_after = 2;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 2U);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.looks, 0U);
}

/* --- how often, how many ------------------------------------------------- */

static const unsigned int crowds[] = { 0, 1, 2, 127, 128, 129, 255, 256, 257, 1000 };

static void crowd_desc(const unsigned int *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u tasks", *n);
}
KUNIT_ARRAY_PARAM(crowd, crowds, crowd_desc);

/* The CPUs stand still for 128 tasks at a time. */
static void crowd(struct kunit *test)
{
	unsigned int i, n = *(const unsigned int *)test->param_value;
	struct world w = world(test);
	struct jfk_task *last = NULL;

	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk_no_tasks();
	for (i = 0; i < n; i++)
		last = jfk_task(test, NULL);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_EQ(test, jfk.looks, DIV_ROUND_UP(n, 128));
	KUNIT_EXPECT_EQ(test, jfk.seen, n);
	KUNIT_EXPECT_EQ(test, jfk.looked_at_max, min(n, 128U));
	KUNIT_EXPECT_EQ(test, jf_stats.look_tasks, (u64)n);
	KUNIT_EXPECT_EQ(test, jf_stats.looks, (u64)jfk.looks + jfk.gathers);
	KUNIT_EXPECT_GE(test, jf_stats.look_ns_max, jf_stats.look_ns_last);
	if (!last)
		return;

	/* All of them stay for a while, and then all but one have left. */
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk_no_tasks();
	for (i = 0; i < n; i++) {
		last = jfk_task(test, jfk_code(w.a, 0));
		last->stays = HZ;
	}
	last->stays = 3 * HZ;
	last->restless = true;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, last->at, 0UL);
	KUNIT_EXPECT_EQ(test, jfk.looked_at_max, min(n, 128U));
	KUNIT_EXPECT_EQ(test, jfk.looked_at, 1U);
}

/* There are more each time that they are counted. */
static struct kunit *more_test;

static void make_more(void)
{
	unsigned int i;

	for (i = 0; jfk.gathers < 3 && i < 150; i++)
		jfk_task(more_test, NULL);
}

static void growing_crowd(struct kunit *test)
{
	struct world w = world(test);
	unsigned int i;

	replace(test, w.f[0], jfk_code(w.a, 0));
	/* Two are there always, and the caller. */
	for (i = 0; i < 260; i++)
		jfk_task(test, NULL);
	more_test = test;
	jfk.before_gather = make_more;
	jf_quiesce();
	/* 412, 562, 712 and 712, with room for 367, 515, 702 and 890. */
	KUNIT_EXPECT_EQ(test, jfk.gathers, 4U);
	KUNIT_EXPECT_EQ(test, jfk.seen, 712U);
}

/* While nobody has executed anything there is nothing new to see. */
static void sleepers_stop_no_cpu(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun = jfk.now;
	struct jfk_task *t[2];
	unsigned int i;

	replace(test, w.f[0], jfk_code(w.a, 0));
	for (i = 0; i < 2; i++)
		t[i] = jfk_task(test, jfk_code(w.a, 0));
	t[0]->stays = 300 * HZ;
	t[1]->stays = 200 * HZ;
	jf_quiesce();
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 300 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 303 * HZ));
	/* At first, when changed calls count no more, and when each of them has left. */
	KUNIT_EXPECT_EQ(test, jfk.looks, 4U);
	KUNIT_EXPECT_EQ(test, t[0]->looks, 4U);
	/* Nor is the waiter himself woken up each time for nothing. */
	KUNIT_EXPECT_LT(test, jfk.sleeps, 330U);
}

static void runners_are_looked_at(struct kunit *test)
{
	struct world w = world(test);
	unsigned int how;

	for (how = 0; how < 2; how++) {
		struct jfk_task *t = jfk_task(test, jfk_code(w.a, 0));

		replace(test, w.f[0], jfk_code(w.a, 0));
		/* It is on a CPU right now, or it has been on one since. */
		t->on_cpu = !how;
		t->restless = how;
		t->stays = 10 * HZ;
		jfk.looks = 0;
		jfk.sleeps = 0;
		jf_quiesce();
		KUNIT_EXPECT_EQ(test, t->at, 0UL);
		KUNIT_EXPECT_EQ(test, jfk.looks, jfk.sleeps + 1);
		/* Often at first, then rarer and rarer, down to once a second. */
		KUNIT_EXPECT_GT(test, jfk.looks, 64U);
		KUNIT_EXPECT_LT(test, jfk.looks, 80U);
		KUNIT_EXPECT_LE(test, jfk.slept, 1000U);
		t->on_cpu = 0;
	}
}

/* Of its own accord and without: both are counted. */
static struct jfk_task *mover;
static unsigned int moves_at;

static void move_once(void)
{
	if (jfk.sleeps == moves_at)
		mover->nvcsw++;
	if (jfk.sleeps == moves_at + 3)
		mover->nivcsw++;
	if (jfk.sleeps == moves_at + 6)
		jfk_leave(mover);
}

static void each_move_is_one_look(struct kunit *test)
{
	struct world w = world(test);

	replace(test, w.f[0], jfk_code(w.a, 0));
	mover = jfk_task(test, jfk_code(w.a, 0));
	for (moves_at = 1; moves_at < 4; moves_at++) {
		mover->at = (unsigned long)jfk_code(w.a, 0);
		jfk.looks = 0;
		jfk.sleeps = 0;
		jfk.on_sleep = move_once;
		jf_quiesce();
		KUNIT_EXPECT_EQ(test, jfk.looks, 4U);
		KUNIT_EXPECT_EQ(test, jfk.sleeps, moves_at + 6);
		jfk.on_sleep = NULL;
		replace(test, w.f[0], jfk_code(w.a, 0));
	}
}

/* --- the log ------------------------------------------------------------- */

static bool said(const char *what)
{
	return strstr(jfk.warning, what);
}

static void log_names_them(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;

	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, jfk_code(w.a, 0));
	strscpy(t->comm, "sleeper", sizeof(t->comm));
	t->pid = 4711;
	jfk_task(test, jfk_code(w.a, 0))->stays = 15 * HZ;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(9 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 0U);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(35 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 3U);
	KUNIT_EXPECT_TRUE_MSG(test, said("quiesce: waiting for sleeper:4711, inside "), "%s", jfk.warning);
	KUNIT_EXPECT_TRUE_MSG(test, said("since 3") && said("and 0 more"), "%s", jfk.warning);

	/* Its stack is a riddle; it is a module that waits. */
	t->unreadable = true;
	t->stays = 15 * HZ;
	jfk_task(test, jfk_code(w.a, 0))->stays = 12 * HZ;
	jfk.warnings = 0;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 1U);
	KUNIT_EXPECT_TRUE_MSG(test, said("a: waiting for sleeper:4711, whose stack cannot be read"),
			      "%s", jfk.warning);
	KUNIT_EXPECT_TRUE_MSG(test, said("since 1") && said("and 1 more"), "%s", jfk.warning);
}

/* --- callbacks ----------------------------------------------------------- */

static unsigned int called, calls_wrong;
static struct {
	struct jf_quiesce_head	head;
	unsigned int		order;
} callback[4];

static void count_call(struct jf_quiesce_head *head)
{
	unsigned int i = container_of(head, typeof(callback[0]), head) - callback;

	callback[i].order = ++called;
	/* It may be freed here. */
	memset(head, 0xa5, sizeof(*head));
}

static void ask(unsigned int i)
{
	callback[i].order = 0;
	jf_call_quiesced(&callback[i].head, count_call);
}

static void callbacks(struct kunit *test)
{
	struct world w = world(test);
	unsigned int i, allocs;
	unsigned long flags;
	struct jfk_task *t;

	called = 0;
	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, jfk_code(w.a, 0));
	t->stays = 3 * HZ;
	allocs = jfk.allocs;
	/* Nothing is needed for it, wherever it is said. */
	local_irq_save(flags);
	for (i = 0; i < 3; i++)
		ask(i);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, jfk.allocs, allocs);
	KUNIT_EXPECT_EQ(test, called, 0U);
	KUNIT_EXPECT_TRUE(test, jfk_work());
	/* One wait for all of them. */
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 1ULL);
	KUNIT_EXPECT_EQ(test, called, 3U);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, callback[i].order, i + 1);
	KUNIT_EXPECT_FALSE(test, jfk_work());
	/* The work is queued once too often: nobody waits. */
	jfk.queued = true;
	KUNIT_EXPECT_TRUE(test, jfk_work());
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 1ULL);
}

/* One that was asked for while others are waited for has a wait of its own. */
static struct world *second;
static struct jfk_task *second_task;

static void ask_second(void)
{
	if (jfk.sleeps != 1)
		return;
	calls_wrong += called;
	calls_wrong += !!__jf_func_update(second->f[1], NULL);
	second_task->at = (unsigned long)jfk_code(second->b, 0);
	second_task->stays = 20 * HZ;
	ask(1);
}

static void callback_meanwhile(struct kunit *test)
{
	struct world w = world(test);

	called = calls_wrong = 0;
	replace(test, w.f[0], jfk_code(w.a, 0));
	KUNIT_ASSERT_EQ(test, __jf_func_update(w.f[1], jfk_code(w.b, 0)), 0);
	jfk_task(test, jfk_code(w.a, 0))->stays = 3 * HZ;
	second = &w;
	second_task = jfk_task(test, NULL);
	jfk.on_sleep = ask_second;
	ask(0);
	KUNIT_EXPECT_TRUE(test, jfk_work());
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, calls_wrong, 0U);
	KUNIT_EXPECT_EQ(test, called, 1U);
	KUNIT_EXPECT_TRUE(test, second_task->at != 0);
	KUNIT_EXPECT_TRUE(test, jfk_work());
	KUNIT_EXPECT_EQ(test, called, 2U);
	KUNIT_EXPECT_EQ(test, second_task->at, 0UL);
	KUNIT_EXPECT_EQ(test, callback[1].order, 2U);
}

static void barrier_waits(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;

	/* With nobody to wait for. */
	jf_quiesce_barrier();
	called = 0;
	replace(test, w.f[0], jfk_code(w.a, 0));
	t = jfk_task(test, jfk_code(w.a, 0));
	t->stays = 3 * HZ;
	ask(0);
	ask(1);
	jf_quiesce_barrier();
	KUNIT_EXPECT_EQ(test, called, 2U);
	KUNIT_EXPECT_EQ(test, t->at, 0UL);
	KUNIT_EXPECT_FALSE(test, jfk_work());
}

/* A module does not go before its callbacks have been called; others' can wait. */
static void module_waits_for_callbacks(struct kunit *test)
{
	struct world w = world(test);

	called = 0;
	w.a->func = count_call;
	ask(0);
	ask(1);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.b, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, called, 0U);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 0ULL);
	/* It was never a target: that is no reason not to wait. */
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, called, 2U);
	KUNIT_EXPECT_FALSE(test, jfk_work());
}

/* Nor before others' callbacks have been called for what is in its own memory. */
static void module_waits_for_its_heads(struct kunit *test)
{
	struct world w = world(test);

	called = 0;
	w.a->func = (void *)&callback[0].head;
	ask(0);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, called, 1U);
	KUNIT_EXPECT_FALSE(test, jfk_work());
}

/* The callback asks for another one, as when something is freed in two steps. */
static void ask_again(struct jf_quiesce_head *head)
{
	if (++called < 3)
		jf_call_quiesced(head, ask_again);
}

static void module_waits_for_the_last(struct kunit *test)
{
	struct world w = world(test);

	called = 0;
	w.a->func = ask_again;
	jf_call_quiesced(&callback[0].head, ask_again);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, called, 3U);
	KUNIT_EXPECT_FALSE(test, jfk_work());
}

/* One who is waited for asks for a callback before he leaves. */
static void ask_in_time(void)
{
	if (!called && list_empty(&callback[0].head.list)) {
		jf_call_quiesced(&callback[0].head, count_call);
		jfk_leave_all();
	}
}

static void module_waits_for_late_callbacks(struct kunit *test)
{
	struct world w = world(test);

	called = 0;
	INIT_LIST_HEAD(&callback[0].head.list);
	w.a->func = count_call;
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk_task(test, jfk_code(w.a, 0));
	jfk.on_sleep = ask_in_time;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	jfk.on_sleep = NULL;
	KUNIT_EXPECT_EQ(test, called, 1U);
	KUNIT_EXPECT_FALSE(test, jfk_work());
}

/* It never ends: the log says so. */
static void ask_on_and_on(struct jf_quiesce_head *head)
{
	if (++called < 200)
		jf_call_quiesced(head, ask_on_and_on);
}

static void module_with_endless_callbacks(struct kunit *test)
{
	struct world w = world(test);

	called = 0;
	w.a->func = ask_on_and_on;
	jf_call_quiesced(&callback[0].head, ask_on_and_on);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, called, 200U);
	/* 200 times a fifth of a second. */
	KUNIT_EXPECT_EQ(test, jfk.warnings, 3U);
	KUNIT_EXPECT_TRUE_MSG(test, said("a: its callbacks"), "%s", jfk.warning);
}

/* It has been taken off the list, and is being called. */
static struct world *running;
static u64 running_quiesces;

static void going_while_called(struct jf_quiesce_head *head)
{
	u64 before = jf_stats.quiesces;

	/* For real, another task does that. The barrier is what is looked for. */
	jf_quiesce_module(&running->a->mod, false);
	running_quiesces = jf_stats.quiesces - before;
}

static void module_waits_for_the_running(struct kunit *test)
{
	struct world w = world(test);

	running = &w;
	w.a->func = going_while_called;
	jf_call_quiesced(&callback[0].head, going_while_called);
	KUNIT_EXPECT_TRUE(test, jfk_work());
	KUNIT_EXPECT_EQ(test, running_quiesces, 1ULL);
	/* And it does not run any more. */
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 2ULL);
}

/* --- tasks that exit ----------------------------------------------------- */

static struct jfk_task *exit_task(struct kunit *test, void *at)
{
	struct jfk_task *t = jfk_task(test, at);

	jfk_exiting(t);
	jfk_unlist(t);
	return t;
}

static void finish(void)
{
	if (jfk.sleeps == 2)
		jfk_free_stack(dying);
}

/* On no list any more, and still in there. */
static void exiting_is_seen(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *both;

	for (jfk.cpu = 0; jfk.cpu < 2; jfk.cpu++) {
		replace(test, w.f[0], jfk_code(w.a, 0));
		dying = exit_task(test, jfk_code(w.a, 0));
		KUNIT_EXPECT_EQ(test, dying->refs, 1);
		/* It has only begun to exit: found twice, which does no harm. */
		both = jfk_task(test, jfk_code(w.a, 0));
		both->stays = HZ / 100;
		jfk_exiting(both);
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, dying->looks, 1U);
		KUNIT_EXPECT_EQ(test, both->looks, 2U);
		jfk.sleeps = 0;
		jfk.on_sleep = finish;
		jf_quiesce();
		KUNIT_EXPECT_GE(test, jfk.sleeps, 2U);
		/* Nobody holds what has no stack. */
		KUNIT_EXPECT_EQ(test, dying->refs, 0);
		KUNIT_EXPECT_EQ(test, both->refs, 1);
		KUNIT_EXPECT_EQ(test, jfk_num_exits(jfk.cpu), 1U);
		jfk_free_stack(both);
	}
	jfk.cpu = 0;
}

/* What is dropped, and when: a few at a time, those without a stack. */
static void exits_are_swept(struct kunit *test)
{
	struct jfk_task *t[48];
	unsigned int i;

	for (i = 0; i < 32; i++)
		t[i] = exit_task(test, NULL);
	KUNIT_EXPECT_EQ(test, jfk_num_exits(0), 32U);
	KUNIT_EXPECT_EQ(test, jfk_num_exits(1), 0U);
	for (i = 0; i < 32; i += 2)
		jfk_free_stack(t[i]);
	for (; i < 48; i++)
		t[i] = exit_task(test, NULL);
	KUNIT_EXPECT_EQ(test, jfk_num_exits(0), 32U);
	for (i = 0; i < 48; i++)
		KUNIT_EXPECT_EQ(test, t[i]->refs, i >= 32 || i % 2);
	/* All the rest, with the next quiesce. */
	for (i = 0; i < 47; i++)
		jfk_free_stack(t[i]);
	KUNIT_ASSERT_EQ(test, prepare(X, JF_GONE_TARGET), 0);
	done(X, true);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk_num_exits(0), 1U);
	KUNIT_EXPECT_EQ(test, t[47]->refs, 1);
}

/* What no other exit and no quiesce drops, work does, on each CPU, as long as there is any. */
static void exits_are_dropped_by_work(struct kunit *test)
{
	struct jfk_task *t[40], *stays;
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, jfk.exits_queued);
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		jfk.cpu = i % 2;
		t[i] = exit_task(test, NULL);
		KUNIT_EXPECT_TRUE(test, jfk.exits_queued);
		KUNIT_EXPECT_EQ(test, jfk.exits_delay, 1UL);
	}
	stays = exit_task(test, NULL);
	for (i = 0; i < ARRAY_SIZE(t); i++)
		jfk_free_stack(t[i]);
	KUNIT_EXPECT_TRUE(test, jfk_exits_work());
	for (i = 0; i < ARRAY_SIZE(t); i++)
		KUNIT_EXPECT_EQ(test, t[i]->refs, 0);
	KUNIT_EXPECT_EQ(test, stays->refs, 1);
	/* It comes back as long as one is there, less and less often. */
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_TRUE(test, jfk_exits_work());
		KUNIT_EXPECT_EQ(test, jfk.exits_delay, min(2UL << i, (unsigned long)HZ / 10));
	}
	/* But the next one that exits need not wait for that. */
	jfk.cpu = 0;
	t[0] = exit_task(test, NULL);
	KUNIT_EXPECT_EQ(test, jfk.exits_delay, 1UL);
	jfk_free_stack(t[0]);
	KUNIT_EXPECT_TRUE(test, jfk_exits_work());
	KUNIT_EXPECT_EQ(test, t[0]->refs, 0);
	KUNIT_EXPECT_EQ(test, jfk.exits_delay, 1UL);
	jfk_free_stack(stays);
	KUNIT_EXPECT_TRUE(test, jfk_exits_work());
	KUNIT_EXPECT_EQ(test, stays->refs, 0);
	KUNIT_EXPECT_FALSE(test, jfk.exits_queued);
}

/* A storm of exits, all with their stacks, and more than there is room for. */
static void too_many(struct kunit *test, unsigned int lost)
{
	unsigned int i;

	for (i = jfk_num_exits(0); i < jfk_exits_max(); i++)
		exit_task(test, NULL);
	KUNIT_ASSERT_EQ(test, jfk_num_exits(0), jfk_exits_max());
	KUNIT_ASSERT_EQ(test, jfk_exits_lost(), 0);
	for (i = 0; i < lost; i++)
		KUNIT_ASSERT_EQ(test, exit_task(test, NULL)->refs, 0);
	KUNIT_ASSERT_EQ(test, jfk_num_exits(0), jfk_exits_max());
	KUNIT_ASSERT_EQ(test, jfk_exits_lost(), (int)lost);
}

/* Nobody sees those for whom there was no room but Tasks RCU. */
static void lost_exits(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun;
	unsigned int n;

	too_many(test, 3);
	replace(test, w.f[0], jfk_code(w.a, 0));
	/* With less time than it is given there is no answer. */
	jfk.gp_takes = -1;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(3 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk_exits_lost(), 3);
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.a, 0)));
	/* Its memory is needed now: the records, the spans, the grace period. */
	for (n = 1; n < 4; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(20 * HZ), -ENOMEM);
	}
	jfk.sleeps = 0;
	jfk.allocs = 0;
	jfk.fail_at = 3;
	jfk.fail_always = true;
	jfk.heal_after = 2;
	/* It ends, although others are overdue. */
	jfk.gp_takes = 9 * HZ;
	jfk_end_graces();
	begun = jfk.now;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.sleeps, 2U);
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 9 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 10 * HZ));
	/* Of those who exit more were found than there was room for. */
	KUNIT_EXPECT_EQ(test, jfk.gathers, 2U);
	KUNIT_EXPECT_EQ(test, jfk_exits_lost(), 0);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 0U);
	/* They have been found, and the next one is as always. */
	replace(test, w.f[0], jfk_code(w.a, 0));
	begun = jfk.now;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun + HZ);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
}

/* However long it takes: nothing else knows of them. The log says what is waited for. */
static void lost_for_long(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun;

	too_many(test, 1);
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.gp_takes = -1;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(25 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 2U);
	KUNIT_EXPECT_TRUE_MSG(test, said("quiesce: waiting for a grace period of Tasks RCU, since 20 s"), "%s",
			      jfk.warning);
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.a, 0)));
	jfk_end_graces();
	jfk.gp_takes = 70 * HZ;
	begun = jfk.now;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 70 * HZ);
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 0U);
}

/* Where half of the room is taken, the work makes more, and none is lost. */
static void exits_grow(struct kunit *test)
{
	unsigned int i, n, max = jfk_exits_max();

	for (n = 1; n <= 3; n++) {
		for (i = jfk_num_exits(0); i < n * max; i++)
			exit_task(test, NULL);
		KUNIT_ASSERT_EQ(test, jfk_num_exits(0), n * max);
		KUNIT_ASSERT_EQ(test, jfk_exits_lost(), 0);
		/* Without memory it stays as it is until the next time. */
		jfk.allocs = 0;
		jfk.fail_at = 1;
		KUNIT_EXPECT_TRUE(test, jfk_exits_work());
		jfk.fail_at = 0;
		KUNIT_EXPECT_TRUE(test, jfk_exits_work());
	}
	KUNIT_EXPECT_EQ(test, jfk_exits_lost(), 0);
}

/* That holds for text without data as well. */
static void lost_exits_in_spans(struct kunit *test)
{
	struct jf_spans s = { };
	unsigned long begun;

	too_many(test, 1);
	KUNIT_ASSERT_EQ(test, jf_spans_add(&s, (unsigned long)X, (unsigned long)X + 1), 0);
	jfk.gp_takes = -1;
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 3 * HZ), -ETIMEDOUT);
	jfk_end_graces();
	jfk.gp_takes = 5 * HZ;
	begun = jfk.now;
	/* A moment is not enough. */
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, MAX_SCHEDULE_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 5 * HZ);
	KUNIT_EXPECT_EQ(test, jfk_exits_lost(), 0);
	jf_spans_free(&s);
}

/* One that was lost behind the grace period is lost still. */
static struct kunit *lost_test;

static void lose_one(void)
{
	if (jfk.gathers == 1)
		exit_task(lost_test, NULL);
}

static void lost_meanwhile(struct kunit *test)
{
	struct world w = world(test);

	too_many(test, 1);
	replace(test, w.f[0], jfk_code(w.a, 0));
	lost_test = test;
	jfk.on_stop = lose_one;
	jf_quiesce();
	jfk.on_stop = NULL;
	KUNIT_EXPECT_EQ(test, jfk_exits_lost(), 1);
}

/* The storm is over, and no quiesce came by: the list gets shorter by itself. */
static void exits_recover(struct kunit *test)
{
	unsigned int i, max = jfk_exits_max();
	struct jfk_task **t = kunit_kzalloc(test, max * sizeof(*t), GFP_KERNEL);
	int lost;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
	for (i = 0; i < max; i++)
		t[i] = exit_task(test, NULL);
	for (i = 0; i < 20; i++)
		exit_task(test, NULL);
	lost = jfk_exits_lost();
	KUNIT_EXPECT_EQ(test, lost, 20);
	for (i = 0; i < max; i++)
		jfk_free_stack(t[i]);
	for (i = 0; i < max; i++)
		jfk_free_stack(exit_task(test, NULL));
	/* A few more got lost until then, at the most. */
	KUNIT_EXPECT_LE(test, jfk_exits_lost(), lost + 16);
	KUNIT_EXPECT_LE(test, jfk_num_exits(0), 48U);
}

/* --- dispatch code that was replaced -------------------------------------- */

/* As many images as there are steps, and somebody in one of them. */
static void *step(struct kunit *test, struct world *w, unsigned int i)
{
	void *image = jfk_probes_image(w->tp);

	KUNIT_ASSERT_EQ(test, trace(w, i), 0);
	return image;
}

static void busy_image_stays(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun = jfk.now;
	struct jfk_task *t;
	unsigned int i;
	void *image;

	for (i = 0; i < 3; i++)
		step(test, &w, i);
	image = step(test, &w, 3);
	for (i = 4; i < 6; i++)
		step(test, &w, i);
	KUNIT_EXPECT_EQ(test, jfk_retired(), 5U);
	KUNIT_EXPECT_EQ(test, jfk.delay, (unsigned long)HZ);
	t = jfk_task(test, image);
	t->stays = 100 * HZ;
	jfk_reclaim();
	/* Two seconds for all together, and none for each of them. */
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 2 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 3 * HZ));
	KUNIT_EXPECT_EQ(test, jfk_retired(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 2U);
	KUNIT_EXPECT_TRUE(test, ((struct jfk_image *)image)->used);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	/* It is tried again, but not so soon. */
	KUNIT_EXPECT_TRUE(test, jfk.scheduled);
	KUNIT_EXPECT_EQ(test, jfk.delay, 10UL * HZ);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 1U);
	KUNIT_EXPECT_EQ(test, jfk.delay, 10UL * HZ);
	/* What comes meanwhile does not wait for it. */
	step(test, &w, 6);
	KUNIT_EXPECT_EQ(test, jfk.delay, (unsigned long)HZ);
	/* It is not put off by what comes behind. */
	jfk.delay = 1;
	step(test, &w, 7);
	KUNIT_EXPECT_EQ(test, jfk.delay, 1UL);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 1U);
	/* And then it has left. */
	jfk_leave(t);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 1U);
	KUNIT_EXPECT_FALSE(test, jfk.scheduled);
}

/* The records of what was given back are dropped, those of probes are not. */
static void reclaim_forgets(struct kunit *test)
{
	struct world w = world(test);
	void *first, *other;

	step(test, &w, 0);
	first = step(test, &w, 1);
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	KUNIT_EXPECT_TRUE(test, jfk_gone(first));
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.a, 0)));
	jfk_reclaim();
	KUNIT_EXPECT_FALSE(test, jfk_gone(first));
	KUNIT_EXPECT_TRUE(test, jfk_gone(jfk_code(w.a, 0)));
	KUNIT_EXPECT_EQ(test, jfk_num_gones(), 1U);
	/* The same image serves another one: who is in it is none of that. */
	other = step(test, &w, 2);
	KUNIT_EXPECT_PTR_EQ(test, jfk_probes_image(w.tp), first);
	jfk_task(test, first);
	jfk_reclaim();
	KUNIT_EXPECT_FALSE(test, jfk_gone(other));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
}

/* An array that the iterator may walk. */
static void busy_iterator_stays(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;
	unsigned int i;

	for (i = 0; i < CHAIN + 1; i++)
		step(test, &w, i);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 0U);
	for (i = 1; i < 5; i++)
		step(test, &w, CHAIN + i);
	KUNIT_EXPECT_EQ(test, jfk_retired(), 4U);
	t = jfk_task(test, jfk_iter());
	jfk.gathers = 0;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 4U);
	/* Where one of them is, all are: once together, once by themselves. */
	KUNIT_EXPECT_EQ(test, jfk.gathers, 2U);
	jfk_leave(t);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 0U);
}

/* Want of memory puts it off, and gives nothing back unseen. */
static void reclaim_without_memory(struct kunit *test)
{
	struct world w = world(test);
	unsigned int n;

	for (n = 0; n < 3; n++)
		step(test, &w, n);
	for (n = 1; n < 10; n++) {
		jfk.allocs = 0;
		jfk.fail_at = n;
		jfk.fail_always = true;
		jfk_reclaim();
		jfk.fail_at = 0;
		if (!jfk_retired())
			break;
		KUNIT_EXPECT_EQ(test, jfk_retired(), 2U);
		KUNIT_EXPECT_EQ(test, jfk.delay, 10UL * HZ);
		KUNIT_EXPECT_EQ(test, jfk.looks, 0U);
	}
	/* The spans, a copy of them, and the suspects. */
	KUNIT_EXPECT_EQ(test, n, 4U);
}

/* Where images run out and the only retired one is busy, the iterator serves. */
static void busy_image_is_not_taken(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;
	void *image;

	jfk.images = 2;
	step(test, &w, 0);
	image = step(test, &w, 1);
	t = jfk_task(test, image);
	KUNIT_EXPECT_EQ(test, trace(&w, 2), 0);
	KUNIT_EXPECT_PTR_EQ(test, w.tp->call->func, jfk_iter());
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_exhausted, 1ULL);
	jfk_leave(t);
	KUNIT_EXPECT_EQ(test, trace(&w, 3), 0);
	KUNIT_EXPECT_TRUE(test, jfk_probes_image(w.tp) != NULL);
	KUNIT_EXPECT_EQ(test, jf_trace_stats.iter_exhausted, 1ULL);
}

/* A task that exits in there, and that nobody noted. */
static void lost_exit_in_image(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t;

	too_many(test, 1);
	step(test, &w, 0);
	step(test, &w, 1);
	/* It is still text alone that is asked for. */
	t = jfk_task(test, NULL);
	t->tramp = jfk_tramp(w.m, w.tp->call) - 4;
	t->on_rq = 1;
	jfk.gp_takes = -1;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 1U);
	jfk_end_graces();
	jfk.gp_takes = 1;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_retired(), 0U);
}

/* --- init and exit -------------------------------------------------------- */

static void init_fails(struct kunit *test)
{
	jf_quiesce_exit();
	KUNIT_EXPECT_EQ(test, jfk.workqueues, 0);
	KUNIT_EXPECT_TRUE(test, !jfk.exit_probe);

	jfk.no_workqueue = true;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), -ENOMEM);
	jfk.no_workqueue = false;
	KUNIT_EXPECT_TRUE(test, !jfk.exit_probe);
	jfk.no_percpu = true;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), -ENOMEM);
	jfk.no_percpu = false;
	KUNIT_EXPECT_EQ(test, jfk.workqueues, 0);
	jfk.exit_probe_err = -EINVAL;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), -EINVAL);
	jfk.exit_probe_err = 0;
	KUNIT_EXPECT_EQ(test, jfk.workqueues + jfk.percpus, 0);
	KUNIT_EXPECT_TRUE(test, !jfk.exit_probe);
	/* For who could not look anyway it does not matter. */
	jfk_forget_exit_tp();
	jfk.no_exit_tp = true;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), -ENOENT);
	KUNIT_EXPECT_EQ(test, jfk.workqueues + jfk.percpus, 0);
	jfk.blind = true;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), 0);
	KUNIT_EXPECT_EQ(test, jfk.workqueues, 1);
	KUNIT_EXPECT_TRUE(test, !jfk.exit_probe);
	jf_quiesce_exit();
	jfk.blind = false;
	jfk.no_exit_tp = false;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), 0);
	KUNIT_EXPECT_TRUE(test, jfk.exit_probe != NULL);
}

/* Nothing is held when it has gone, and Tasks RCU keeps nobody from going. */
static void exit_lets_go(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t[40];
	unsigned int i;

	for (i = 0; i < 40; i++) {
		jfk.cpu = i % 2;
		t[i] = exit_task(test, NULL);
	}
	jfk.cpu = 0;
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.gp_takes = -1;
	jf_quiesce();
	jfk_pass(HZ / 10);
	called = 0;
	ask(0);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 1U);
	jf_quiesce_exit();
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_EQ(test, t[i]->refs, 0);
	KUNIT_EXPECT_EQ(test, called, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 1U);
	jfk_end_graces();
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), 0);
}

static struct kunit_case quiesce_cases[] = {
	KUNIT_CASE_PARAM(module_scope, place_gen_params),
	KUNIT_CASE(module_no_target),
	KUNIT_CASE(once_a_target),
	KUNIT_CASE(module_forgets),
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
	KUNIT_CASE(quiesce_keys),
	KUNIT_CASE(quiesce_keys_later),
	KUNIT_CASE(quiesce_context),
	KUNIT_CASE(returning),
	KUNIT_CASE(delayed_is_asleep),
	KUNIT_CASE(rtlock_is_awake),
	KUNIT_CASE(returning_expires),
	KUNIT_CASE(tasks_rcu_ends),
	KUNIT_CASE(tasks_rcu_does_not_end),
	KUNIT_CASE(changed_calls),
	KUNIT_CASE(overdue_does_not_pile_up),
	KUNIT_CASE(blind),
	KUNIT_CASE_PARAM(crowd, crowd_gen_params),
	KUNIT_CASE(growing_crowd),
	KUNIT_CASE(sleepers_stop_no_cpu),
	KUNIT_CASE(runners_are_looked_at),
	KUNIT_CASE(each_move_is_one_look),
	KUNIT_CASE(log_names_them),
	KUNIT_CASE(callbacks),
	KUNIT_CASE(callback_meanwhile),
	KUNIT_CASE(barrier_waits),
	KUNIT_CASE(module_waits_for_callbacks),
	KUNIT_CASE(module_waits_for_its_heads),
	KUNIT_CASE(module_waits_for_the_last),
	KUNIT_CASE(module_waits_for_late_callbacks),
	KUNIT_CASE(module_with_endless_callbacks),
	KUNIT_CASE(module_waits_for_the_running),
	KUNIT_CASE(exiting_is_seen),
	KUNIT_CASE(exits_are_swept),
	KUNIT_CASE(exits_are_dropped_by_work),
	KUNIT_CASE(lost_exits),
	KUNIT_CASE(lost_for_long),
	KUNIT_CASE(exits_grow),
	KUNIT_CASE(lost_exits_in_spans),
	KUNIT_CASE(lost_meanwhile),
	KUNIT_CASE(exits_recover),
	KUNIT_CASE(busy_image_stays),
	KUNIT_CASE(reclaim_forgets),
	KUNIT_CASE(busy_iterator_stays),
	KUNIT_CASE(reclaim_without_memory),
	KUNIT_CASE(busy_image_is_not_taken),
	KUNIT_CASE(lost_exit_in_image),
	KUNIT_CASE(init_fails),
	KUNIT_CASE(exit_lets_go),
	{}
};

struct kunit_suite jfk_quiesce_suite = {
	.name = "jumpfunc-quiesce",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = quiesce_cases,
};
