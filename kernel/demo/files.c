// SPDX-License-Identifier: GPL-2.0
/* The demo's files in debugfs, func0 to func3 among them; docs/debugfs.md describes them. */
#include "index/state.h"
#include "debugfs/debugfs.h"
#include "parse/parse.h"
#include "demo/demo.h"

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>

/* --- func0 to func3 ---------------------------------------------------- */

static int jf_show_demo(struct seq_file *m, const struct jf_file *f)
{
	jf_demo_call(f->id, m);
	return 0;
}

static int jf_store_demo(char *cmd, const struct jf_file *f)
{
	unsigned int target;
	int err = jf_parse_number(cmd, JF_DEMO_TARGETS - 1, &target);

	return err ?: jf_demo_set(f->id, target);
}

/* --- the event set ---------------------------------------------------- */

static int jf_show_dispatch(struct seq_file *m, const struct jf_file *f)
{
	jf_events_show_modes(m);
	return 0;
}

static int jf_store_dispatch(char *cmd, const struct jf_file *f)
{
	return jf_events_set_mode(cmd);
}

static int jf_show_events(struct seq_file *m, const struct jf_file *f)
{
	jf_events_show_events(m);
	return 0;
}

static int jf_show_subscribers(struct seq_file *m, const struct jf_file *f)
{
	seq_printf(m, "%u\n", jf_events_subscribers());
	return 0;
}

static int jf_store_subscribers(char *cmd, const struct jf_file *f)
{
	unsigned int num;
	int err = jf_parse_number(cmd, JF_SUBSCRIBERS_MAX, &num);

	return err ?: jf_events_set_subscribers(num);
}

static int jf_show_ring(struct seq_file *m, const struct jf_file *f)
{
	return jf_events_show_ring(m);
}

/* --- files ------------------------------------------------------------- */

#define JF_DEMO_FILE(n)							\
	.name	= "func" #n,						\
	.show	= jf_show_demo,						\
	.store	= jf_store_demo,					\
	.knob	= jf_show_demo,						\
	.id	= n,							\
	.usage	= "0, 1 or 2"

static const struct jf_file jf_demo_files[] = {
	{ JF_DEMO_FILE(0),
	  .help	=
"func0 ... func3  a dynamic function with that many parameters\n"
"    echo 1 > func2        from now on it calls its target 1 (0, 1 or 2)\n"
"    cat func2             call it; says which target ran, here and in dmesg\n",
	},
	{ JF_DEMO_FILE(1) },
	{ JF_DEMO_FILE(2) },
	{ JF_DEMO_FILE(3) },
	{
		.name	= "dispatch",
		.show	= jf_show_dispatch,
		.store	= jf_store_dispatch,
		.knob	= jf_show_dispatch,
		.usage	= "the name of a mode",
		.help	=
"dispatch         how the event set, a set of kernel tracepoints, calls its subscribers\n"
"    echo chain > dispatch      off, kernel, indirect, dynfunc or chain\n",
	}, {
		.name	= "subscribers",
		.show	= jf_show_subscribers,
		.store	= jf_store_subscribers,
		.knob	= jf_show_subscribers,
		.usage	= "a number from 0 to 16",
		.help	=
"subscribers      how many there are; dynfunc calls the first one only\n"
"    echo 4 > subscribers       0 to 16, at any time\n",
	}, {
		.name	= "events",
		.show	= jf_show_events,
		.help	=
"events           for each event of the set, calls of subscribers, by mode\n",
	}, {
		.name	= "ring",
		.show	= jf_show_ring,
		.help	=
"ring             the latest records that the subscribers have written\n",
	},
};

static struct jf_files jf_demo = {
	.file		= jf_demo_files,
	.num		= ARRAY_SIZE(jf_demo_files),
	.owner		= THIS_MODULE,
	.show_stats	= jf_events_show_stats,
};

int jf_demo_init(void)
{
	return jf_events_init();
}

void jf_demo_add_files(void)
{
	jf_debugfs_add(&jf_demo);
}

void jf_demo_exit(void)
{
	jf_debugfs_remove(&jf_demo);
	jf_events_exit();
}
