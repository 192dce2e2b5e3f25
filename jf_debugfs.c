// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/jumpfunc/: the files of the engine, and the functions by
 * which other rooms and modules add theirs. This file shows the engine's state,
 * and carries out commands, which kernel/parse/parse.c parses. docs/debugfs.md
 * describes the files. kernel/debugfs/sysfs.c offers some of them a second time.
 */
#include "debugfs/debugfs.h"

#include "arch/arch.h"
#include "arch/text.h"
#include "update/commit.h"
#include "index/walk.h"
#include "tracepoint/tracepoint.h"
#include "parse/parse.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static struct dentry *jf_dir;

/* All below: whose files there are. */
static DEFINE_MUTEX(jf_rooms_mutex);
static LIST_HEAD(jf_rooms);

/* --- functions --------------------------------------------------------- */

static const char *jf_site_kind(const struct jf_site *site)
{
	if (site->flags & JF_SITE_TRAMP)
		return "tramp";
	if (site->flags & JF_SITE_CALL)
		return "call";
	return site->flags & JF_SITE_BRANCH_INV ? "likely" : "unlikely";
}

/*
 * As %pS shows it, and without @offset as %ps. The kernel searches all symbols of a module for
 * one name, and a module with thousands of functions has thousands of sites. Text of jumpfunc
 * has no sites of the table, and few symbols.
 */
static void jf_show_symbol(struct seq_file *m, const struct jf_names *names,
			   unsigned long addr, bool offset)
{
	const struct jf_mod *mod = jf_mod_by_addr(addr);
	const struct jf_named_text *sym = NULL;

	if (mod)
		sym = jf_names_find(names, mod->mod, addr);
	if (!sym)
		seq_printf(m, offset ? "%pS" : "%ps", (void *)addr);
	else if (offset)
		seq_printf(m, "%s+0x%lx/0x%lx [%s]", sym->name,
			   addr - sym->addr, sym->size, mod->mod->name);
	else
		seq_printf(m, "%s [%s]", sym->name, mod->mod->name);
}

static void jf_show_sites(struct seq_file *m, struct jf_walk *w)
{
	const struct jf_site *site;
	unsigned long to;

	while ((site = jf_walk_site(w))) {
		seq_printf(m, "  %-8s %pK ", jf_site_kind(site),
			   (void *)site->addr);
		jf_show_symbol(m, w->names, site->addr, true);
		seq_puts(m, "  ");
		to = jf_arch_show(m, site);
		if (to) {
			seq_putc(m, ' ');
			jf_show_symbol(m, w->names, to,
				       site->flags & JF_SITE_BRANCH);
		}
		seq_putc(m, '\n');
		/* Shown anew, in a larger buffer. */
		if (seq_has_overflowed(m))
			break;
	}
}

/* Entities of @type: @show prints one, without its sites. */
struct jf_shown {
	enum jf_ent_type	type;
	void			(*show)(struct seq_file *m, const struct jf_walk *w);
};

static int jf_show_one(struct seq_file *m, struct jf_walk *w, void *arg)
{
	const struct jf_shown *shown = arg;

	if (w->ctl->ent->type == shown->type) {
		shown->show(m, w);
		jf_show_sites(m, w);
	}
	return 0;
}

static int jf_show_all(struct seq_file *m, enum jf_ent_type type,
		       void (*show)(struct seq_file *m, const struct jf_walk *w))
{
	struct jf_shown shown = { type, show };

	return jf_walk_show(m, NULL, jf_show_one, &shown);
}

/* Nothing where it is the plain one, so that a line has six fields then. */
static const char *jf_contract_name(const struct jf_ent *ent)
{
	switch ((ent->flags & JF_ENT_CONTRACT) >> __JF_CONTRACT_SHIFT) {
	case JF_RCU:
		return " rcu";
	case JF_SLEEPABLE:
		return " sleepable";
	default:
		return "";
	}
}

/* In the form in which it can be written. */
static void jf_show_name(struct seq_file *m, const struct jf_ctl *ctl)
{
	seq_puts(m, ctl->ent->name);
	if (ctl->rank)
		seq_printf(m, "#%u", ctl->rank);
}

