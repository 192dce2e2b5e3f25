// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/jumpfunc/: prints, and carries out what debugfs/parse.c made of
 * what was written. The files are described in docs/debugfs.md.
 */
#include "core/internal.h"
#include "debugfs/parse.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* Longest command that a file takes. */
#define JF_WRITE_MAX	4095

static struct dentry *jf_dir;

/**
 * struct jf_file - one file of the directory
 * @name:  its name
 * @show:  prints it; 0 or -errno, which is what the reader gets
 * @store: takes a command, NUL-terminated, without the final newline, which it
 *         may change; NULL: read-only. Returns 0 or -errno
 * @id:    for files that differ by a number
 * @usage: what may be written, for the message that says it was something else
 */
struct jf_file {
	const char	*name;
	int		(*show)(struct seq_file *m, const struct jf_file *f);
	int		(*store)(char *cmd, const struct jf_file *f);
	unsigned int	id;
	const char	*usage;
};

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

/* --- functions --------------------------------------------------------- */

static const char *jf_site_kind(const struct jf_site *site)
{
	if (site->flags & JF_SITE_TRAMP)
		return "tramp";
	if (site->flags & JF_SITE_CALL)
		return "call";
	return site->flags & JF_SITE_BRANCH_INV ? "likely" : "unlikely";
}

static void jf_show_sites(struct seq_file *m, const struct jf_ctl *ctl)
{
	const struct jf_site *site;

	list_for_each_entry(site, &ctl->sites, list) {
		seq_printf(m, "  %-8s %pK %pS  ", jf_site_kind(site),
			   (void *)site->addr, (void *)site->addr);
		jf_arch_show(m, site);
		seq_putc(m, '\n');
	}
}

static int jf_show_functions(struct seq_file *m, const struct jf_file *f)
{
	const struct jf_mod *mod;
	/* Under jf_mutex. Too long for a stack, and a list must not fail for it. */
	static char buf[JF_NAME_LEN];
	unsigned int i;

	seq_puts(m, "# name module trampoline target updates sites\n");
	jf_lock();
	list_for_each_entry(mod, &jf_modules, list) {
		for (i = 0; i < mod->num_ctls; i++) {
			const struct jf_ctl *ctl = &mod->ctls[i];
			union jf_value v;

			if (ctl->ent->type != JF_ENT_FUNC)
				continue;
			v = jf_ent_value(ctl->ent);
			seq_printf(m, "%s %s %pK %s %llu %u\n", ctl->ent->name,
				   mod->mod->name, (void *)ctl->tramp,
				   jf_target_name(v.func, buf), ctl->updates,
				   ctl->num_sites);
			jf_show_sites(m, ctl);
		}
	}
	jf_unlock();
	return 0;
}

/* One assignment of a command becomes a change. */
static int jf_add_assignment(struct list_head *changes,
			     const struct jf_assignment *a)
{
	struct jf_ctl *ctl = jf_ctl_by_name(a->module, a->name, JF_ENT_FUNC);
	union jf_value v;

	if (IS_ERR(ctl)) {
		pr_warn_ratelimited("functions: %s \"%s%s%s\"\n",
				    PTR_ERR(ctl) == -ENOENT ?
				    "no dynamic function" :
				    "say module:name, there are several of",
				    a->module ?: "", a->module ? ":" : "",
				    a->name);
		return PTR_ERR(ctl);
	}
	if (ctl->ent->flags & JF_ENT_TRACE) {
		pr_warn_ratelimited("functions: %s belongs to a tracepoint and changes with its probes alone\n",
				    a->name);
		return -EPERM;
	}
	if (!strcmp(a->target, "default")) {
		v.func = jf_ent_func(ctl->ent)->init;
	} else if (!strcmp(a->target, "none") && ctl->ent->flags & JF_ENT_RET0) {
		v.func = jf_ret0;
	} else if (!strcmp(a->target, "none") &&
		   ctl->ent->flags & JF_ENT_NULL_OK) {
		v.func = jf_nop;
	} else {
		v.func = jf_allowed_target(ctl, a->target);
		if (!v.func) {
			pr_warn_ratelimited("functions: \"%s\" is not an allowed target of %s\n",
					    a->target, a->name);
			return -EPERM;
		}
	}
	return jf_add_change(changes, ctl->ent, v);
}

