// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamic functions whose targets are in modules that are loaded and unloaded, and
 * tasks that call them all the time, from every CPU. A late call ends in freed text.
 *
 * Faults that were tried, by the case that they broke:
 *   callers	jf_fall_back() does nothing: the machine oopses
 *   quiesce	jf_quiesce() without synchronize_rcu_tasks(), with preempt=full; then
 *		the machine oopses as jf_plain is unloaded
 */
#include "jf_test.h"
#include "jf_host.h"

#include <linux/delay.h>

#include "../callers.h"

static noinline u64 keys_initial(u64 x)
{
	return x + KEYS_INITIAL;
}

DEFINE_DYNFUNC(keys_op, keys_initial);
EXPORT_DYNFUNC_GPL(keys_op);
DYNFUNC_TARGETS(keys_op, keys_initial);

/* --- callers --------------------------------------------------------------- */

static u64 calls, bad_calls;
static atomic64_t all_calls, all_bad;

static int caller(void *unused)
{
	unsigned long slept = jiffies;
	u64 x = 0, n = 0, bad = 0;

	while (!kthread_should_stop()) {
		u64 r[3];
		int i;

		r[0] = dynfunc_call(keys_op, x) - x;
		r[1] = dynfunc_keys_op(x) - x;
		r[2] = dynfunc_call(keys_op, x + 7) - (x + 7);
		for (i = 0; i < 3; i++, n++)
			if (r[i] != KEYS_INITIAL && r[i] != KEYS_PLAIN && r[i] != KEYS_USER)
				bad++;
		x = x * 5 + 1;
		/* Leave time for loading the modules: an emulator has one core for all of us. */
		if (time_after(jiffies, slept + 1)) {
			schedule_timeout_uninterruptible(2 * num_online_cpus());
			slept = jiffies;
		}
	}
	atomic64_add(n, &all_calls);
	atomic64_add(bad, &all_bad);
	return 0;
}

static struct callers all = { .name = "jf_host", .thread = caller };

/* The other modules are loaded and unloaded between these two. */
static int test_start(void)
{
	atomic64_set(&all_calls, 0);
	atomic64_set(&all_bad, 0);
	return callers_start(&all);
}

static int test_callers(void)
{
	callers_stop(&all);
	calls = atomic64_read(&all_calls);
	bad_calls = atomic64_read(&all_bad);
	pr_info("jf_host: %llu calls\n", calls);
	CHECK(calls > 1000);
	CHECK_EQ(bad_calls, 0);
	CHECK_EQ(dynfunc_query(keys_op), keys_initial);
	CHECK_EQ(dynfunc_call(keys_op, 5), 6);
	CHECK_EQ(dynfunc_keys_op(5), 6);
	return 0;
}

/* --- quiesce ------------------------------------------------------------------ */

/* How many are inside each target, and how often they have been. */
static atomic_t inside[2];
static atomic_t entered[2];

/*
 * Longer than it takes to scan each CPU once: a quiesce that only did that would find
 * these preempted and not wait for them.
 */
#define STAY_MS		150

static noinline void stay(int which)
{
	u64 end = ktime_get_ns() + STAY_MS * NSEC_PER_MSEC;

	atomic_inc(&inside[which]);
	atomic_inc(&entered[which]);
	/* Long enough to be preempted in, by the other callers on this CPU. */
	while (ktime_get_ns() < end)
		cpu_relax();
	atomic_dec(&inside[which]);
}

static noinline void slow_0(int unused)
{
	stay(0);
	barrier();
}

static noinline void slow_1(int unused)
{
	stay(1);
	barrier();
}

DEFINE_DYNFUNC(keys_slow, slow_0);

static int slow_caller(void *arg)
{
	while (!kthread_should_stop()) {
		if ((long)arg & 1)
			dynfunc_call(keys_slow, 1);
		else
			dynfunc_keys_slow(1);
		schedule_timeout_uninterruptible(1);
	}
	return 0;
}

#define SLOW_CALLERS	8
#define SLOW_ROUNDS	4

static int test_quiesce(void)
{
	struct task_struct *t[SLOW_CALLERS];
	int busy = 0, i;
	long n;

	for (n = 0; n < SLOW_CALLERS; n++) {
		t[n] = kthread_run(slow_caller, (void *)n, "jf_slow/%ld", n);
		if (IS_ERR(t[n]))
			break;
	}
	CHECK_EQ(n, SLOW_CALLERS);
	for (i = 0; i < SLOW_ROUNDS; i++) {
		int old = i & 1, left;

		/* Until threads are in there. */
		atomic_set(&entered[old], 0);
		while (atomic_read(&entered[old]) < 4)
			msleep(1);
		CHECK_EQ(old ? dynfunc_update(keys_slow, slow_0) :
			       dynfunc_update(keys_slow, slow_1), 0);
		/* No call that begins now goes there: this can only fall. */
		left = atomic_read(&inside[old]);
		busy += left > 0;
		jf_quiesce();
		CHECK_EQ(atomic_read(&inside[old]), 0);
		atomic_set(&entered[old], 0);
		msleep(1);
		CHECK_EQ(atomic_read(&entered[old]), 0);
	}
	/* Otherwise this has shown nothing. */
	/* With one CPU and without preemption, no other task is inside while this runs. */
	CHECK(busy > 0 || (num_online_cpus() == 1 && !IS_ENABLED(CONFIG_PREEMPTION)));
	pr_info("jf_host: threads were inside in %d of %d rounds\n", busy, SLOW_ROUNDS);
	while (n--)
		kthread_stop(t[n]);
	CHECK_EQ(dynfunc_update(keys_slow, slow_0), 0);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "start", test_start },
	{ "callers", test_callers },
	{ "quiesce", test_quiesce },
	{ }
};

static void __exit keys_exit(void)
{
	callers_stop(&all);
	jft_exit();
}

module_init(jft_init);
module_exit(keys_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Dynamic functions whose targets are in modules that are loaded and unloaded");
