// SPDX-License-Identifier: GPL-2.0
/*
 * Twenty tracepoints, a dynamic function and a key, switched on and off together in
 * batches, while threads and timers on all CPUs hit them.
 *
 * /sys/kernel/debug/jf_trace_set/
 *   run, results	cases, see jf_test.h
 *   storm	write 1: callers start, 0: they stop
 *   toggle	write N: switch N times
 *   counts	"name value"; all that begin with "bad_" must stay 0
 *
 * A tracepoint that is hit from beginning to end while none of the changes is under way must call
 * none of the probes, or each of them once, as oracle.h says.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "jf_trace_set.h"
#include "../callers.h"
#include "../engine/jf_test.h"
#include "../oracle.h"

#define SET_DEFINE(n)							\
	DEFINE_JF_TRACE(set##n);					\
	EXPORT_JF_TRACE_GPL(set##n);
EACH_SET(SET_DEFINE)

static int off(int x) { return x; }
static int on(int x) { return x + 1; }

DEFINE_DYNFUNC(set_func, off);
static DEFINE_JF_KEY_FALSE(set_key);

/* --- probes -------------------------------------------------------------- */

/* How often each probe of a tracepoint was called in the hit that runs. */
struct hit {
	u64	a;
	int	calls[2];
	bool	bad;
};

/* The caller gives the address of this as @a. */
static void probe(void *data, u64 a, u64 b)
{
	struct hit *h = (struct hit *)(unsigned long)a;
	unsigned long n = (unsigned long)data;

	h->calls[n & 1]++;
	h->bad |= b != SET_ARG(a);
}

#define SET_HIT(n)							\
static noinline void hit##n(struct hit *h)				\
{									\
	u64 a = (unsigned long)h;					\
									\
	jf_trace_set##n(a, SET_ARG(a));					\
}
EACH_SET(SET_HIT)

#define SET_BATCH(n)							\
static int batch##n(struct jf_batch *b, unsigned long data, bool add)	\
{									\
	void *p = (void *)data;						\
									\
	return add ? jf_trace_batch_register(b, set##n, probe, p, 5) :	\
		     jf_trace_batch_unregister(b, set##n, probe, p);	\
}
EACH_SET(SET_BATCH)

static const struct {
	void	(*hit)(struct hit *h);
	int	(*batch)(struct jf_batch *b, unsigned long data, bool add);
} set[NSET] = {
#define SET_ENTRY(n)	{ hit##n, batch##n },
	EACH_SET(SET_ENTRY)
};

/* --- phases -------------------------------------------------------------- */

/* The set, as one hit saw it. */
enum { OFF, ON, MIXED };
static oracle_word phase = BIT(OFF);

struct counters {
	u64 hits, on, bad_phase, bad_args;
};

static DEFINE_PER_CPU(struct counters, thread_counters);
static DEFINE_PER_CPU(struct counters, irq_counters);
static u64 toggles, bad_toggles;

static void check_hit(struct counters *c, unsigned int n)
{
	oracle_word before = oracle_before(&phase);
	struct hit h = { };
	unsigned int saw;
	bool func, key;

	set[n].hit(&h);
	func = dynfunc_call(set_func, 1) == 2;
	key = jf_branch_unlikely(&set_key);
	saw = h.calls[0] == h.calls[1] && h.calls[0] == func && h.calls[0] == key ? key : MIXED;
	if (!oracle_allows(&phase, before, saw) && !c->bad_phase++)
		pr_err("jf_trace_set: BAD: tracepoint %u: %d and %d calls, func %d, key %d in phase %lx\n",
		       n, h.calls[0], h.calls[1], func, key, before);
	c->hits++;
	c->on += h.calls[0];
	c->bad_args += h.bad;
}

static int set_all(struct jf_batch *b, bool add)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < NSET; i++) {
		err = set[i].batch(b, 0, add);
		err = err ?: set[i].batch(b, 1, add);
	}
	err = err ?: dynfunc_batch_set(b, set_func, add ? on : off);
	return err ?: jf_key_batch_set(b, &set_key, add);
}

static int switch_all(bool add)
{
	struct jf_batch b;

	jf_batch_init(&b);
	/* An error is returned by the commit. */
	set_all(&b, add);
	return jf_batch_commit(&b);
}

/* --- cases ------------------------------------------------------------- */

static void check_all(bool want)
{
	unsigned int i;

	for (i = 0; i < NSET; i++) {
		struct hit h = { };

		set[i].hit(&h);
		CHECK_EQ(h.calls[0], want);
		CHECK_EQ(h.calls[1], want);
		CHECK(!h.bad);
	}
	CHECK_EQ(dynfunc_call(set_func, 1), 1 + want);
	CHECK_EQ(jf_branch_unlikely(&set_key), want);
}

static int case_on(void)
{
	check_all(false);
	CHECK_EQ(switch_all(true), 0);
	check_all(true);
	return 0;
}

static int case_off(void)
{
	check_all(true);
	CHECK_EQ(switch_all(false), 0);
	check_all(false);
	return 0;
}

