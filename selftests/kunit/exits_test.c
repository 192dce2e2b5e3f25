// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-exits: tasks that exit (kernel/quiesce/exits.c, fake.h).
 *
 * Proves: a quiesce finds tasks that exit, or waits for them by other means;
 * their list grows and shrinks; load fails cleanly, and unload leaves nothing.
 */
#include "world.h"

#include <linux/jiffies.h>

/* --- tasks that exit ----------------------------------------------------- */

static struct jfk_task *dying;

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
		KUNIT_EXPECT_EQ(test, dying->scans, 1U);
		KUNIT_EXPECT_EQ(test, both->scans, 2U);
		jfk.sleeps = 0;
		jfk.on_sleep = finish;
		jf_quiesce();
		KUNIT_EXPECT_GE(test, jfk.sleeps, 2U);
		/* A task without a stack is not kept. */
		KUNIT_EXPECT_EQ(test, dying->refs, 0);
		KUNIT_EXPECT_EQ(test, both->refs, 1);
		KUNIT_EXPECT_EQ(test, jfk_num_exits(jfk.cpu), 1U);
		jfk_free_stack(both);
	}
	jfk.cpu = 0;
}

/* The references that are dropped, and the time: a few at a time, those without a stack. */
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
	KUNIT_ASSERT_EQ(test, prepare(X, JF_RETIRED_TARGET), 0);
	done(X, true);
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk_num_exits(0), 1U);
	KUNIT_EXPECT_EQ(test, t[47]->refs, 1);
}

/*
 * Work on each CPU drops the references that no other exit and no quiesce drops, as long as there
 * are any.
 */
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

/* Only Tasks RCU covers the tasks that found no room. */
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
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
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
	/* There were more tasks that exit than the first scan had room for. */
	KUNIT_EXPECT_EQ(test, jfk.gathers, 2U);
	KUNIT_EXPECT_EQ(test, jfk_exits_lost(), 0);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 0U);
	/* They have been found, and the next one is as always. */
	replace(test, w.f[0], jfk_code(w.a, 0));
	begun = jfk.now;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
}

/* However long it takes: nothing else knows of them. The log names the task that is waited for. */
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
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
	jfk_end_graces();
	jfk.gp_takes = 70 * HZ;
	begun = jfk.now;
	jf_quiesce();
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 70 * HZ);
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 0U);
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
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 3 * HZ, NULL), -ETIMEDOUT);
	jfk_end_graces();
	jfk.gp_takes = 5 * HZ;
	begun = jfk.now;
	/* A moment is not enough. */
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, 0, NULL), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, jf_quiesce_spans("test", &s, MAX_SCHEDULE_TIMEOUT, NULL), 0);
	KUNIT_EXPECT_EQ(test, jfk.now, begun + 5 * HZ);
	KUNIT_EXPECT_EQ(test, jfk_exits_lost(), 0);
	jf_spans_free(&s);
}

/* A task that finds no room after the grace period stays lost. */
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

/* The storm is over, and there was no quiesce: the list gets shorter by itself. */
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

/* A task that exits in an image, and found no room in the list. */
static void lost_exit_in_image(struct kunit *test)
{
	struct world w = world(test);

	too_many(test, 1);
	KUNIT_ASSERT_EQ(test, trace(&w, 0), 0);
	KUNIT_ASSERT_EQ(test, trace(&w, 1), 0);
	jfk.gp_takes = -1;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	jfk_end_graces();
	jfk.gp_takes = 1;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
}

/* --- init and exit -------------------------------------------------------- */

static unsigned int called;

static void count_call(struct jf_quiesce_head *head)
{
	called++;
}

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
	/* Where stacks cannot be read it does not matter. */
	jfk_forget_exit_tp();
	jfk.no_exit_tp = true;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), -ENOENT);
	KUNIT_EXPECT_EQ(test, jfk.workqueues + jfk.percpus, 0);
	jfk.blind = true;
	KUNIT_EXPECT_EQ(test, jfk.warnings, 0U);
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), 0);
	KUNIT_EXPECT_TRUE_MSG(test, said("stacks cannot be read"), "%s", jfk.warning);
	KUNIT_EXPECT_EQ(test, jfk.workqueues, 1);
	KUNIT_EXPECT_TRUE(test, !jfk.exit_probe);
	jf_quiesce_exit();
	jfk.blind = false;
	jfk.no_exit_tp = false;
	jfk.unwind_lacks = "CONFIG_X";
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), 0);
	KUNIT_EXPECT_TRUE_MSG(test, said("no CONFIG_X: jf_quiesce() and unloads can wait"), "%s", jfk.warning);
	jf_quiesce_exit();
	jfk.unwind_lacks = NULL;
	jfk.warnings = 0;
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), 0);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 0U);
	KUNIT_EXPECT_TRUE(test, jfk.exit_probe != NULL);
}

/* After the exit nothing is kept, and Tasks RCU does not delay it. */
static void exit_lets_go(struct kunit *test)
{
	struct world w = world(test);
	struct jf_quiesce_head head;
	struct jfk_task *t[40];
	unsigned int i;

	for (i = 0; i < 40; i++) {
		jfk.cpu = i % 2;
		t[i] = exit_task(test, NULL);
	}
	jfk.cpu = 0;
	replace(test, w.f[0], jfk_code(w.a, 0));
	jfk.gp_takes = -1;
	jfk.blind = true;
	KUNIT_EXPECT_EQ(test, jf_quiesce_timeout(HZ), -ETIMEDOUT);
	jfk.blind = false;
	jf_quiesce();
	called = 0;
	jf_call_quiesced(&head, count_call);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 1U);
	jf_quiesce_exit();
	for (i = 0; i < 40; i++)
		KUNIT_EXPECT_EQ(test, t[i]->refs, 0);
	KUNIT_EXPECT_EQ(test, called, 1U);
	KUNIT_EXPECT_EQ(test, jfk_num_gps(), 1U);
	jfk_end_graces();
	KUNIT_EXPECT_EQ(test, jf_quiesce_init(), 0);
}

static struct kunit_case exits_cases[] = {
	KUNIT_CASE(exiting_is_seen),
	KUNIT_CASE(exits_are_swept),
	KUNIT_CASE(exits_are_dropped_by_work),
	KUNIT_CASE(lost_exits),
	KUNIT_CASE(lost_for_long),
	KUNIT_CASE(exits_grow),
	KUNIT_CASE(lost_exits_in_spans),
	KUNIT_CASE(lost_meanwhile),
	KUNIT_CASE(exits_recover),
	KUNIT_CASE(lost_exit_in_image),
	KUNIT_CASE(init_fails),
	KUNIT_CASE(exit_lets_go),
	{}
};

struct kunit_suite jfk_exits_suite = {
	.name = "jumpfunc-exits",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = exits_cases,
};
