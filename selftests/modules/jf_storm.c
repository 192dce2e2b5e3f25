// SPDX-License-Identifier: GPL-2.0
/*
 * Storm: dynamic functions are called on every CPU, by threads and from timer
 * interrupts, while they are retargeted. Every single result is checked.
 *
 * /sys/kernel/debug/jf_storm/
 *   updates	write N: do N rounds of updates, returns when they are done
 *   results	counters, "name value"; all that begin with "bad_" must stay 0
 *
 * Checks of a call:
 *   value	the target mixes all of its arguments with a number of its own. So
 *		a lost or swapped argument or a result from nowhere is noticed, and
 *		the caller knows which target ran.
 *   target	which targets are allowed says oracle.h; all of them are while no
 *		task writes to "updates".
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

#include <jumpfunc/dynfunc.h>

#include "callers.h"
#include "files.h"
#include "oracle.h"

static unsigned int timer_us = 200;
module_param(timer_us, uint, 0444);
MODULE_PARM_DESC(timer_us, "period of the timer interrupts that call, in microseconds (default 200)");

#define NTARGETS	ORACLE_ANSWERS

typedef u64 storm_fn(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);

static __always_inline u64 mix(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f;
}

/* The low two bits of a result say which target it was. */
#define STORM_TARGET(n)							\
static noinline u64 storm_##n(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)	\
{									\
	return mix(a, b, c, d, e, f) << 2 | (n);			\
}

STORM_TARGET(0)
STORM_TARGET(1)
STORM_TARGET(2)

static storm_fn * const targets[NTARGETS] = { storm_0, storm_1, storm_2 };

DEFINE_DYNFUNC(storm_a, storm_0);
DEFINE_DYNFUNC(storm_b, storm_0);
/* Has no target 2, but none at all: then the call returns 0. */
DEFINE_DYNFUNC_RET0(storm_c, storm_0);
DYNFUNC_TARGETS(storm_a, storm_0, storm_1, storm_2);
DYNFUNC_TARGETS(storm_b, storm_0, storm_1, storm_2);
DYNFUNC_TARGETS(storm_c, storm_0, storm_1);

struct counters {
	u64 calls, bad_value, bad_target;
	u64 hits[NTARGETS];
};

static DEFINE_PER_CPU(struct counters, in_task);
static DEFINE_PER_CPU(struct counters, in_irq);
static struct dentry *dir;

static oracle_word phase = ORACLE_ALL;
static DEFINE_MUTEX(update_mutex);
static u64 updates, batches, bad_updates, bad_queries;

static __always_inline void check_call(struct counters *c, oracle_word before, u64 got, u64 want)
{
	unsigned int t = got & 3;
	bool allowed = oracle_allows(&phase, before, t);

	c->calls++;
	if (got >> 2 != (want << 2) >> 2 || t >= NTARGETS) {
		if (!c->bad_value++)
			pr_err("storm: got %llx, wanted %llx\n", got >> 2, (want << 2) >> 2);
		return;
	}
	c->hits[t]++;
	if (!allowed && !c->bad_target++)
		pr_err("storm: target %u ran in phase %lx\n", t, before);
}

static void storm_calls(struct counters *c, u64 x)
{
	u64 a = x, b = x * 17, d = ~x, e = x >> 3, f = x ^ 0x5a5a5a5a5aUL;
	u64 want = mix(a, b, 42, d, e, f);
	oracle_word before;
	u64 got;

#define CALL(call)							\
	do {								\
		before = oracle_before(&phase);				\
		got = call;						\
		check_call(c, before, got, want);			\
	} while (0)

	CALL(dynfunc_storm_a(a, b, 42, d, e, f));
	CALL(dynfunc_call(storm_a, a, b, 42, d, e, f));
	CALL(dynfunc_storm_b(a, b, 42, d, e, f));
	CALL(dynfunc_call(storm_b, a, b, 42, d, e, f));
	CALL(dynfunc_storm_c(a, b, 42, d, e, f) ?: want << 2 | 2);
	CALL(dynfunc_call(storm_c, a, b, 42, d, e, f) ?: want << 2 | 2);
#undef CALL
}