/* The name of a target alone. Targets in jumpfunc are few, and some stand for NULL. */
static const char *jf_shown_target(const struct jf_names *names, void *func,
				   char *buf)
{
	const struct jf_mod *mod = jf_mod_by_addr((unsigned long)func);
	const struct jf_named_text *sym = NULL;

	if (mod && mod->mod != THIS_MODULE)
		sym = jf_names_find(names, mod->mod, (unsigned long)func);
	return sym ? sym->name : jf_target_name(func, buf);
}

static void jf_show_function(struct seq_file *m, const struct jf_walk *w)
{
	/* Under jf_mutex. Too long for a stack, and a list must not fail for it. */
	static char buf[JF_NAME_LEN];
	const struct jf_ctl *ctl = w->ctl;
	union jf_value v = jf_ent_value(ctl->ent);

	jf_show_name(m, ctl);
	seq_printf(m, " %s %pK %s %llu %u%s%s\n", ctl->mod->mod->name,
		   (void *)ctl->tramp, jf_shown_target(w->names, v.func, buf),
		   ctl->updates, ctl->num_sites, jf_contract_name(ctl->ent),
		   ctl->pin ? " pinned" : "");
}

static int jf_show_functions(struct seq_file *m, const struct jf_file *f)
{
	seq_puts(m, "# name module trampoline target updates sites [contract] [pinned]\n");
	return jf_show_all(m, JF_ENT_FUNC, jf_show_function);
}

/* In the form in which it can be written. */
static int jf_show_target(struct seq_file *m, struct jf_walk *w, void *unused)
{
	/* As in jf_show_function(). */
	static char buf[JF_NAME_LEN];
	const struct jf_ctl *ctl = w->ctl;

	if (ctl->ent->type != JF_ENT_FUNC || ctl->ent->flags & JF_ENT_TRACE)
		return 0;
	seq_printf(m, "%s:", ctl->mod->mod->name);
	jf_show_name(m, ctl);
	seq_printf(m, "=%s\n",
		   jf_shown_target(w->names, jf_ent_value(ctl->ent).func, buf));
	return 0;
}

static int jf_show_targets(struct seq_file *m, const struct jf_file *f)
{
	return jf_walk_show(m, NULL, jf_show_target, NULL);
}

static int jf_store_functions(char *cmd, const struct jf_file *f)
{
	struct jf_assignment a;
	LIST_HEAD(changes);
	int err;

	jf_lock();
	while ((err = jf_parse_assignment(&cmd, &a)) > 0) {
		err = jf_add_change_by_name(&changes, a.module, a.name,
					    a.rank, a.target);
		if (err)
			break;
	}
	if (!err && list_empty(&changes))
		err = -EINVAL;
	if (!err)
		err = jf_commit_locked(&changes);
	jf_unlock();
	jf_free_changes(&changes);
	return err;
}

/* --- keys -------------------------------------------------------------- */

static void jf_show_key(struct seq_file *m, const struct jf_walk *w)
{
	const struct jf_ctl *ctl = w->ctl;
	const struct jf_key *key = jf_key_of(ctl->ent);

	seq_puts(m, ctl->ent->name);
	if (ctl->index >= 0)
		seq_printf(m, "[%d]", ctl->index);
	seq_printf(m, " %s %s%s %d %llu %u\n", ctl->mod->mod->name,
		   jf_key_enabled(key) ? "on" : "off",
		   ctl->ent->flags & JF_ENT_RO ? ",ro" : "", jf_key_count(key),
		   ctl->updates, ctl->num_sites);
}

static int jf_show_keys(struct seq_file *m, const struct jf_file *f)
{
	seq_puts(m, "# name module state count updates sites\n");
	return jf_show_all(m, JF_ENT_KEY, jf_show_key);
}

/* --- stats ------------------------------------------------------------- */

