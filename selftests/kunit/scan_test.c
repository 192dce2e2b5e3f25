// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-scan: the waits of a quiesce beside that for text, and its scan of stacks
 * (kernel/quiesce/quiesce.c, fake.h).
 *
 * Proves: Tasks RCU is waited for only where no stack can be read; the CPUs stand
 * still for few tasks at a time, and not at all while no task has run; the log names a task
 * that is waited for.
 */
#include "world.h"

#include <linux/jiffies.h>

/* --- tasks that are unwound in any case ------------------------------------------- */

/* How often a task is scanned as one that may have been interrupted. */
static unsigned int scanned_strictly(struct kunit *test, struct world *w, struct jfk_task *t)
{
	unsigned int was = t->strict;

	replace(test, w->f[0], jfk_code(w->a, 0));
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(0), 0);
	return t->strict - was;
}

static void who_is_strict(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t = jfk_task(test, NULL);

	KUNIT_EXPECT_EQ(test, scanned_strictly(test, &w, t), 0U);
	t->on_rq = 1;
	KUNIT_EXPECT_EQ(test, scanned_strictly(test, &w, t), 1U);
	/* In the run queue, but only because it has not been taken out yet: it sleeps. */
	t->delayed = 1;
	KUNIT_EXPECT_EQ(test, scanned_strictly(test, &w, t), 0U);
	/* It waits for a lock that is a spinlock on other kernels: not of its own accord. */
	t->on_rq = 0;
	t->delayed = 0;
	t->rtlock = 1;
	KUNIT_EXPECT_EQ(test, scanned_strictly(test, &w, t), 1U);
}

/* Where stacks can be read, Tasks RCU is not asked: it need not end. */
static void tasks_rcu_does_not_matter(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun = jfk.now;

	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.gp_takes = -1;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
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
	/* At first, and when each of them has left. */
	KUNIT_EXPECT_EQ(test, jfk.scans, 3U);
	KUNIT_EXPECT_EQ(test, t[0]->scans, 3U);
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
	jfk.unwind_lacks = "CONFIG_X";
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(15 * HZ), -ETIMEDOUT);
	KUNIT_EXPECT_TRUE_MSG(test, said("cannot be read without CONFIG_X, since 1"), "%s", jfk.warning);
	jfk.unwind_lacks = NULL;
	t->stays = 15 * HZ;
	jfk_task(test, jfk_code(w.a, 0))->stays = 12 * HZ;
	jfk.warnings = 0;
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 1U);
	KUNIT_EXPECT_TRUE_MSG(test, said("a: waiting for sleeper:4711, whose stack cannot be read"),
			      "%s", jfk.warning);
	KUNIT_EXPECT_TRUE_MSG(test, said("cannot be read, since 1") && said("and 1 more"), "%s", jfk.warning);
}

static struct kunit_case scan_cases[] = {
	KUNIT_CASE(who_is_strict),
	KUNIT_CASE(tasks_rcu_does_not_matter),
	KUNIT_CASE(blind),
	KUNIT_CASE_PARAM(crowd, crowd_gen_params),
	KUNIT_CASE(growing_crowd),
	KUNIT_CASE(sleepers_stop_no_cpu),
	KUNIT_CASE(runners_are_scanned),
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
