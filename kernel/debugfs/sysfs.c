// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/jumpfunc/: the knobs among the files of debugfs, for kernels that
 * are locked down. Lockdown refuses to open a writable file of debugfs, because
 * such a file may do anything. These knobs only choose
 * among functions, modes and numbers that are built into signed modules: no
 * address and no code comes from userspace. So they are offered in sysfs, too,
 * and lockdown is not circumvented.
 *
 * A file here is another way to the same struct jf_file: the same command, the
 * same parser, the same errors. It shows one value, as files of sysfs do, or
 * nothing: tables are in debugfs, in files that lockdown lets be read.
 */
#include "debugfs/debugfs.h"

#include "index/state.h"

#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

/* One file. */
struct jf_knob {
	struct kobj_attribute	attr;
	const struct jf_file	*file;
	struct list_head	list;
};

static struct kobject *jf_knobs_dir;

static DEFINE_MUTEX(jf_knobs_mutex);
/* Under that: all files. */
static LIST_HEAD(jf_knobs);

static ssize_t jf_knob_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	const struct jf_knob *k = container_of(attr, struct jf_knob, attr);
	/* As much of one as functions that print need: sysfs gives a page. */
	struct seq_file m = { .buf = buf, .size = PAGE_SIZE };
	int err = k->file->knob(&m, k->file);

	if (err)
		return err;
	return seq_has_overflowed(&m) ? -EFBIG : m.count;
}

static ssize_t jf_knob_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	const struct jf_knob *k = container_of(attr, struct jf_knob, attr);
	char *cmd;
	int err;

	cmd = kmemdup(buf, count + 1, GFP_KERNEL);
	if (!cmd)
		return -ENOMEM;
	cmd[count] = '\0';
	err = jf_file_command(k->file, cmd, count);
	kfree(cmd);
	return err ?: count;
}

static int jf_knob_add(const struct jf_file *f)
{
	struct jf_knob *k = kzalloc(sizeof(*k), GFP_KERNEL);
	int err;

	if (!k)
		return -ENOMEM;
	sysfs_attr_init(&k->attr.attr);
	k->attr.attr.name = f->name;
	k->attr.attr.mode = f->knob ? 0600 : 0200;
	k->attr.show = f->knob ? jf_knob_show : NULL;
	k->attr.store = jf_knob_store;
	k->file = f;
	err = sysfs_create_file(jf_knobs_dir, &k->attr.attr);
	if (err) {
		kfree(k);
		return err;
	}
	mutex_lock(&jf_knobs_mutex);
	list_add_tail(&k->list, &jf_knobs);
	mutex_unlock(&jf_knobs_mutex);
	return 0;
}

void jf_knobs_add(const struct jf_files *room)
{
	unsigned int i;

	if (!jf_knobs_dir)
		return;
	for (i = 0; i < room->num; i++) {
		const struct jf_file *f = &room->file[i];
		int err = f->knob || f->blind ? jf_knob_add(f) : 0;

		/* Everything works without it. */
		if (err)
			pr_warn("no file %s in /sys/kernel/jumpfunc (%d)\n",
				f->name, err);
	}
}

void jf_knobs_remove(const struct jf_files *room)
{
	struct jf_knob *k, *next;
	LIST_HEAD(removed);

	mutex_lock(&jf_knobs_mutex);
	list_for_each_entry_safe(k, next, &jf_knobs, list)
		if (k->file >= room->file && k->file < room->file + room->num)
			list_move(&k->list, &removed);
	mutex_unlock(&jf_knobs_mutex);
	/* Waits until no task reads or writes one of them. */
	list_for_each_entry_safe(k, next, &removed, list) {
		sysfs_remove_file(jf_knobs_dir, &k->attr.attr);
		kfree(k);
	}
}

void jf_knobs_init(void)
{
	jf_knobs_dir = kobject_create_and_add(KBUILD_MODNAME, kernel_kobj);
	if (!jf_knobs_dir)
		pr_warn("no folder /sys/kernel/jumpfunc\n");
}

void jf_knobs_exit(void)
{
	kobject_put(jf_knobs_dir);
}