/* A batch in which one thing is wrong; the rest could be done. */
static int case_refused(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	set_all(&b, true);
	batch19(&b, 0, true);
	CHECK_EQ(jf_batch_commit(&b), -EEXIST);
	check_all(false);

	jf_batch_init(&b);
	set_all(&b, true);
	batch0(&b, 7, false);
	CHECK_EQ(jf_batch_commit(&b), -ENOENT);
	check_all(false);

	jf_batch_init(&b);
	set_all(&b, true);
	CHECK_EQ(jf_trace_batch_register(&b, set3, NULL, NULL, 5), -EINVAL);
	CHECK_EQ(jf_batch_commit(&b), -EINVAL);
	check_all(false);

	jf_batch_init(&b);
	set_all(&b, true);
	jf_batch_abort(&b);
	CHECK_EQ(jf_batch_commit(&b), 0);
	check_all(false);
	return 0;
}

/* One probe for another, at once; and changes that cancel each other. */
static int case_exchange(void)
{
	struct jf_batch b;
	struct hit h = { };

	CHECK_EQ(switch_all(true), 0);
	jf_batch_init(&b);
	batch4(&b, 1, false);
	batch4(&b, 2, true);
	batch5(&b, 2, true);
	batch5(&b, 2, false);
	CHECK_EQ(jf_batch_commit(&b), 0);
	hit4(&h);
	CHECK_EQ(h.calls[0], 2);
	CHECK_EQ(h.calls[1], 0);
	jf_batch_init(&b);
	batch4(&b, 2, false);
	batch4(&b, 1, true);
	CHECK_EQ(jf_batch_commit(&b), 0);
	CHECK_EQ(switch_all(false), 0);
	check_all(false);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "refused", case_refused },
	{ "exchange", case_exchange },
	{ "on", case_on },
	{ "off", case_off },
	{ }
};

/* --- the storm --------------------------------------------------------- */

static struct callers callers;

static int storm_thread(void *arg)
{
	struct counters *c = per_cpu_ptr(&thread_counters, (long)arg);
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < NSET; i++)
			check_hit(c, i);
		cond_resched_tasks_rcu_qs();
		usleep_range(50, 100);
	}
	return 0;
}

static enum hrtimer_restart storm_tick(struct hrtimer *t)
{
	check_hit(this_cpu_ptr(&irq_counters), ktime_get_ns() % NSET);
	return callers_again(&callers, t);
}

static int storm_number(unsigned int n)
{
	int err = 0;

	mutex_lock(&jft_mutex);
	if (n && !callers.tasks) {
		callers = (struct callers){ "jf_trace_set", storm_thread, storm_tick, 400 };
		err = callers_start(&callers);
	} else if (!n) {
		callers_stop(&callers);
	}
	mutex_unlock(&jft_mutex);
	return err;
}

static int toggle_number(unsigned int n)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&jft_mutex);
	for (i = 0; !err && i < n; i++) {
		bool add = !jf_key_enabled(&set_key);

		oracle_publish(&phase, ORACLE_ALL);
		err = switch_all(add);
		if (err) {
			bad_toggles++;
			pr_err("jf_trace_set: BAD: a batch gave %d\n", err);
			break;
		}
		oracle_publish(&phase, BIT(add ? ON : OFF));
		toggles++;
		cond_resched();
	}
	mutex_unlock(&jft_mutex);
	return err;
}

static int counts_show(struct seq_file *m, void *v)
{
	struct counters sum = { };

	oracle_add(&sum, &thread_counters, bad_args);
	oracle_add(&sum, &irq_counters, bad_args);
	seq_printf(m, "hits %llu\non %llu\ntoggles %llu\n", sum.hits, sum.on, toggles);
	seq_printf(m, "bad_phase %llu\nbad_args %llu\nbad_toggles %llu\n", sum.bad_phase,
		   sum.bad_args, bad_toggles);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

TEST_NUMBER(storm);
TEST_NUMBER(toggle);

static int __init set_init(void)
{
	int err = jft_init();

	if (err)
		return err;
	debugfs_create_file("storm", 0200, jft_dir, NULL, &storm_fops);
	debugfs_create_file("toggle", 0200, jft_dir, NULL, &toggle_fops);
	debugfs_create_file("counts", 0400, jft_dir, NULL, &counts_fops);
	return 0;
}

static void __exit set_exit(void)
{
	jft_exit();
	callers_stop(&callers);
	if (jf_key_enabled(&set_key)) {
		struct jf_batch b;
		unsigned int i;

		/* Its own function and key cannot be changed any more. */
		jf_batch_init(&b);
		for (i = 0; i < NSET; i++) {
			set[i].batch(&b, 0, false);
			set[i].batch(&b, 1, false);
		}
		if (jf_batch_commit(&b))
			pr_err("jf_trace_set: BAD: cannot unregister at exit\n");
	}
}

module_init(set_init);
module_exit(set_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Switches twenty tracepoints, a function and a key in batches, and checks every hit");
