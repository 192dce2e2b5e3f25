// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a probe in each form: off, on, and to enable.
 *
 * Times are minima of short runs with interrupts off, the forms taking turns in each round. All is
 * checked: the subscriber adds its arguments.
 */
#include "forms.h"

#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#define TURNS	16
#define ENABLES	5

const struct jff_form * const jff_forms[JFF_FORMS] = {
	&jff_none, &jff_site, &jff_call, &jff_fault, &jff_kept,
};

long jff_seen;

noinline notrace void jff_hit(long a, long b, long c)
{
	WRITE_ONCE(jff_seen, jff_seen + a + b + c);
}

/* Lets others run. -EINTR: the task that reads or writes is to end. */
static int breathe(void)
{
	cond_resched_tasks_rcu_qs();
	return signal_pending(current) ? -EINTR : 0;
}

static void keep_least(u64 *least, u64 x)
{
	if (!*least || x < *least)
		*least = x;
}

static void sample(long (*run)(unsigned long turns, long a, long b, long c), u64 *least)
{
	unsigned long flags;
	u64 ns;

	local_irq_save(flags);
	run(1, 1, 2, 3);
	ns = ktime_get_ns();
	run(TURNS, 1, 2, 3);
	ns = ktime_get_ns() - ns;
	local_irq_restore(flags);
	keep_least(least, div_u64(ns * 1000, TURNS * JFF_HOT));
}

static int measure_off(struct jff_result *res, unsigned int rounds)
{
	unsigned int round, i;
	int err = 0;

	for (i = 0; !err && i < JFF_FORMS; i++) {
		err = jff_count(jff_forms[i]->plain, &res[i].count[JFF_PLAIN_RUN]);
		if (!err)
			err = jff_count(jff_forms[i]->busy, &res[i].count[JFF_BUSY_RUN]);
	}
	jff_seen = 0;
	for (round = 0; !err && round < rounds; round++) {
		for (i = 0; !err && i < JFF_FORMS; i++) {
			unsigned int f = (i + round) % JFF_FORMS;

			sample(jff_forms[f]->plain, &res[f].off[JFF_PLAIN_RUN]);
			sample(jff_forms[f]->busy, &res[f].off[JFF_BUSY_RUN]);
			err = breathe();
		}
	}
	if (!err && jff_seen) {
		pr_warn("probes that are off told %ld\n", jff_seen);
		err = -EIO;
	}
	return err;
}

static int seen(const struct jff_form *f, long wanted)
{
	if (jff_seen == wanted)
		return 0;
	pr_warn("%s: subscribers were told %ld, not %ld\n", f->name, jff_seen, wanted);
	return -EIO;
}

/* The result of a turn of plain(): b and c grow by one from probe to probe. */
static long told_by_turn(void)
{
	return JFF_HOT * (1 + 2 + 3) + JFF_HOT * (JFF_HOT - 1);
}

static int measure_on(const struct jff_form *f, struct jff_result *r, unsigned int rounds)
{
	unsigned int round;
	int err;

	jff_seen = 0;
	err = f->set(JFF_MANY, 1, true);
	if (err)
		return err;
	for (round = 0; !err && round < rounds; round++) {
		sample(f->plain, &r->other);
		err = breathe();
	}
	err = f->set(JFF_MANY, 1, false) ?: err ?: seen(f, 0);
	if (err)
		return err;

	err = f->set(0, JFF_HOT, true);
	if (err)
		return err;
	for (round = 0; !err && round < rounds; round++) {
		sample(f->plain, &r->on);
		err = breathe();
	}
	return f->set(0, JFF_HOT, false) ?: err ?: seen(f, rounds * (TURNS + 1) * told_by_turn());
}

/* --- how long enabling takes ---------------------------------------------------- */

static const struct jff_form *peer_form;

static int peer(void *unused)
{
	unsigned int i = 0;

	while (!kthread_should_stop()) {
		READ_ONCE(peer_form)->many[i++ % JFF_PARTS](1, 2, 3);
		cond_resched();
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

/* After a run of all of them: each one that is on has told its arguments once. */
static int run_many(const struct jff_form *f, unsigned int on)
{
	unsigned int i;

	jff_seen = 0;
	for (i = 0; i < JFF_PARTS; i++)
		f->many[i](1, 2, 3);
	return seen(f, 6 * (long)on);
}

static int measure_enable(const struct jff_form *f, struct jff_result *r)
{
	static const unsigned int nr[2] = { 1, JFF_PARTS * JFF_IN_PART };
	struct jf_stats before, after;
	unsigned int i, repeat;
	u64 ns, page_before;
	int err = 0;

	for (repeat = 0; !err && repeat < ENABLES; repeat++) {
		for (i = 0; !err && i < ARRAY_SIZE(nr); i++) {
			page_before = jff_page_broadcasts;
			jf_stats_get(&before);
			ns = ktime_get_ns();
			err = f->set(JFF_MANY, nr[i], true);
			ns = ktime_get_ns() - ns;
			if (err)
				return err;
			jf_stats_get(&after);
			keep_least(&r->enable[i], ns);
			r->broadcasts[i] = after.broadcasts - before.broadcasts +
					   jff_page_broadcasts - page_before;
			err = f->set(JFF_MANY, nr[i], false) ?: breathe();
		}
	}
	return err;
}

/* The same once more without the other thread, which tells as well. */
static int check_enable(const struct jff_form *f)
{
	int err = f->set(JFF_MANY, JFF_PARTS * JFF_IN_PART, true);

	if (err)
		return err;
	err = run_many(f, JFF_PARTS * JFF_IN_PART);
	return f->set(JFF_MANY, JFF_PARTS * JFF_IN_PART, false) ?: err ?: run_many(f, 0);
}

static int measure_enable_all(struct jff_result *res)
{
	struct task_struct *p;
	unsigned int i;
	int err = 0;

	WRITE_ONCE(peer_form, &jff_none);
	p = kthread_run(peer, NULL, "jf_forms_peer");
	if (IS_ERR(p))
		return PTR_ERR(p);
	for (i = 1; !err && i < JFF_FORMS; i++) {
		WRITE_ONCE(peer_form, jff_forms[i]);
		err = measure_enable(jff_forms[i], &res[i]);
	}
	kthread_stop(p);
	for (i = 1; !err && i < JFF_FORMS; i++)
		err = check_enable(jff_forms[i]);
	return err;
}

int jff_measure(struct jff_result *res, unsigned int rounds)
{
	unsigned int i;
	int err;

	memset(res, 0, JFF_FORMS * sizeof(*res));
	err = measure_off(res, rounds);
	for (i = 1; !err && i < JFF_FORMS; i++)
		err = measure_on(jff_forms[i], &res[i], rounds);
	return err ?: measure_enable_all(res);
}
