// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-scan: what a quiesce waits for beside the text, and how it scans
 * stacks (quiesce/quiesce.c, fake.h).
 *
 * What it proves: tasks that are about to return to a changed call count, for a while;
 * Tasks RCU is waited for as long as it helps; the CPUs stand still for few tasks at a
 * time, and not at all while no task has run; the log names a task that is waited for.
 */
#include "world.h"

#include <linux/jiffies.h>

/* --- data of what was replaced ------------------------------------------- */

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
	KUNIT_EXPECT_EQ(test, t[0]->strict, t[0]->scans);
	KUNIT_EXPECT_GT(test, t[0]->scans, 1U);
	/* One that sleeps may be in an unrelated function. */
	KUNIT_EXPECT_TRUE(test, t[1]->ret != 0);
	KUNIT_EXPECT_EQ(test, t[1]->scans, 1U);
	KUNIT_EXPECT_EQ(test, t[1]->strict, 0U);

	/* A wait for text alone does not count calls. */
	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	KUNIT_ASSERT_EQ(test, trace(&w, 1), 0);
	t[0] = jfk_task(test, NULL);
	t[0]->tramp = jfk_tramp(w.m, w.tp->call) - 4;
	t[0]->on_rq = 1;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
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

/* A task that has not returned after ten seconds stays in the new target. */
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
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
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
		{ "after it", w.call[0] + JF_ARCH_SITE_SIZE + 1, 0, false },
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
	/* Nor does any begin for a caller that has no time for it. */
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

/* Where stacks cannot be read, only Tasks RCU is left. */
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
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);

	replace(test, w.f[0], jfk_code(w.a, 0));
	begun = jfk.now;
	jfk.gp_takes = -1;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(5 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 5 * HZ);
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
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
		KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
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
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
	KUNIT_EXPECT_EQ(test, jfk.gathers + jfk.scans, 0U);
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
	KUNIT_EXPECT_EQ(test, jfk.scans, DIV_ROUND_UP(n, 128));
	KUNIT_EXPECT_EQ(test, jfk.seen, n);
	KUNIT_EXPECT_EQ(test, jfk.scanned_max, min(n, 128U));
	KUNIT_EXPECT_EQ(test, jf_stats.scan_tasks, (u64)n);
	KUNIT_EXPECT_EQ(test, jf_stats.scans, (u64)jfk.scans + jfk.gathers);
	KUNIT_EXPECT_GE(test, jf_stats.scan_ns_max, jf_stats.scan_ns_last);
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
	KUNIT_EXPECT_EQ(test, jfk.scanned_max, min(n, 128U));
	KUNIT_EXPECT_EQ(test, jfk.scanned, 1U);
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

/* While no task has executed anything, a scan would find nothing new. */
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
	KUNIT_EXPECT_EQ(test, jfk.scans, 4U);
	KUNIT_EXPECT_EQ(test, t[0]->scans, 4U);
	/* Nor is the waiter itself woken up each time for nothing. */
	KUNIT_EXPECT_LT(test, jfk.sleeps, 330U);
}

static void runners_are_scanned(struct kunit *test)
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
		jfk.scans = 0;
		jfk.sleeps = 0;
		jf_quiesce();
		KUNIT_EXPECT_EQ(test, t->at, 0UL);
		KUNIT_EXPECT_EQ(test, jfk.scans, jfk.sleeps + 1);
		/* Often at first, then rarer and rarer, down to once a second. */
		KUNIT_EXPECT_GT(test, jfk.scans, 64U);
		KUNIT_EXPECT_LT(test, jfk.scans, 80U);
		KUNIT_EXPECT_LE(test, jfk.slept, 1000U);
		t->on_cpu = 0;
	}
}

/*
 * A task that is found inside each time, and has run in between, is watched: it may leave,
 * and come again. One that does not leave is waited for all the same, and one that does not
 * run is not watched.
 */
static void coming_again(struct kunit *test)
{
	struct world w = world(test);
	unsigned int how;

	for (how = 0; how < 4; how++) {
		struct jfk_task *t = jfk_task(test, NULL);
		unsigned long begun = jfk.now;

		t->at = (unsigned long)jfk_code(w.a, 0);
		/* To watch a place in what is searched for would say nothing. */
		t->back = how < 3 ? w.call[0] + JF_ARCH_SITE_SIZE : t->at + 1;
		t->stays = 60 * HZ;
		t->restless = how != 2;
		t->returns = how == 0 || how == 3;
		replace(test, w.f[0], jfk_code(w.a, 0));
		jf_quiesce();
		if (how == 0)
			KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 2 * HZ));
		else
			KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 60 * HZ));
		KUNIT_EXPECT_EQ(test, t->watched, how < 2 ? 1U : 0U);
		KUNIT_EXPECT_EQ(test, jfk.watches, 0);
		jfk_leave(t);
		t->stays = 0;
		t->restless = false;
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

static void each_move_is_one_scan(struct kunit *test)
{
	struct world w = world(test);

	replace(test, w.f[0], jfk_code(w.a, 0));
	mover = jfk_task(test, jfk_code(w.a, 0));
	for (moves_at = 1; moves_at < 4; moves_at++) {
		mover->at = (unsigned long)jfk_code(w.a, 0);
		jfk.scans = 0;
		jfk.sleeps = 0;
		jfk.on_sleep = move_once;
		jf_quiesce();
		KUNIT_EXPECT_EQ(test, jfk.scans, 4U);
		KUNIT_EXPECT_EQ(test, jfk.sleeps, moves_at + 6);
		jfk.on_sleep = NULL;
		replace(test, w.f[0], jfk_code(w.a, 0));
	}
}

/* --- the log ------------------------------------------------------------- */

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

static struct kunit_case scan_cases[] = {
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
	KUNIT_CASE(runners_are_scanned),
	KUNIT_CASE(coming_again),
	KUNIT_CASE(each_move_is_one_scan),
	KUNIT_CASE(log_names_them),
	{}
};

struct kunit_suite jfk_scan_suite = {
	.name = "jumpfunc-scan",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = scan_cases,
};
