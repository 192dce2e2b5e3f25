// SPDX-License-Identifier: GPL-2.0
/*
 * The file `probes` of debugfs, and jf_probes_set(): any number of probes are enabled
 * and disabled by patterns, all or none. docs/debugfs.md describes the file.
 *
 * A command is carried out in this order, so that all that can fail is done while it
 * can be undone:
 *
 *   1. Its patterns are parsed.
 *   2. Their matches are found. One that fits nothing is an error.
 *   3. ftrace calls back for new functions, which are not told to probes yet.
 *   4. Tracepoints and calls are committed, in one transaction.
 *   5. Functions are told from now on, or not any more. A function that is not told is removed
 *      from ftrace.
 *
 * For a module that is loaded or unloaded at the same time, see kernel/probes/places.c and
 * kernel/probes/entry.c.
 */
#include "probes/probes.h"

#include "consumers/module.h"
#include "debugfs/debugfs.h"
#include "index/state.h"
#include "index/walk.h"
#include "parse/parse.h"
#include "tracepoint/tracepoint.h"

/* Neither an entity nor a table is defined here. */
#define JF_NO_TABLE
#include <jumpfunc/entry.h>

#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

/**
 * struct jf_command - the present command
 * @names:   functions of all modules
 * @named:   a pattern tells them apart, so that these are read
 * @num:     number of patterns
 * @pattern: they
 */
struct jf_command {
	struct jf_names		names;
	bool			named;
	unsigned int		num;
	struct jf_pattern	pattern[];
};

/* As many as a command has, at most. */
static unsigned int jf_count_patterns(const char *cmd)
{
	unsigned int num = 0;

	for (; *cmd; cmd++)
		num += *cmd == '+' || *cmd == '-';
	return num;
}

/* ERR_PTR(-EINVAL), ERR_PTR(-ENOMEM) */
static struct jf_command *jf_command_parse(char *cmd)
{
	struct jf_command *c;
	struct jf_pattern p;
	int err;

	c = kvmalloc(struct_size(c, pattern, jf_count_patterns(cmd)), GFP_KERNEL);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->num = 0;
	/* Each has its own sign. */
	while ((err = jf_parse_pattern(&cmd, &p)) > 0)
		c->pattern[c->num++] = p;
	if (!err && !c->num)
		err = -EINVAL;
	if (!err)
		return c;
	kvfree(c);
	return ERR_PTR(err);
}

static int jf_found(const struct jf_pattern *p, unsigned int num, int err)
{
	if (err || num)
		return err;
	pr_warn_ratelimited("probes: nothing is %s:%s:%s:%s\n", p->provider,
			    p->module, p->function, p->name);
	return -ENOENT;
}

static int jf_find_entries(const struct jf_command *c)
{
	unsigned int i, num;
	int err = 0;

	for (i = 0; !err && i < c->num; i++) {
		const struct jf_pattern *p = &c->pattern[i];

		if (!jf_entry_is(p))
			continue;
		num = 0;
		err = jf_entry_find(p, &num);
		err = jf_found(p, num, err);
	}
	return err;
}

/* For jf_trace_commit_found(). */
static int jf_find_places(struct list_head *probes, struct list_head *changes,
			  void *arg)
{
	struct jf_command *c = arg;
	unsigned int i, num;
	int err = 0;

	for (i = 0; !err && i < c->num; i++) {
		const struct jf_pattern *p = &c->pattern[i];

		if (jf_entry_is(p))
			continue;
		num = 0;
		err = jf_places_find(p, c->named ? &c->names : NULL, changes,
				     &num);
		err = jf_found(p, num, err);
	}
	return err ?: jf_places_probes(probes);
}

static int jf_command_once(struct jf_command *c, bool wait)
{
	bool committed = false;
	int err;

	mutex_lock(&jf_probes_mutex);
	err = jf_find_entries(c);
	err = err ?: jf_entry_begin();
	err = err ?: jf_trace_commit_found(jf_find_places, c, &committed, wait);
	jf_places_done(committed);
	jf_entry_done(committed);
	mutex_unlock(&jf_probes_mutex);
	return err;
}

/* After so many times in which a module was unloaded, a command gives up. */
#define JF_COMMAND_TRIES	8

static bool jf_command_is_named(const struct jf_command *c)
{
	unsigned int i;

	for (i = 0; i < c->num; i++)
		if (!jf_entry_is(&c->pattern[i]) &&
		    strcmp(c->pattern[i].function, "*"))
			return true;
	return false;
}

