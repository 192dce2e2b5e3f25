// SPDX-License-Identifier: GPL-2.0
/* Adds a file to jumpfunc's directory, under a name that the engine has taken. */
#include "../../../kernel/debugfs/debugfs.h"

#include <linux/module.h>
#include <linux/seq_file.h>

static int second_show(struct seq_file *m, const struct jf_file *f)
{
	seq_puts(m, "second\n");
	return 0;
}

static const struct jf_file file = { .name = "stats", .show = second_show };
static struct jf_files files = { .file = &file, .num = 1, .owner = THIS_MODULE };

static int __init second_init(void)
{
	jf_debugfs_add(&files);
	return 0;
}

static void __exit second_exit(void)
{
	jf_debugfs_remove(&files);
}

module_init(second_init);
module_exit(second_exit);
MODULE_DESCRIPTION("jumpfunc: a second file of one name");
MODULE_LICENSE("GPL");