static int jf_store_functions(char *cmd, const struct jf_file *f)
{
	struct jf_assignment a;
	LIST_HEAD(changes);
	int err;

	jf_lock();
	while ((err = jf_parse_assignment(&cmd, &a)) > 0) {
		err = jf_add_assignment(&changes, &a);
		if (err)
			break;
	}
	if (!err && list_empty(&changes))
		err = -EINVAL;
	if (!err)
		err = __jf_commit(&changes, false);
	jf_unlock();
	jf_free_changes(&changes);
	return err;
}

/* --- keys -------------------------------------------------------------- */

static int jf_show_keys(struct seq_file *m, const struct jf_file *f)
{
	const struct jf_mod *mod;
	unsigned int i;

	seq_puts(m, "# name module state count updates sites\n");
	jf_lock();
	list_for_each_entry(mod, &jf_modules, list) {
		for (i = 0; i < mod->num_ctls; i++) {
			const struct jf_ctl *ctl = &mod->ctls[i];
			const struct jf_key *key;

			if (ctl->ent->type != JF_ENT_KEY)
				continue;
			key = jf_ent_key(ctl->ent);
			seq_puts(m, ctl->ent->name);
			if (ctl->index >= 0)
				seq_printf(m, "[%d]", ctl->index);
			seq_printf(m, " %s %s%s %d %llu %u\n", mod->mod->name,
				   jf_key_enabled(key) ? "on" : "off",
				   ctl->ent->flags & JF_ENT_RO ? ",ro" : "",
				   jf_key_count(key), ctl->updates,
				   ctl->num_sites);
			jf_show_sites(m, ctl);
		}
	}
	jf_unlock();
	return 0;
}

/* --- stats ------------------------------------------------------------- */

static int jf_show_stats(struct seq_file *m, const struct jf_file *f)
{
	struct jf_stats s;

	jf_stats_get(&s);
	seq_printf(m, "backend %s\n", jf_arch_backend());
	seq_printf(m, "updates %llu\n", s.updates);
	seq_printf(m, "batches %llu\n", s.batches);
	seq_printf(m, "errors %llu\n", s.errors);
	seq_printf(m, "sites_patched %llu\n", s.patched);
	seq_printf(m, "sync_broadcasts %llu\n", s.broadcasts);
	seq_printf(m, "int3_hits %llu\n", jf_arch_int3_hits());
	seq_printf(m, "update_ns_last %llu\n", s.ns_last);
	seq_printf(m, "update_ns_min %llu\n", s.ns_min);
	seq_printf(m, "update_ns_max %llu\n", s.ns_max);
	seq_printf(m, "window_ns_last %llu\n", s.window_last);
	seq_printf(m, "window_ns_max %llu\n", s.window_max);
	seq_printf(m, "quiesces %llu\n", s.quiesces);
	seq_printf(m, "looks %llu\n", s.looks);
	seq_printf(m, "look_tasks %llu\n", s.look_tasks);
	seq_printf(m, "look_ns_last %llu\n", s.look_ns_last);
	seq_printf(m, "look_ns_max %llu\n", s.look_ns_max);
	seq_printf(m, "fallbacks %llu\n", s.fallbacks);
	seq_printf(m, "by_xmc %llu\n", s.by_xmc);
	seq_printf(m, "by_kernel %llu\n", s.by_kernel);
	seq_printf(m, "trace_transitions %llu\n", jf_trace_stats.transitions);
	seq_printf(m, "trace_iter_many %llu\n", jf_trace_stats.iter_many);
	seq_printf(m, "trace_iter_exhausted %llu\n",
		   jf_trace_stats.iter_exhausted);
	seq_printf(m, "images_used %u\n", jf_arch_images_used());
	seq_printf(m, "images_total %u\n", jf_arch_images_total());
	jf_sample_show_stats(m);
	return 0;
}

/* --- the sample set ---------------------------------------------------- */

static int jf_show_dispatch(struct seq_file *m, const struct jf_file *f)
{
	jf_sample_show_modes(m);
	return 0;
}

static int jf_store_dispatch(char *cmd, const struct jf_file *f)
{
	return jf_sample_set_mode(cmd);
}

static int jf_show_events(struct seq_file *m, const struct jf_file *f)
{
	jf_sample_show_events(m);
	return 0;
}

static int jf_show_subscribers(struct seq_file *m, const struct jf_file *f)
{
	seq_printf(m, "%u\n", jf_sample_subscribers());
	return 0;
}

static int jf_store_subscribers(char *cmd, const struct jf_file *f)
{
	unsigned int num;
	int err = jf_parse_number(cmd, JF_SUBSCRIBERS_MAX, &num);

	return err ?: jf_sample_set_subscribers(num);
}

