// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-reclaim: callbacks and memory after a quiesce (kernel/quiesce/quiesce.c,
 * jf_tracepoint.c, fake.h).
 *
 * Proves: callbacks are called in order, and before their module is unloaded;
 * dispatch code that a task stays in is kept, and no other.
 */
#include "world.h"

#include <linux/jiffies.h>

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
	/* The work is queued once too often: it does not wait. */
	jfk.queued = true;
	KUNIT_EXPECT_TRUE(test, jfk_work());
	KUNIT_EXPECT_EQ(test, jf_stats.quiesces, 1ULL);
}

/* A callback that is asked for during a wait for others has a wait of its own. */
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

	/* With no task to wait for. */
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

/* A module is not unloaded before its callbacks have been called; others' can wait. */
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

/* Nor before others' callbacks have been called for its own memory. */
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

/* A task that is waited for asks for a callback before it leaves. */
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
	jfk_pass(HZ / 5);
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
	KUNIT_EXPECT_TRUE_MSG(test, said("a: waiting for its callbacks"), "%s", jfk.warning);
}

/* Its callback comes late because of a task elsewhere: the log names that task. */
static void module_with_a_late_callback(struct kunit *test)
{
	struct world w = world(test);

	called = 0;
	w.a->func = count_call;
	replace(test, w.f[0], jfk_code(w.b, 0));
	jfk_task(test, jfk_code(w.b, 0))->stays = 15 * HZ;
	jf_call_quiesced(&callback[0].head, count_call);
	KUNIT_EXPECT_EQ(test, jfk_notify(w.a, MODULE_STATE_GOING), 0);
	KUNIT_EXPECT_EQ(test, called, 1U);
	KUNIT_EXPECT_EQ(test, jfk.warnings, 1U);
	KUNIT_EXPECT_TRUE_MSG(test, said("quiesce: waiting for"), "%s", jfk.warning);
}

/* It has been taken off the list, and is being called. */
static struct world *running;
static u64 running_quiesces;

static void going_while_called(struct jf_quiesce_head *head)
{
	u64 before = jf_stats.quiesces;

	/* For real, another task does that. It must use the barrier. */
	jf_quiesce_module(&running->a->mod, false, MAX_SCHEDULE_TIMEOUT);
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

/* --- dispatch code that was replaced -------------------------------------- */

/* As many images as there are steps, and a task in one of them. */
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
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 5U);
	KUNIT_EXPECT_EQ(test, jfk.delay, (unsigned long)HZ);
	t = jfk_task(test, image);
	t->stays = 100 * HZ;
	jfk_reclaim();
	/* Two seconds for all together, and none for each of them. */
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 2 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 3 * HZ));
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 2U);
	KUNIT_EXPECT_TRUE(test, ((struct jfk_image *)image)->used);
	KUNIT_EXPECT_EQ(test, jfk.tasks_graces, 0U);
	/* It is tried again, but not so soon, and without a scan while the task has not run. */
	KUNIT_EXPECT_TRUE(test, jfk.busy_scheduled);
	KUNIT_EXPECT_EQ(test, jfk.busy_delay, 10UL * HZ);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	KUNIT_EXPECT_EQ(test, jfk.busy_delay, 10UL * HZ);
	jfk.gathers = 0;
	jfk_reclaim();
	KUNIT_EXPECT_TRUE(test, jfk.busy_scheduled);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 0U);
	t->nvcsw++;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	/* A target that is retired at that time does not wait for it, */
	step(test, &w, 6);
	KUNIT_EXPECT_EQ(test, jfk.delay, (unsigned long)HZ);
	/* and is not put off by those that are retired after it. */
	jfk.delay = 1;
	step(test, &w, 7);
	KUNIT_EXPECT_EQ(test, jfk.delay, 1UL);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 1U);
	/* And then the task has left. */
	jfk_leave(t);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
	KUNIT_EXPECT_EQ(test, jfk_images_used(), 1U);
	KUNIT_EXPECT_FALSE(test, jfk.scheduled);
	KUNIT_EXPECT_FALSE(test, jfk.busy_scheduled);
	KUNIT_EXPECT_EQ(test, t->refs, 0);
}

/* Records of images that were given back are dropped, records of probes are not. */
static void reclaim_forgets(struct kunit *test)
{
	struct world w = world(test);
	void *first, *other;

	step(test, &w, 0);
	first = step(test, &w, 1);
	KUNIT_ASSERT_EQ(test, untrace(&w, 0), 0);
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(first));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
	jfk_reclaim();
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(first));
	KUNIT_EXPECT_TRUE(test, jfk_is_retired(jfk_code(w.a, 0)));
	KUNIT_EXPECT_EQ(test, jfk_num_retired(), 1U);
	/* The image is in use again: a task in it is not in retired code. */
	other = step(test, &w, 2);
	KUNIT_EXPECT_PTR_EQ(test, jfk_probes_image(w.tp), first);
	jfk_task(test, first);
	jfk_reclaim();
	KUNIT_EXPECT_FALSE(test, jfk_is_retired(other));
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
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
	for (i = 1; i < 5; i++)
		step(test, &w, CHAIN + i);
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 4U);
	t = jfk_task(test, jfk_iter());
	jfk.gathers = 0;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 4U);
	/* Where one of them is, all are: one search for it. */
	KUNIT_EXPECT_EQ(test, jfk.gathers, 1U);
	jfk_leave(t);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 0U);
}

