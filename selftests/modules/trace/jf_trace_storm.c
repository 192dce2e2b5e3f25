// SPDX-License-Identifier: GPL-2.0
/*
 * Storm: tracepoints are hit on every CPU, by threads, from timer interrupts and
 * from NMIs, while their probes change at random.
 *
 * /sys/kernel/debug/jf_trace_storm/
 *   run	write a number of changes: returns when they are made
 *   results	counters, "name value"; all that begin with "bad_" must stay 0
 *
 * Checks, each time a probe runs:
 *   bad_data	its data is a cookie of this tracepoint and of this function: a
 *		function must never see another one's data
 *   bad_late	the cookie is alive. After a probe was unregistered and a grace
 *		period has passed its cookie is killed; checked when the probe
 *		begins and when it ends, so that staying too long is noticed, too
 *   bad_args	the arguments follow from the first one
 * and when all is quiet, at the end:
 *   bad_lost	two of the tracepoints always have one certain probe. It must have
 *		run exactly as often as they were hit
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

#include <jumpfunc/tracepoint.h>

#include "../callers.h"
#include "../files.h"
#include "../nmi.h"
#include "../oracle.h"

static unsigned int timer_us = 500;
module_param(timer_us, uint, 0444);
MODULE_PARM_DESC(timer_us, "period of the timer interrupts that hit, in microseconds, 0 for none (default 500)");

static unsigned int nap_us = 100;
module_param(nap_us, uint, 0444);
MODULE_PARM_DESC(nap_us, "how long threads sleep between bursts, in microseconds, 0 for not at all (default 100)");

static bool nmi = true;
module_param(nmi, bool, 0444);
MODULE_PARM_DESC(nmi, "hit from NMIs as well (default Y)");

#define MAGIC		0x6a66c00c1e000000UL
/* Probes of a tracepoint: more than a chain holds. */
#define COOKIES		19

DECLARE_JF_TRACE(ts1, JF_PROTO(u64 a), JF_ARGS(a));
DECLARE_JF_TRACE(ts3, JF_PROTO(u64 a, u64 b, u64 c), JF_ARGS(a, b, c));
DECLARE_JF_TRACE(ts5, JF_PROTO(u64 a, u64 b, u64 c, u64 d, u64 e), JF_ARGS(a, b, c, d, e));
DECLARE_JF_TRACE(ts8, JF_PROTO(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h),
		 JF_ARGS(a, b, c, d, e, f, g, h));
DEFINE_JF_TRACE(ts1);
DEFINE_JF_TRACE(ts3);
DEFINE_JF_TRACE(ts5);
DEFINE_JF_TRACE(ts8);

enum { TS1, TS3, TS5, TS8, NTPS };

/* A cookie's state: only a dead one must not be seen by a probe. */
enum { DEAD, ALIVE };

struct cookie {
	unsigned long	magic;
	unsigned int	tp, func;
	int		state;
	bool		registered, retired;
};

static struct cookie cookies[NTPS][COOKIES];

struct counters {
	u64 hits[NTPS];		/* the tracepoint was hit */
	u64 first[NTPS];	/* the probe that is always there ran */
	u64 calls;		/* probes that ran */
	u64 bad_data, bad_late, bad_args;
};

enum { TASK, IRQ, NMI_, CONTEXTS };
static DEFINE_PER_CPU(struct counters[CONTEXTS], counters);

static unsigned int context(void)
{
	return in_nmi() ? NMI_ : hardirq_count() ? IRQ : TASK;
}

/*
 * In one step each: when a CPU goes offline, its thread runs on a CPU with another
 * one, and they preempt each other.
 */
#define COUNT(field)	this_cpu_inc_return(counters[context()].field)
#define COUNTED(field)	this_cpu_read(counters[context()].field)

/* --- probes ------------------------------------------------------------ */

#define ARG(seed, i)	((seed) * (2 * (i) + 1) + (i))

static bool cookie_wrong(const struct cookie *c, unsigned int tp, unsigned int func)
{
	return (void *)c < (void *)cookies || (void *)c >= (void *)(cookies + NTPS) ||
	       c->magic != MAGIC || c->tp != tp || c->func != func;
}

static __always_inline void probe(void *data, unsigned int tp, unsigned int func, bool args_ok)
{
	u64 calls = COUNT(calls);
	struct cookie *c = data;

	if (cookie_wrong(c, tp, func)) {
		if (COUNT(bad_data) == 1)
			pr_err("storm: probe %u of tracepoint %u got data %px\n", func, tp, data);
		return;
	}
	if (READ_ONCE(c->state) == DEAD && COUNT(bad_late) == 1)
		pr_err("storm: probe %u of tracepoint %u was entered late\n", func, tp);
	if (!args_ok && COUNT(bad_args) == 1)
		pr_err("storm: probe %u of tracepoint %u got wrong arguments\n", func, tp);
	/* Some time in between, now and then. */
	if (!(calls & 0xfff))
		udelay(20);
	if (READ_ONCE(c->state) == DEAD && COUNT(bad_late) == 1)
		pr_err("storm: probe %u of tracepoint %u was left late\n", func, tp);
}