static int storm_thread(void *arg)
{
	struct counters *c = per_cpu_ptr(&in_task, (long)arg);
	u64 x = 1;

	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 64; i++) {
			storm_calls(c, x);
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		}
		/* A grace period of tasks must not have to wait for this loop. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static struct callers callers;

static enum hrtimer_restart storm_tick(struct hrtimer *t)
{
	struct counters *c = this_cpu_ptr(&in_irq);

	storm_calls(c, c->calls);
	return callers_again(&callers, t);
}

static int update_all(unsigned int t, bool batch)
{
	storm_fn *or_none = t == 2 ? NULL : targets[t];
	struct jf_batch b;

	if (!batch)
		return dynfunc_update(storm_a, targets[t]) ?:
		       dynfunc_update(storm_b, targets[t]) ?:
		       dynfunc_update(storm_c, or_none);

	jf_batch_init(&b);
	dynfunc_batch_set(&b, storm_a, targets[t]);
	dynfunc_batch_set(&b, storm_b, targets[t]);
	dynfunc_batch_set(&b, storm_c, or_none);
	return jf_batch_commit(&b);
}

static int updates_number(unsigned int n)
{
	static unsigned int now;
	unsigned int i;
	int err = 0;

	mutex_lock(&update_mutex);
	for (i = 0; i < n && !fatal_signal_pending(current); i++) {
		unsigned int next = (now + 1 + !!(i & 4)) % NTARGETS;
		bool batch = i & 2;

		/* Before the first one, debugfs may have set them to anything. */
		oracle_publish(&phase, i ? BIT(now) | BIT(next) : ORACLE_ALL);
		err = update_all(next, batch);
		if (err) {
			bad_updates++;
			pr_err("storm: update gave %d\n", err);
			break;
		}
		oracle_publish(&phase, BIT(next));
		if (dynfunc_query(storm_a) != targets[next] || dynfunc_query(storm_b) != targets[next] ||
		    dynfunc_query(storm_c) != (next == 2 ? NULL : targets[next]))
			bad_queries++;
		now = next;
		updates += 3;
		batches += batch;
		cond_resched();
	}
	oracle_publish(&phase, ORACLE_ALL);
	mutex_unlock(&update_mutex);
	return err;
}

static int results_show(struct seq_file *m, void *v)
{
	struct counters t = {}, q = {};
	int i;

	oracle_add(&t, &in_task, hits);
	oracle_add(&q, &in_irq, hits);
	seq_printf(m, "calls %llu\nirq_calls %llu\n", t.calls, q.calls);
	for (i = 0; i < NTARGETS; i++)
		seq_printf(m, "target_%d %llu\n", i, t.hits[i] + q.hits[i]);
	seq_printf(m, "updates %llu\nbatches %llu\n", updates, batches);
	seq_printf(m, "bad_value %llu\nbad_target %llu\nbad_updates %llu\nbad_queries %llu\n",
		   t.bad_value + q.bad_value, t.bad_target + q.bad_target, bad_updates, bad_queries);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(results);

TEST_NUMBER(updates);

static int __init storm_init(void)
{
	int err;

	callers = (struct callers){ "jf_storm", storm_thread, storm_tick, timer_us };
	err = callers_start(&callers);
	if (err)
		return err;
	dir = debugfs_create_dir("jf_storm", NULL);
	debugfs_create_file("updates", 0200, dir, NULL, &updates_fops);
	debugfs_create_file("results", 0400, dir, NULL, &results_fops);
	return 0;
}

static void __exit storm_exit(void)
{
	debugfs_remove_recursive(dir);
	callers_stop(&callers);
}

module_init(storm_init);
module_exit(storm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Calls dynamic functions on all CPUs while they are retargeted, and checks every result");