static int jf_show_stats(struct seq_file *m, const struct jf_file *f)
{
	const struct jf_files *room;
	struct jf_arch_stats a;
	struct jf_stats s;

	jf_stats_get(&s);
	jf_arch_stats_get(&a);
	seq_printf(m, "backend %s\n", jf_arch_backend());
	seq_printf(m, "updates %llu\n", s.updates);
	seq_printf(m, "batches %llu\n", s.batches);
	seq_printf(m, "errors %llu\n", s.errors);
	seq_printf(m, "sites_patched %llu\n", s.patched);
	seq_printf(m, "sync_broadcasts %llu\n", s.broadcasts);
	seq_printf(m, "int3_hits %llu\n", a.int3_hits);
	seq_printf(m, "update_ns_last %llu\n", s.ns_last);
	seq_printf(m, "update_ns_min %llu\n", s.ns_min);
	seq_printf(m, "update_ns_max %llu\n", s.ns_max);
	seq_printf(m, "window_ns_last %llu\n", s.window_last);
	seq_printf(m, "window_ns_max %llu\n", s.window_max);
	seq_printf(m, "quiesces %llu\n", s.quiesces);
	seq_printf(m, "scans %llu\n", s.scans);
	seq_printf(m, "scan_tasks %llu\n", s.scan_tasks);
	seq_printf(m, "scan_ns_last %llu\n", s.scan_ns_last);
	seq_printf(m, "scan_ns_max %llu\n", s.scan_ns_max);
	seq_printf(m, "texts_read %llu\n", s.texts_read);
	seq_printf(m, "fallbacks %llu\n", s.fallbacks);
	seq_printf(m, "by_xmc %llu\n", s.by_xmc);
	seq_printf(m, "by_kernel %llu\n", s.by_kernel);
	seq_printf(m, "trace_transitions %llu\n", jf_trace_stats.transitions);
	seq_printf(m, "trace_iter_many %llu\n", jf_trace_stats.iter_many);
	seq_printf(m, "trace_iter_exhausted %llu\n",
		   jf_trace_stats.iter_exhausted);
	seq_printf(m, "images_used %u\n", a.images_used);
	seq_printf(m, "images_total %u\n", a.images_total);
	mutex_lock(&jf_rooms_mutex);
	list_for_each_entry(room, &jf_rooms, list)
		if (room->show_stats)
			room->show_stats(m);
	mutex_unlock(&jf_rooms_mutex);
	return 0;
}

static int jf_show_help(struct seq_file *m, const struct jf_file *f)
{
	const struct jf_files *room;
	unsigned int i;

	mutex_lock(&jf_rooms_mutex);
	list_for_each_entry(room, &jf_rooms, list)
		for (i = 0; i < room->num; i++)
			if (room->file[i].help)
				seq_puts(m, room->file[i].help);
	mutex_unlock(&jf_rooms_mutex);
	return 0;
}

/* --- files ------------------------------------------------------------- */

static const struct jf_file jf_own_files[] = {
	{
		.name	= "functions",
		.show	= jf_show_functions,
		.store	= jf_store_functions,
		.blind	= true,
		.usage	= "name=target ...",
		.help	=
"functions        all dynamic functions, with trampoline and call sites\n"
"    echo a=f m:b#2=g > functions   retarget by name, all or none; only to targets\n"
"                          that the owner allows, or \"default\", or \"none\"\n",
	}, {
		.name	= "targets",
		.show	= jf_show_targets,
		.help	=
"targets          dynamic functions with their targets, as they can be written:\n"
"    cat targets > saved, and later cat saved > functions\n",
	}, {
		.name	= "keys",
		.show	= jf_show_keys,
		.help	=
"keys             all jump-label keys: state (ro: fixed once its module has been\n"
"                 initialised), users, changes, sites; then each branch site: its\n"
"                 form (likely, unlikely), place, bytes and what they do\n",
	}, {
		.name	= "stats",
		.show	= jf_show_stats,
		.help	=
"stats            counters: updates, sites, broadcasts, INT3 hits, latencies\n",
	}, {
		.name	= "help",
		.show	= jf_show_help,
		.help	=
"help             this text\n",
	},
};

static struct jf_files jf_own = {
	.file	= jf_own_files,
	.num	= ARRAY_SIZE(jf_own_files),
	.owner	= THIS_MODULE,
};

static int jf_file_show(struct seq_file *m, void *v)
{
	const struct jf_file *f = m->private;

	return f->show(m, f);
}

static struct module *jf_file_owner(const struct jf_file *f)
{
	const struct jf_files *room;
	struct module *owner = NULL;

