// SPDX-License-Identifier: GPL-2.0
/*
 * A write to a file, in debugfs or in sysfs, becomes a command: parse/parse.c parses it, and the
 * store() of the file carries it out.
 */
#include "debugfs/debugfs.h"

#include "index/state.h"
#include "parse/parse.h"

#include <linux/errno.h>
#include <linux/printk.h>

int jf_file_command(const struct jf_file *f, char *cmd, size_t len)
{
	int err;

	if (!len || len > JF_WRITE_MAX) {
		pr_warn_ratelimited("%s: a command is one write of 1 to %u bytes\n",
				    f->name, JF_WRITE_MAX);
		return -EINVAL;
	}
	err = jf_parse_command(cmd, len);
	if (err) {
		pr_warn_ratelimited("%s: a NUL byte in the command\n",
				    f->name);
		return err;
	}
	err = f->store(cmd, f);
	if (err == -EINVAL && f->usage)
		pr_warn_ratelimited("%s: not understood; write %s\n",
				    f->name, f->usage);
	return err;
}