#define PROBES(n)							\
static void p1_##n(void *data, u64 a)					\
{									\
	probe(data, TS1, n, true);					\
}									\
static void p3_##n(void *data, u64 a, u64 b, u64 c)			\
{									\
	probe(data, TS3, n, b == ARG(a, 1) && c == ARG(a, 2));		\
}									\
static void p5_##n(void *data, u64 a, u64 b, u64 c, u64 d, u64 e)	\
{									\
	probe(data, TS5, n, b == ARG(a, 1) && c == ARG(a, 2) &&		\
	      d == ARG(a, 3) && e == ARG(a, 4));			\
}									\
static void p8_##n(void *data, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h) \
{									\
	probe(data, TS8, n, b == ARG(a, 1) && c == ARG(a, 2) &&		\
	      d == ARG(a, 3) && e == ARG(a, 4) && f == ARG(a, 5) &&	\
	      g == ARG(a, 6) && h == ARG(a, 7));			\
}
PROBES(0)
PROBES(1)
PROBES(2)

/* The probes that are always there. */
static void first3(void *data, u64 a, u64 b, u64 c)
{
	COUNT(first[TS3]);
}

static void first8(void *data, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	COUNT(first[TS8]);
}

#define CHANGE(n)							\
static int change##n(struct cookie *c, int prio)			\
{									\
	__jf_probe_ts##n p = c->func == 0 ? p##n##_0 :			\
			     c->func == 1 ? p##n##_1 : p##n##_2;	\
									\
	return c->registered ? unregister_jf_trace_ts##n(p, c) :	\
			       register_jf_trace_prio_ts##n(p, c, prio); \
}
CHANGE(1)
CHANGE(3)
CHANGE(5)
CHANGE(8)

static int (* const change[NTPS])(struct cookie *c, int prio) = {
	change1, change3, change5, change8,
};

/* --- callers ----------------------------------------------------------- */

static void hit_all(u64 x)
{
	COUNT(hits[TS1]);
	jf_trace_ts1(x);
	COUNT(hits[TS3]);
	jf_trace_ts3(x, ARG(x, 1), ARG(x, 2));
	COUNT(hits[TS5]);
	jf_trace(ts5, x, ARG(x, 1), ARG(x, 2), ARG(x, 3), ARG(x, 4));
	COUNT(hits[TS8]);
	jf_trace_ts8(x, ARG(x, 1), ARG(x, 2), ARG(x, 3), ARG(x, 4), ARG(x, 5), ARG(x, 6),
		     ARG(x, 7));
}

static struct callers callers;

static int storm_thread(void *arg)
{
	u64 x = 1;

	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 64; i++) {
			hit_all(x);
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		}
		/* A grace period of tasks must not have to wait for this loop. */
		cond_resched_tasks_rcu_qs();
		/* Where CPUs are emulated in turn, changes wait for busy ones. */
		if (nap_us && x >> 60)
			usleep_range(nap_us, nap_us * 2);
	}
	return 0;
}

static void storm_nmi(void)
{
	hit_all(COUNTED(hits[TS1]));
}

static enum hrtimer_restart storm_tick(struct hrtimer *t)
{
	u64 x = COUNTED(hits[TS1]);

	hit_all(x);
	/* Comes as soon as it is sent, and interrupts whatever is next. */
	if (nmi && !(x & 3))
		nmi_send(smp_processor_id());
	return callers_again(&callers, t);
}

/* --- updates ----------------------------------------------------------- */

static DEFINE_MUTEX(run_mutex);
static u64 transitions, quiesces, bad_errors, seen[NTPS][COOKIES + 1];
static unsigned int registered[NTPS], goal[NTPS];

static u32 random32(void)
{
	static u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x >> 16;
}

/* Unregistered probes must not run any more. */
static void kill_retired(void)
{
	unsigned int t, i;

	jf_quiesce();
	quiesces++;
	for (t = 0; t < NTPS; t++) {
		for (i = 0; i < COOKIES; i++) {
			struct cookie *c = &cookies[t][i];

			if (c->retired && !c->registered)
				WRITE_ONCE(c->state, DEAD);
			c->retired = false;
		}
	}
}

