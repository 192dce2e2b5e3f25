// SPDX-License-Identifier: GPL-2.0
/* The file "forms" in debugfs: write how many rounds to measure, read the table. */
#include "forms.h"
#include "debugfs/debugfs.h"

#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

/* Held by the writer that measures, and by readers. */
static DEFINE_MUTEX(jff_lock);
static struct jff_result results[JFF_FORMS];
static unsigned int rounds;	/* of the results; 0: there are none */

/* @hundredths of something, right-aligned. */
static void print(struct seq_file *m, int width, s64 hundredths)
{
	u64 n = hundredths < 0 ? -hundredths : hundredths;
	u32 rest;
	char text[32];

	n = div_u64_rem(n, 100, &rest);
	snprintf(text, sizeof(text), "%s%llu.%02u", hundredths < 0 ? "-" : "", n, rest);
	seq_printf(m, " %*s", width, text);
}

static void print_ns(struct seq_file *m, int width, u64 ps, u64 without)
{
	print(m, width, div_s64((s64)(ps - without) + (ps < without ? -5 : 5), 10));
}

/* Of one probe. */
static void print_count(struct seq_file *m, unsigned int n, unsigned int without)
{
	print(m, 6, div_s64(((s64)n - without) * 100, JFF_HOT));
}

static void print_form(struct seq_file *m, const struct jff_form *f, const struct jff_result *r)
{
	const struct jff_result *none = &results[0];
	static const int widths[JFF_KINDS] = { 7, 8 };
	int kind;

	seq_printf(m, "%-14s", f->name);
	for (kind = 0; kind < JFF_KINDS; kind++) {
		print_ns(m, widths[kind], r->off[kind], none->off[kind]);
		print_count(m, r->count[kind].instructions, none->count[kind].instructions);
		print_count(m, r->count[kind].bytes, none->count[kind].bytes);
	}
	print_ns(m, 9, r->other, none->off[JFF_PLAIN_RUN]);
	print_ns(m, 9, r->on, none->off[JFF_PLAIN_RUN]);
	seq_printf(m, " %5u", f->kept);
	seq_printf(m, " %8llu.%llu", div_u64(r->enable[0], 1000), div_u64(r->enable[0], 100) % 10);
	seq_printf(m, " %9llu.%llu", div_u64(r->enable[1], 1000), div_u64(r->enable[1], 100) % 10);
	seq_printf(m, " %5llu, %4llu\n", r->broadcasts[0], r->broadcasts[1]);
}

static int show(struct seq_file *m, const struct jf_file *file)
{
	const struct jff_result *none = &results[0];
	unsigned int i;

	mutex_lock(&jff_lock);
	if (!rounds) {
		seq_puts(m, "# write a number of rounds: echo 200 >forms\n");
		goto out;
	}
	seq_printf(m, "%-14s %7s %6s %6s %8s %6s %6s %9s %9s %5s %10s %11s %11s\n",
		   "form", "off ns", "insns", "bytes", "busy ns", "insns", "bytes",
		   "other on", "on ns", "kept", "enable 1", "5,000, us", "broadcasts");
	for (i = 1; i < JFF_FORMS; i++)
		print_form(m, jff_forms[i], &results[i]);
	seq_puts(m, "without a probe:");
	print_ns(m, 0, none->off[JFF_PLAIN_RUN], 0);
	seq_puts(m, " ns, busy");
	print_ns(m, 0, none->off[JFF_BUSY_RUN], 0);
	seq_printf(m, " ns; %u rounds\n", rounds);
out:
	mutex_unlock(&jff_lock);
	return 0;
}

static int store(char *cmd, const struct jf_file *file)
{
	unsigned int n;
	int err = kstrtouint(cmd, 10, &n);

	if (err || !n || n > 10000) {
		pr_warn_ratelimited("forms: \"%s\": a number of rounds from 1 to 10000 is needed\n",
				    cmd);
		return -EINVAL;
	}
	if (!mutex_trylock(&jff_lock))
		return -EBUSY;
	rounds = 0;
	err = jff_measure(results, n);
	if (!err)
		rounds = n;
	mutex_unlock(&jff_lock);
	return err;
}

static const struct jf_file file = {
	.name	= "forms",
	.show	= show,
	.store	= store,
};

static struct jf_files files = {
	.file	= &file,
	.num	= 1,
	.owner	= THIS_MODULE,
};

static int __init forms_init(void)
{
	int err = jf_debugfs_add(&files);

	if (err)
		jf_debugfs_remove(&files);
	return err;
}

static void __exit forms_exit(void)
{
	jf_debugfs_remove(&files);
}

module_init(forms_init);
module_exit(forms_exit);
MODULE_LICENSE("GPL");
MODULE_AUTHOR("The jumpfunc developers");
MODULE_DESCRIPTION("Three forms of SDT probes, compared: /sys/kernel/debug/jumpfunc/forms");
