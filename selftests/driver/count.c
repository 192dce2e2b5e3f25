// SPDX-License-Identifier: GPL-2.0
/*
 * Part of a driver that has got probes from selftests/driver/probe.py: it counts,
 * and judges each time that a task comes to a probe.
 *
 * The parameter `jf_stage` says the state of the probes: "on" or "off" is written after
 * they were changed, "change" before they are. A pass in whose course the stage does
 * not change is to be told to the subscriber if it is on, and not if it is off;
 * while they are changed either will do. The number that the probe was called with
 * is always to be that of the place.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "jf_count.h"

/* In the lower two bits of a stage; above is a number, of which each has its own. */
enum { JF_OFF, JF_ON, JF_CHANGE };

static unsigned int jf_stage;
/* Faults, one for each reason. */
static atomic_long_t jf_missed, jf_stray, jf_wrong;

static void jf_count(unsigned int probe, unsigned int which)
{
	atomic_long_inc(&jf_probed_counts[probe][which]);
}

void jf_pass_begins(unsigned int probe, struct jf_pass *pass)
{
	pass->told = 0;
	/* Pairs with stage_set(). */
	pass->stage = smp_load_acquire(&jf_stage);
}

/* The subscriber. */
void jf_probed_hit(unsigned int probe, struct jf_pass *pass)
{
	jf_count(probe, JF_HITS);
	pass->told = 1 + probe;
}

void jf_pass_ends(unsigned int probe, struct jf_pass *pass)
{
	unsigned int stage;

	/* The stage is read after the probe was called. Pairs with stage_set(). */
	smp_rmb();
	stage = READ_ONCE(jf_stage);
	jf_count(probe, JF_PASSES);
	if (pass->told) {
		jf_count(probe, JF_TOLD);
		if (pass->told != 1 + probe)
			atomic_long_inc(&jf_wrong);
	}
	if (stage != pass->stage)
		return;
	if ((stage & 3) == JF_ON && !pass->told)
		atomic_long_inc(&jf_missed);
	if ((stage & 3) == JF_OFF && pass->told)
		atomic_long_inc(&jf_stray);
}

static int stage_set(const char *val, const struct kernel_param *kp)
{
	static const char * const names[] = { "off", "on", "change" };
	int i = __sysfs_match_string(names, ARRAY_SIZE(names), val);

	if (i < 0)
		return i;
	/* The text was changed before. Pairs with jf_pass_begins(). */
	smp_mb();
	WRITE_ONCE(jf_stage, ((jf_stage | 3) + 1) | i);
	/* It is changed after that. Pairs with jf_pass_ends(). */
	smp_mb();
	return 0;
}

static const struct kernel_param_ops stage_ops = {
	.set = stage_set,
};
module_param_cb(jf_stage, &stage_ops, NULL, 0200);
MODULE_PARM_DESC(jf_stage, "write off, on or change: what the probes are now");

static int counts_get(char *buf, const struct kernel_param *kp)
{
	unsigned long sum[JF_PROBED_COUNTS] = {}, reached = 0, differ = 0;
	unsigned int i, j;

	for (i = 0; i < jf_probed_num; i++) {
		for (j = 0; j < JF_PROBED_COUNTS; j++)
			sum[j] += atomic_long_read(&jf_probed_counts[i][j]);
		reached += !!atomic_long_read(&jf_probed_counts[i][JF_PASSES]);
		differ += atomic_long_read(&jf_probed_counts[i][JF_TOLD]) !=
			  atomic_long_read(&jf_probed_counts[i][JF_HITS]);
	}
	i = sysfs_emit(buf, "reached %lu passes %lu told %lu hits %lu ",
		       reached, sum[JF_PASSES], sum[JF_TOLD], sum[JF_HITS]);
	return i + sysfs_emit_at(buf, i, "differ %lu missed %ld stray %ld wrong %ld\n",
				 differ, atomic_long_read(&jf_missed),
				 atomic_long_read(&jf_stray),
				 atomic_long_read(&jf_wrong));
}

static const struct kernel_param_ops counts_ops = {
	.get = counts_get,
};
module_param_cb(jf_counts, &counts_ops, NULL, 0400);
MODULE_PARM_DESC(jf_counts, "what was counted, and what was judged wrong");
