/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the test modules: cases, checks, and text written without
 * telling jumpfunc.
 *
 * /sys/kernel/debug/<module>/
 *   run	write the name of a case, or "all"; the result of the write is what
 *		the case returns
 *   results	one line per case that ran, "ok name (N checks)" or "not ok name",
 *		with the failed checks before it as "# ..."; reading clears it.  A
 *		case that returns JFT_SKIP needs text that is patched
 *
 * A module defines its cases in jft_cases[] and uses jft_init() and jft_exit().
 */
#ifndef JF_TEST_H
#define JF_TEST_H

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <jumpfunc/dynfunc.h>

#include "../files.h"

#ifdef CONFIG_ARM64
#include <asm/barrier.h>
#include <asm/cacheflush.h>
#elif JF_HAVE_PATCHING
#include <asm/sync_core.h>
#endif

/* For cases on architectures without patching, where dynfunc_name is a pointer. */
#define JFT_SKIP	(-ENOTSUPP)

struct jft_case {
	const char	*name;
	int		(*run)(void);
};

extern const struct jft_case jft_cases[];

#define JFT_LOG_SIZE	(64 << 10)

static char *jft_log;
static size_t jft_len;
static unsigned int jft_checks, jft_failed;
static struct dentry *jft_dir;
static DEFINE_MUTEX(jft_mutex);

static __printf(1, 2) void jft_print(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	jft_len += vscnprintf(jft_log + jft_len, JFT_LOG_SIZE - jft_len, fmt, args);
	va_end(args);
}

#define CHECK(cond)							\
({									\
	bool jft_ok = (cond);						\
									\
	jft_checks++;							\
	if (!jft_ok) {							\
		jft_failed++;						\
		jft_print("# %s:%d: %s\n", __func__, __LINE__, #cond);	\
	}								\
	jft_ok;								\
})

/* Integers and pointers alike; evaluates both once. */
#define CHECK_EQ(got, want)						\
({									\
	unsigned long jft_g = (unsigned long)(got);			\
	unsigned long jft_w = (unsigned long)(want);			\
									\
	jft_checks++;							\
	if (jft_g != jft_w) {						\
		jft_failed++;						\
		jft_print("# %s:%d: %s is %lx (%ld), not %lx (%ld)\n",	\
			  __func__, __LINE__, #got, jft_g, jft_g, jft_w, jft_w); \
	}								\
	jft_g == jft_w;							\
})

static int jft_run(const struct jft_case *c)
{
	unsigned int before = jft_failed, checks = jft_checks;
	int err;

	err = c->run();
	checks = jft_checks - checks;
	if (err == JFT_SKIP) {
		jft_print("ok %s # SKIP no text is patched on this architecture\n", c->name);
		return 0;
	}
	if (jft_failed != before)
		jft_print("not ok %s (%u of %u checks)\n", c->name, jft_failed - before, checks);
	else if (checks)
		jft_print("ok %s (%u checks)\n", c->name, checks);
	return err;
}

static ssize_t jft_run_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	char buf[32], *name = test_command(buf, sizeof(buf), ubuf, count);
	const struct jft_case *c;
	bool all;
	int err = -ENOENT;

	if (IS_ERR(name))
		return PTR_ERR(name);
	all = !strcmp(name, "all");

	mutex_lock(&jft_mutex);
	for (c = jft_cases; c->name; c++)
		if (all || !strcmp(name, c->name))
			err = jft_run(c);
	mutex_unlock(&jft_mutex);
	return err ?: count;
}

static ssize_t jft_results_read(struct file *file, char __user *ubuf, size_t count, loff_t *pos)
{
	ssize_t n;

	mutex_lock(&jft_mutex);
	n = simple_read_from_buffer(ubuf, count, pos, jft_log, jft_len);
	if (!n)
		jft_len = 0;
	mutex_unlock(&jft_mutex);
	return n;
}

TEST_WRITE_ONLY(jft_run);

static const struct file_operations jft_results_fops = {
	.owner = THIS_MODULE,
	.read = jft_results_read,
	.llseek = default_llseek,
};

static int __maybe_unused jft_init(void)
{
	jft_log = vmalloc(JFT_LOG_SIZE);
	if (!jft_log)
		return -ENOMEM;
	jft_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("run", 0200, jft_dir, NULL, &jft_run_fops);
	debugfs_create_file("results", 0400, jft_dir, NULL, &jft_results_fops);
	return 0;
}

static void __maybe_unused jft_exit(void)
{
	debugfs_remove_recursive(jft_dir);
	vfree(jft_log);
}

/* --- this object file's own sites --------------------------------------- */

static __maybe_unused unsigned long jft_site_addr(const struct jf_site_rec *r)
{
	return (unsigned long)&r->addr + r->addr;
}

/* The first site of @f in this object file at or after @from; 0: none. */
static __maybe_unused unsigned long jft_site_of(const struct jf_func *f, const void *from)
{
	const struct jf_site_rec *r;
	unsigned long found = 0;

	for (r = __jf_tu_sites; r < __jf_tu_sites_end; r++) {
		unsigned long addr = jft_site_addr(r);

		if (r->ent == &f->ent && addr >= (unsigned long)from && (!found || addr < found))
			found = addr;
	}
	return found;
}

static __maybe_unused unsigned int jft_num_sites(const struct jf_func *f)
{
	const struct jf_site_rec *r;
	unsigned int n = 0;

	for (r = __jf_tu_sites; r < __jf_tu_sites_end; r++)
		n += r->ent == &f->ent;
	return n;
}

/* --- text, written without telling jumpfunc ------------------------------ */

static void jft_sync(void *unused)
{
#ifdef CONFIG_ARM64
	isb();
#elif JF_HAVE_PATCHING
	sync_core();
#endif
}

/* The bytes of a site, and those that a debugger would write over them. */
#ifdef CONFIG_ARM64
#define JFT_SITE_SIZE	4
#define JFT_BREAK	"\x00\x00\x20\xd4"		/* brk #0 */
#define JFT_BREAK_SIZE	4
#else
#define JFT_SITE_SIZE	5
#define JFT_BREAK	"\xcc"			/* int3 */
#define JFT_BREAK_SIZE	1
#endif

/* Where the site of a trampoline is. */
static unsigned long __maybe_unused jft_tramp_site(const void *tramp)
{
	const u8 *p = tramp;

	OPTIMIZER_HIDE_VAR(p);
#ifdef CONFIG_ARM64
	/* nop or b */
	while (*(const u32 *)p != 0xd503201f && p[3] >> 2 != 5)
		p += 4;
#else
	while (*p != 0xe9)
		p++;
#endif
	return (unsigned long)p;
}

/* Writes up to a page of text through an alias, and makes all CPUs see it. */
static int __maybe_unused jft_poke(unsigned long addr, const void *bytes, size_t len)
{
	struct page *pages[2];
	unsigned int n = 1;
	void *map;

	pages[0] = vmalloc_to_page((void *)addr);
	if (offset_in_page(addr) + len > PAGE_SIZE)
		pages[n++] = vmalloc_to_page((void *)(addr + len - 1));
	if (!pages[0] || !pages[n - 1])
		return -EFAULT;
	map = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	if (!map)
		return -ENOMEM;
	memcpy(map + offset_in_page(addr), bytes, len);
	vunmap(map);
#ifdef CONFIG_ARM64
	flush_icache_range(addr, addr + len);
#endif
	on_each_cpu(jft_sync, NULL, 1);
	return 0;
}

#endif /* JF_TEST_H */