/* Functions are looked up before a lock is taken. */
static int jf_command_try(struct jf_command *c, bool wait)
{
	int err = c->named ? jf_names_get(&c->names) : 0;

	err = err ?: jf_command_once(c, wait);
	if (c->named)
		jf_names_put(&c->names);
	return err;
}

static int jf_command_do(struct jf_command *c)
{
	unsigned int tries = 0;
	bool wait = true;
	int err;

	c->named = jf_command_is_named(c);
	for (;;) {
		err = jf_command_try(c, wait);
		if (err == -EAGAIN && wait) {
			wait = false;
			jf_reclaim_wait();
			continue;
		}
		if (err != -ERESTART)
			return err;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (++tries == JF_COMMAND_TRIES)
			break;
	}
	pr_warn_ratelimited("probes: modules are unloaded all the time\n");
	return -EBUSY;
}

static int jf_store_probes(char *cmd, const struct jf_file *f)
{
	struct jf_command *c = jf_command_parse(cmd);
	int err;

	if (IS_ERR(c))
		return PTR_ERR(c);
	err = jf_command_do(c);
	kvfree(c);
	return err;
}

int jf_probes_set(const char *cmd)
{
	int err = jf_check_context();
	char *copy;

	if (err)
		return err;
	copy = kstrdup(cmd, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = jf_store_probes(copy, NULL);
	kfree(copy);
	return err;
}
EXPORT_SYMBOL_GPL(jf_probes_set);

static int jf_show_probes(struct seq_file *m, const struct jf_file *f)
{
	int err;

	seq_puts(m, "# probe state hits sites\n");
	err = jf_places_show(m);
	jf_entry_show(m);
	return err;
}

static const struct jf_file jf_probe_files[] = {
	{
		.name	= "probes",
		.show	= jf_show_probes,
		.store	= jf_store_probes,
		.usage	= "+provider:module:function:name or -provider:module:function:name ...",
		.help	=
"probes           what can be enabled by a name of four parts, each a pattern with * and ?\n"
"    echo +trace:mymod:*:* > probes            count what these tracepoints are hit\n"
"    echo +ftrace:mymod:my_*:entry > probes    the same for functions of any module\n"
"    echo \"-trace:mymod:*:* -ftrace:mymod:*:*\" > probes    disable; all of it, or none\n",
	},
};

static struct jf_files jf_probe_room = {
	.file	= jf_probe_files,
	.num	= ARRAY_SIZE(jf_probe_files),
	.owner	= THIS_MODULE,
};

/* --- modules ------------------------------------------------------------- */

static int jf_probes_notify(struct notifier_block *nb, unsigned long event,
			    void *data)
{
	const struct module *mod = data;

	switch (event) {
	case MODULE_STATE_COMING:
		jf_places_load(mod);
		break;
	case MODULE_STATE_GOING:
		mutex_lock(&jf_probes_mutex);
		jf_entry_unload(mod);
		mutex_unlock(&jf_probes_mutex);
		break;
	}
	return NOTIFY_OK;
}

/* Not in the notifier: a task may still be on its way to a counter. */
static void jf_probes_left(const struct module *mod)
{
	mutex_lock(&jf_probes_mutex);
	jf_places_unload(mod);
	mutex_unlock(&jf_probes_mutex);
}

static struct notifier_block jf_probes_nb = {
	.notifier_call = jf_probes_notify,
	/* After kernel/consumers/module.c, which checks tables. */
	.priority = INT_MAX - 2,
};

int jf_probe_file_init(void)
{
	int err = register_module_notifier(&jf_probes_nb);

	/* Our own tables were there before that. */
	if (!err) {
		jf_module_on_left(jf_probes_left);
		jf_places_load(THIS_MODULE);
	}
	return err;
}

void jf_probe_file_add(void)
{
	jf_debugfs_add(&jf_probe_room);
}

void jf_probe_file_remove(void)
{
	jf_debugfs_remove(&jf_probe_room);
}

void jf_probe_file_exit(void)
{
	unregister_module_notifier(&jf_probes_nb);
	mutex_lock(&jf_probes_mutex);
	jf_entry_unload(NULL);
	mutex_unlock(&jf_probes_mutex);
	jf_entry_exit();
}

void jf_probe_file_free(void)
{
	mutex_lock(&jf_probes_mutex);
	jf_places_unload(NULL);
	mutex_unlock(&jf_probes_mutex);
}
