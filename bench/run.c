// SPDX-License-Identifier: GPL-2.0
/*
 * How a row is measured. In each round every row of a suite has its turn, and
 * each round begins with another row: a disturbance of a machine for a while hits all of them, and
 * none always runs after the same other one.
 *
 * A turn is a short time with interrupts off: a run to warm up, then one between
 * two readings of the clocks. The cost of the readings is in the loop rows as well,
 * so it is subtracted with them. Rows that may sleep are measured with
 * interrupts on, and the shortest of their turns is one that was not disturbed.
 */
#include "bench.h"

#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#if JFB_X86
#include <asm/msr.h>
#include <asm/tsc.h>
#define jfb_cycles()	rdtsc_ordered()
#else
#include <linux/timex.h>
#define jfb_cycles()	((u64)get_cycles())
#endif

const struct jfb_suite * const jfb_suites[JFB_SUITES] = {
	&jfb_calls, &jfb_branches, &jfb_keys, &jfb_arrays,
};

int jfb_breathe(struct jfb_run *run)
{
	/* A grace period of tasks must not have to wait for us. */
	cond_resched_tasks_rcu_qs();
	if (kthread_should_stop())
		return -EINTR;
	if (raw_smp_processor_id() != run->cpu) {
		pr_warn_ratelimited("CPU %u went offline, measurement given up\n",
				    run->cpu);
		return -ENODEV;
	}
	return 0;
}

static int jfb_measure(const struct jfb_row *row, unsigned long n, u64 *ns,
		       u64 *cycles)
{
	bool sleeps = row->flags & JFB_SLEEPS;
	unsigned long flags = 0, x = 1000, y;
	u64 t, c;

	if (!sleeps)
		local_irq_save(flags);
	row->run(row, JFB_SITES, x);
	t = ktime_get_ns();
	c = jfb_cycles();
	y = row->run(row, n, x);
	c = jfb_cycles() - c;
	t = ktime_get_ns() - t;
	if (!sleeps)
		local_irq_restore(flags);

	if (!row->check(row, n, x, y)) {
		pr_warn_ratelimited("row %s (%u sites, %u probes) did not do what it should: 0x%lx became 0x%lx in %lu runs\n",
				    row->name, row->sites, row->probes, x, y, n);
		return -EIO;
	}
	*ns = t;
	*cycles = c;
	return 0;
}

static int jfb_cmp_u64(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	if (*x < *y)
		return -1;
	return *x > *y;
}

void jfb_reduce(u64 *samples, unsigned int num, u64 *min, u64 *median)
{
	sort(samples, num, sizeof(*samples), jfb_cmp_u64, NULL);
	*min = samples[0];
	*median = num % 2 ? samples[num / 2] :
			    (samples[num / 2 - 1] + samples[num / 2]) / 2;
}

static int jfb_rounds(struct jfb_run *run, const struct jfb_suite *suite,
		      u64 *ns, u64 *cycles)
{
	unsigned int round, i;
	int err;

	WRITE_ONCE(run->stage, suite->name);
	WRITE_ONCE(run->steps, run->set.rounds);
	for (round = 0; round < run->set.rounds; round++) {
		WRITE_ONCE(run->step, round);
		for (i = 0; i < suite->num; i++) {
			unsigned int r = (round + i) % suite->num;
			unsigned int at = r * run->set.rounds + round;

			err = jfb_breathe(run);
			if (err)
				return err;
			err = jfb_measure(&suite->rows[r], run->set.calls,
					  &ns[at], &cycles[at]);
			if (err)
				return err;
		}
	}
	return 0;
}

static void jfb_finish_rows(const struct jfb_suite *suite, unsigned int num)
{
	while (num--)
		if (suite->rows[num].finish)
			suite->rows[num].finish(&suite->rows[num]);
	if (suite->finish)
		suite->finish();
}

/* All or nothing. */
static int jfb_prepare_rows(struct jfb_run *run, const struct jfb_suite *suite)
{
	unsigned int i;
	int err = suite->prepare ? suite->prepare() : 0;

	if (err)
		return err;
	for (i = 0; i < suite->num; i++) {
		err = jfb_breathe(run);
		if (!err && suite->rows[i].prepare)
			err = suite->rows[i].prepare(&suite->rows[i]);
		if (err) {
			jfb_finish_rows(suite, i);
			return err;
		}
	}
	return 0;
}

int jfb_run_suite(struct jfb_run *run, const struct jfb_suite *suite,
		  struct jfb_measure *res)
{
	unsigned int rounds = run->set.rounds, i;
	u64 *ns = kvmalloc_array(suite->num, rounds * sizeof(*ns), GFP_KERNEL);
	u64 *cycles = kvmalloc_array(suite->num, rounds * sizeof(*cycles),
				     GFP_KERNEL);
	int err = -ENOMEM;

	if (ns && cycles)
		err = jfb_prepare_rows(run, suite);
	if (err)
		goto out;
	err = jfb_rounds(run, suite, ns, cycles);
	jfb_finish_rows(suite, suite->num);
	for (i = 0; !err && i < suite->num; i++) {
		jfb_reduce(ns + i * rounds, rounds, &res[i].ns_min,
			   &res[i].ns_median);
		jfb_reduce(cycles + i * rounds, rounds, &res[i].cycles_min,
			   &res[i].cycles_median);
		err = jfb_breathe(run);
	}
out:
	kvfree(ns);
	kvfree(cycles);
	return err;
}