	mutex_lock(&jf_rooms_mutex);
	list_for_each_entry(room, &jf_rooms, list)
		if (f >= room->file && f < room->file + room->num)
			owner = room->owner;
	mutex_unlock(&jf_rooms_mutex);
	return owner;
}

/* While this runs, jf_debugfs_remove() does not go on. */
static int jf_file_open(struct inode *inode, struct file *file)
{
	struct module *owner = jf_file_owner(inode->i_private);
	int err;

	if (!try_module_get(owner))
		return -ENODEV;
	err = single_open(file, jf_file_show, inode->i_private);
	if (err)
		module_put(owner);
	return err;
}

static int jf_file_release(struct inode *inode, struct file *file)
{
	struct module *owner = jf_file_owner(inode->i_private);
	int err = single_release(inode, file);

	module_put(owner);
	return err;
}

static ssize_t jf_file_write(struct file *file, const char __user *ubuf,
			     size_t count, loff_t *ppos)
{
	const struct jf_file *f = file_inode(file)->i_private;
	char *buf;
	int err;

	if (!f->store)
		return -EINVAL;
	/* A later part of something longer is no command. */
	if (count > JF_WRITE_MAX || *ppos)
		return jf_file_command(f, NULL, 0);
	buf = memdup_user_nul(ubuf, count);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	err = jf_file_command(f, buf, count);
	kfree(buf);
	return err ?: count;
}

static const struct file_operations jf_fops = {
	.owner		= THIS_MODULE,
	.open		= jf_file_open,
	.read		= seq_read,
	.write		= jf_file_write,
	.llseek		= seq_lseek,
	.release	= jf_file_release,
};

int jf_debugfs_add(struct jf_files *room)
{
	int err = PTR_ERR_OR_ZERO(jf_dir);
	struct dentry *file;
	unsigned int i;

	mutex_lock(&jf_rooms_mutex);
	list_add_tail(&room->list, &jf_rooms);
	mutex_unlock(&jf_rooms_mutex);
	for (i = 0; !IS_ERR(jf_dir) && i < room->num; i++) {
		const struct jf_file *f = &room->file[i];

		file = debugfs_create_file(f->name, f->store ? 0600 : 0400,
					   jf_dir, (void *)f, &jf_fops);
		/* Everything works without it. */
		if (IS_ERR(file)) {
			pr_warn("no file %s in debugfs (%ld)\n", f->name,
				PTR_ERR(file));
			err = err ?: PTR_ERR(file);
		}
	}
	jf_knobs_add(room);
	return err;
}
EXPORT_SYMBOL_GPL(jf_debugfs_add);

void jf_debugfs_remove(struct jf_files *room)
{
	unsigned int i;

	jf_knobs_remove(room);
	/* Waits until no task reads or writes one of them. */
	for (i = 0; i < room->num; i++) {
		const struct jf_file *f = &room->file[i];
		struct dentry *file = debugfs_lookup(f->name, jf_dir);

		if (IS_ERR_OR_NULL(file))
			continue;
		/* It is not ours if the name was taken. */
		if (d_inode(file)->i_private == f)
			debugfs_remove(file);
		dput(file);
	}
	mutex_lock(&jf_rooms_mutex);
	list_del(&room->list);
	mutex_unlock(&jf_rooms_mutex);
}
EXPORT_SYMBOL_GPL(jf_debugfs_remove);

void jf_debugfs_init(void)
{
	jf_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	/* Everything works without it. */
	if (IS_ERR(jf_dir))
		pr_info("no folder in debugfs (%ld): this kernel has none, or was booted with debugfs=off; some of the files are in /sys/kernel/jumpfunc\n",
			PTR_ERR(jf_dir));
	jf_knobs_init();
	jf_debugfs_add(&jf_own);
	if (security_locked_down(LOCKDOWN_DEBUGFS))
		pr_info("the kernel is locked down: files in debugfs that can be written cannot be opened; use those in /sys/kernel/jumpfunc\n");
}

void jf_debugfs_exit(void)
{
	jf_knobs_remove(&jf_own);
	jf_knobs_exit();
	debugfs_remove_recursive(jf_dir);
}