static int jf_show_ring(struct seq_file *m, const struct jf_file *f)
{
	return jf_sample_show_ring(m);
}

/* --- help -------------------------------------------------------------- */

static int jf_show_help(struct seq_file *m, const struct jf_file *f)
{
	seq_puts(m,
"func0 ... func3  a dynamic function with that many parameters\n"
"    echo 1 > func2        from now on it calls its target 1 (0, 1 or 2)\n"
"    cat func2             call it; says which target ran, here and in dmesg\n"
"functions        all dynamic functions, with trampoline and call sites\n"
"    echo a=f b=g > functions   retarget by name, all or none; only to targets\n"
"                          that the owner allows, or \"default\", or \"none\"\n"
"keys             all jump-label keys: state (ro: fixed once its module has been\n"
"                 initialised), users, changes, sites; then each branch site: its\n"
"                 form (likely, unlikely), place, bytes and what they do\n"
"stats            counters: updates, sites, broadcasts, INT3 hits, latencies\n"
"dispatch         how the sample set of kernel tracepoints calls its subscribers\n"
"    echo chain > dispatch      off, kernel, indirect, dynfunc or chain\n"
"subscribers      how many there are; dynfunc calls the first one only\n"
"    echo 4 > subscribers       0 to 16, at any time\n"
"events           hits of each sample tracepoint, by mode: calls of a subscriber\n"
"ring             the latest records that the subscribers have written\n"
"bench            only with jumpfunc_bench.ko: what calls, branches, probes and\n"
"                 updates cost; before the first run, reading it explains how\n"
"help             this text\n");
	return 0;
}

/* --- files ------------------------------------------------------------- */

static const struct jf_file jf_files[] = {
	{ "func0", jf_show_demo, jf_store_demo, 0, "0, 1 or 2" },
	{ "func1", jf_show_demo, jf_store_demo, 1, "0, 1 or 2" },
	{ "func2", jf_show_demo, jf_store_demo, 2, "0, 1 or 2" },
	{ "func3", jf_show_demo, jf_store_demo, 3, "0, 1 or 2" },
	{ "functions", jf_show_functions, jf_store_functions, 0,
	  "name=target ..." },
	{ "keys", jf_show_keys },
	{ "stats", jf_show_stats },
	{ "dispatch", jf_show_dispatch, jf_store_dispatch, 0,
	  "the name of a mode" },
	{ "subscribers", jf_show_subscribers, jf_store_subscribers, 0,
	  "a number from 0 to 16" },
	{ "events", jf_show_events },
	{ "ring", jf_show_ring },
	{ "help", jf_show_help },
};

static int jf_file_show(struct seq_file *m, void *v)
{
	const struct jf_file *f = m->private;

	return f->show(m, f);
}

static int jf_file_open(struct inode *inode, struct file *file)
{
	return single_open(file, jf_file_show, inode->i_private);
}

static ssize_t jf_file_write(struct file *file, const char __user *ubuf,
			     size_t count, loff_t *ppos)
{
	const struct jf_file *f = file_inode(file)->i_private;
	char *buf;
	int err;

	if (!f->store)
		return -EINVAL;
	if (!count || count > JF_WRITE_MAX || *ppos) {
		pr_warn_ratelimited("%s: a command is one write of 1 to %u bytes\n",
				    f->name, JF_WRITE_MAX);
		return -EINVAL;
	}
	buf = memdup_user_nul(ubuf, count);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	err = jf_parse_command(buf, count) ?: f->store(buf, f);
	if (err == -EINVAL)
		pr_warn_ratelimited("%s: not understood; write %s\n", f->name,
				    f->usage);
	kfree(buf);
	return err ?: count;
}

static const struct file_operations jf_fops = {
	.owner		= THIS_MODULE,
	.open		= jf_file_open,
	.read		= seq_read,
	.write		= jf_file_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

void jf_debugfs_init(void)
{
	struct dentry *file;
	unsigned int i;

	jf_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	for (i = 0; i < ARRAY_SIZE(jf_files); i++) {
		file = debugfs_create_file(jf_files[i].name,
					   jf_files[i].store ? 0600 : 0400,
					   jf_dir, (void *)&jf_files[i],
					   &jf_fops);
		/* Everything works without it. */
		if (IS_ERR(file))
			pr_warn("no file %s in debugfs (%ld)\n",
				jf_files[i].name, PTR_ERR(file));
	}
}

void jf_debugfs_exit(void)
{
	debugfs_remove_recursive(jf_dir);
}
