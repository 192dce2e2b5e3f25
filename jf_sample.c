// SPDX-License-Identifier: GPL-2.0
/*
 * The sample set: kernel tracepoints that hackbench hits hard, dispatched to a
 * subscriber in a way that can be chosen at run time, to see what each costs.
 *
 * A tracepoint's probe depends on the mode, and does nothing but dispatch; the
 * subscriber does nothing but count. So two modes differ in the dispatch alone.
 *
 * Switching goes through "off": the old probes are unregistered, everybody who
 * may be in one is waited for, the new ones are registered. All under
 * jf_sample_mutex, which is outermost.
 */
#include "jf_internal.h"

#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

enum jf_mode {
	JF_MODE_OFF,
	JF_MODE_INDIRECT,
	JF_MODE_DYNFUNC,
	JF_MODES,
};

static const char * const jf_mode_names[JF_MODES] = {
	[JF_MODE_OFF]		= "off",
	[JF_MODE_INDIRECT]	= "indirect",
	[JF_MODE_DYNFUNC]	= "dynfunc",
};

struct jf_hits {
	u64 by_mode[JF_MODES];
};

/**
 * struct jf_event - one kernel tracepoint of the set
 * @name: its name
 * @tp:   the tracepoint, NULL if this kernel has none of that name
 * @sub:  the subscriber, for the mode that calls it through a pointer
 * @hits: how often the subscriber ran, per CPU
 */
struct jf_event {
	const char		*name;
	struct tracepoint	*tp;
	void			(*sub)(struct jf_event *e, enum jf_mode mode);
	struct jf_hits __percpu	*hits;
};

static struct jf_event jf_events[] = {
	{ .name = "sched_switch" },
	{ .name = "sched_waking" },
	{ .name = "sched_wakeup" },
	{ .name = "sched_migrate_task" },
	{ .name = "sys_enter" },
	{ .name = "sys_exit" },
};

static DEFINE_MUTEX(jf_sample_mutex);
static enum jf_mode jf_sample_mode;

/* Probes may run in any context that the kernel has tracepoints in. */
static notrace void jf_count(struct jf_event *e, enum jf_mode mode)
{
	this_cpu_inc(e->hits->by_mode[mode]);
}

DEFINE_DYNFUNC(jf_sample, jf_count);

/*
 * A probe gets its data and then the tracepoint's arguments, in registers. These
 * look at none of the latter, so one probe serves tracepoints of any prototype.
 */
static notrace void jf_probe_indirect(void *data)
{
	struct jf_event *e = data;

	READ_ONCE(e->sub)(e, JF_MODE_INDIRECT);
}

static notrace void jf_probe_dynfunc(void *data)
{
	dynfunc_call(jf_sample, (struct jf_event *)data, JF_MODE_DYNFUNC);
}

static void * const jf_probes[JF_MODES] = {
	[JF_MODE_INDIRECT]	= jf_probe_indirect,
	[JF_MODE_DYNFUNC]	= jf_probe_dynfunc,
};

static void jf_detach(enum jf_mode mode, unsigned int num)
{
	if (mode == JF_MODE_OFF)
		return;
	while (num--)
		if (jf_events[num].tp)
			tracepoint_probe_unregister(jf_events[num].tp,
						    jf_probes[mode],
						    &jf_events[num]);
	tracepoint_synchronize_unregister();
}

/* All or nothing. */
static int jf_attach(enum jf_mode mode)
{
	unsigned int i;
	int err;

	if (mode == JF_MODE_OFF)
		return 0;
	for (i = 0; i < ARRAY_SIZE(jf_events); i++) {
		if (!jf_events[i].tp)
			continue;
		err = tracepoint_probe_register(jf_events[i].tp, jf_probes[mode],
						&jf_events[i]);
		if (err) {
			pr_warn("cannot attach to tracepoint %s (%d)\n",
				jf_events[i].name, err);
			jf_detach(mode, i);
			return err;
		}
	}
	return 0;
}

int jf_sample_set_mode(const char *name)
{
	int mode = match_string(jf_mode_names, JF_MODES, name);
	int err = 0;

	if (mode < 0)
		return -EINVAL;
	mutex_lock(&jf_sample_mutex);
	if (mode != jf_sample_mode) {
		jf_detach(jf_sample_mode, ARRAY_SIZE(jf_events));
		jf_sample_mode = JF_MODE_OFF;
		err = jf_attach(mode);
		if (!err)
			jf_sample_mode = mode;
	}
	mutex_unlock(&jf_sample_mutex);
	return err;
}

void jf_sample_show_modes(struct seq_file *m)
{
	unsigned int i;

	mutex_lock(&jf_sample_mutex);
	for (i = 0; i < JF_MODES; i++)
		seq_printf(m, i == jf_sample_mode ? "%s[%s]" : "%s%s",
			   i ? " " : "", jf_mode_names[i]);
	seq_putc(m, '\n');
	mutex_unlock(&jf_sample_mutex);
}

void jf_sample_show_events(struct seq_file *m)
{
	unsigned int i, mode;
	int cpu;

	seq_puts(m, "# event state");
	for (mode = JF_MODE_OFF + 1; mode < JF_MODES; mode++)
		seq_printf(m, " %s", jf_mode_names[mode]);
	seq_putc(m, '\n');

	mutex_lock(&jf_sample_mutex);
	for (i = 0; i < ARRAY_SIZE(jf_events); i++) {
		const struct jf_event *e = &jf_events[i];

		seq_printf(m, "%s %s", e->name,
			   !e->tp ? "missing" :
			   jf_sample_mode ? "attached" : "detached");
		for (mode = JF_MODE_OFF + 1; mode < JF_MODES; mode++) {
			u64 sum = 0;

			for_each_possible_cpu(cpu)
				sum += READ_ONCE(per_cpu_ptr(e->hits, cpu)->by_mode[mode]);
			seq_printf(m, " %llu", sum);
		}
		seq_putc(m, '\n');
	}
	mutex_unlock(&jf_sample_mutex);
}

static void jf_find_tracepoint(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jf_events); i++)
		if (!strcmp(tp->name, jf_events[i].name))
			jf_events[i].tp = tp;
}

static void jf_free_hits(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jf_events); i++)
		free_percpu(jf_events[i].hits);
}

int jf_sample_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jf_events); i++) {
		jf_events[i].sub = jf_count;
		jf_events[i].hits = alloc_percpu(struct jf_hits);
		if (!jf_events[i].hits) {
			jf_free_hits();
			return -ENOMEM;
		}
	}
	for_each_kernel_tracepoint(jf_find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(jf_events); i++)
		if (!jf_events[i].tp)
			pr_info("sample set: this kernel has no tracepoint %s, skipped\n",
				jf_events[i].name);
	return 0;
}

void jf_sample_exit(void)
{
	mutex_lock(&jf_sample_mutex);
	jf_detach(jf_sample_mode, ARRAY_SIZE(jf_events));
	jf_sample_mode = JF_MODE_OFF;
	mutex_unlock(&jf_sample_mutex);
	jf_free_hits();
}