static int change_one(void)
{
	unsigned int t = random32() % NTPS;
	struct cookie *c = &cookies[t][random32() % COOKIES];
	int err;

	/* Short walks around 0 to 2 probes, and now and then up and down again. */
	if (registered[t] == goal[t])
		goal[t] = random32() % 8 ? random32() % 3 : random32() % (COOKIES + 1);
	while (c->registered != (registered[t] >= goal[t] && registered[t]))
		c = c == &cookies[t][COOKIES - 1] ? cookies[t] : c + 1;

	if (!c->registered)
		WRITE_ONCE(c->state, ALIVE);
	err = change[t](c, random32() % 3);
	if (err) {
		bad_errors++;
		pr_err("storm: a change from %u probes gave %d\n", registered[t], err);
		return err;
	}
	c->registered = !c->registered;
	c->retired |= !c->registered;
	registered[t] += c->registered ? 1 : -1;
	transitions++;
	seen[t][registered[t]]++;
	return 0;
}

static int run_number(unsigned int n)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&run_mutex);
	for (i = 0; !err && i < n && !fatal_signal_pending(current); i++) {
		err = change_one();
		if (!(random32() % 64))
			kill_retired();
		cond_resched();
	}
	mutex_unlock(&run_mutex);
	return err;
}

/* --- results ----------------------------------------------------------- */

static void stop_all(void)
{
	if (!callers.tasks)
		return;
	callers_stop(&callers);
	/* The last NMI was sent by a timer that is stopped. */
	msleep(10);
	if (nmi)
		nmi_stop();
}

static int results_show(struct seq_file *m, void *v)
{
	struct counters all[CONTEXTS] = {}, sum = {};
	unsigned int i, t, more = 0;
	int ctx;
	u64 lost = 0;

	/* They can be compared only when no caller runs any more. */
	mutex_lock(&run_mutex);
	stop_all();
	for (ctx = 0; ctx < CONTEXTS; ctx++) {
		oracle_add(&all[ctx], &counters[ctx], bad_args);
		oracle_add(&sum, &counters[ctx], bad_args);
	}
	lost = (sum.hits[TS3] != sum.first[TS3]) + (sum.hits[TS8] != sum.first[TS8]);
	if (lost)
		pr_err("storm: %llu and %llu hits, but %llu and %llu calls\n", sum.hits[TS3],
		       sum.hits[TS8], sum.first[TS3], sum.first[TS8]);
	seq_printf(m, "transitions %llu\nquiesces %llu\n", transitions, quiesces);
	seq_printf(m, "hits_thread %llu\nhits_irq %llu\nhits_nmi %llu\n",
		   all[TASK].hits[0] * NTPS, all[IRQ].hits[0] * NTPS, all[NMI_].hits[0] * NTPS);
	seq_printf(m, "calls %llu\n", sum.calls + sum.first[TS3] + sum.first[TS8]);
	for (i = 0; i <= COOKIES; i++) {
		u64 n = 0;

		for (t = 0; t < NTPS; t++)
			n += seen[t][i];
		if (i <= 2)
			seq_printf(m, "to_%u %llu\n", i, n);
		else
			more += n;
	}
	seq_printf(m, "to_more %u\n", more);
	seq_printf(m, "bad_data %llu\nbad_late %llu\nbad_args %llu\nbad_lost %llu\nbad_errors %llu\n",
		   sum.bad_data, sum.bad_late, sum.bad_args, lost, bad_errors);
	mutex_unlock(&run_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(results);

TEST_NUMBER(run);

/* --- init and exit ----------------------------------------------------- */

static struct dentry *dir;

static int start_all(void)
{
	int err = nmi ? nmi_start(storm_nmi) : 0;

	if (err)
		return err;
	callers = (struct callers){ "jf_trace_storm", storm_thread, storm_tick, timer_us };
	err = callers_start(&callers);
	if (err && nmi)
		nmi_stop();
	return err;
}

static int __init storm_init(void)
{
	unsigned int t, i;
	int err;

	for (t = 0; t < NTPS; t++)
		for (i = 0; i < COOKIES; i++)
			cookies[t][i] = (struct cookie){ MAGIC, t, i % 3, DEAD };
	err = register_jf_trace_prio_ts3(first3, NULL, 1);
	if (!err)
		err = register_jf_trace_prio_ts8(first8, NULL, 1);
	if (!err)
		err = start_all();
	if (err)
		return err;
	dir = debugfs_create_dir("jf_trace_storm", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("results", 0400, dir, NULL, &results_fops);
	return 0;
}

static void __exit storm_exit(void)
{
	unsigned int t, i;

	debugfs_remove_recursive(dir);
	stop_all();
	for (t = 0; t < NTPS; t++)
		for (i = 0; i < COOKIES; i++)
			if (cookies[t][i].registered && change[t](&cookies[t][i], 0))
				pr_err("storm: cannot unregister at exit\n");
	if (unregister_jf_trace_ts3(first3, NULL) || unregister_jf_trace_ts8(first8, NULL))
		pr_err("storm: cannot unregister at exit\n");
}

module_init(storm_init);
module_exit(storm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Hits tracepoints in all contexts while probes change, and checks every call");