/* Want of memory puts it off, and frees nothing without a scan. */
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
		if (!jfk_num_retired_probes())
			break;
		KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 2U);
		KUNIT_EXPECT_EQ(test, jfk.busy_delay, 10UL * HZ);
		KUNIT_EXPECT_EQ(test, jfk.scans, 0U);
	}
	/* The code of all, the spans, a copy of them, and the suspects. */
	KUNIT_EXPECT_EQ(test, n, 5U);
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

/* It is waited for once, whatever changes, without a lock: jfk_sleep() looks. */
static void busy_image_delays_one_change(struct kunit *test)
{
	struct world w = world(test);
	unsigned long begun;
	struct jfk_task *t;
	unsigned int i;
	void *image;

	jfk.images = 2;
	step(test, &w, 0);
	image = step(test, &w, 1);
	t = jfk_task(test, image);
	t->stays = 1000 * HZ;
	begun = jfk.now;
	for (i = 0; i < 20; i++) {
		KUNIT_EXPECT_EQ(test, trace(&w, 2), 0);
		KUNIT_EXPECT_EQ(test, untrace(&w, 2), 0);
	}
	KUNIT_EXPECT_TRUE(test, time_after_eq(jfk.now, begun + 2 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before(jfk.now, begun + 4 * HZ));
	KUNIT_EXPECT_GT(test, jf_trace_stats.iter_exhausted, 10ULL);
	/* The other image is in use, and nothing else is retired: a wait would be in vain. */
	jfk_reclaim();
	if (!jfk_probes_image(w.tp)) {
		KUNIT_EXPECT_EQ(test, trace(&w, 3), 0);
		jfk_reclaim();
	}
	KUNIT_ASSERT_TRUE(test, jfk_probes_image(w.tp) != NULL);
	begun = jfk.now;
	KUNIT_EXPECT_EQ(test, trace(&w, 4), 0);
	KUNIT_EXPECT_EQ(test, jfk.now, begun);
	KUNIT_EXPECT_PTR_EQ(test, w.tp->call->func, jfk_iter());
	jfk_leave(t);
}

/* Some of many: one search finds all, and another one frees the rest. */
static void busy_images_are_found_together(struct kunit *test)
{
	struct world w = world(test);
	struct jfk_task *t[5];
	unsigned int i;

	for (i = 0; i < 11; i++) {
		void *image = step(test, &w, i);

		if (i && i % 2 == 0)
			t[i / 2 - 1] = jfk_task(test, image);
	}
	for (i = 0; i < 6; i++)
		KUNIT_ASSERT_EQ(test, untrace(&w, i), 0);
	KUNIT_ASSERT_EQ(test, jfk_num_retired_probes(), 16U);
	jfk.gathers = 0;
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 5U);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 2U);
	/* The first time that they are sought by themselves. */
	jfk_reclaim();
	jfk.gathers = 0;
	for (i = 0; i < 5; i++) {
		jfk_reclaim();
		KUNIT_EXPECT_EQ(test, jfk.gathers, 0U);
	}
	jfk_leave(t[0]);
	jfk_leave(t[3]);
	jfk_reclaim();
	KUNIT_EXPECT_EQ(test, jfk_num_retired_probes(), 3U);
	KUNIT_EXPECT_EQ(test, jfk.gathers, 2U);
	for (i = 0; i < 5; i++)
		jfk_leave(t[i]);
}

static struct kunit_case reclaim_cases[] = {
	KUNIT_CASE(callbacks),
	KUNIT_CASE(callback_meanwhile),
	KUNIT_CASE(barrier_waits),
	KUNIT_CASE(module_waits_for_callbacks),
	KUNIT_CASE(module_waits_for_its_heads),
	KUNIT_CASE(module_waits_for_the_last),
	KUNIT_CASE(module_waits_for_late_callbacks),
	KUNIT_CASE(module_with_endless_callbacks),
	KUNIT_CASE(module_with_a_late_callback),
	KUNIT_CASE(module_waits_for_the_running),
	KUNIT_CASE(busy_image_stays),
	KUNIT_CASE(reclaim_forgets),
	KUNIT_CASE(busy_iterator_stays),
	KUNIT_CASE(reclaim_without_memory),
	KUNIT_CASE(busy_image_is_not_taken),
	KUNIT_CASE(busy_image_delays_one_change),
	KUNIT_CASE(busy_images_are_found_together),
	{}
};

struct kunit_suite jfk_reclaim_suite = {
	.name = "jumpfunc-reclaim",
	.init = jfk_init,
	.exit = jfk_exit,
	.test_cases = reclaim_cases,
};
