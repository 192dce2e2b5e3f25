// SPDX-License-Identifier: GPL-2.0
/*
 * The places where text can be written. Watches the writable mappings that jumpfunc makes of
 * modules' text, and walks the kernel's page tables.
 *
 * /sys/kernel/debug/jf_wx/
 *   aliases	"name value":
 *		  maps, unmaps	mappings that jumpfunc made, took away
 *		  bad_maps	of these, asked for with other permissions than
 *				readable, writable, not executable
 *		  bad_unmaps	of these, not mapped like that just before the end
 *		  pages		pages of text that have been mapped so
 *		  writable	mappings of these pages, here and now, outside of
 *				the direct map, that allow writing
 *		  executable	... that allow executing: the text itself
 *		  wx		pages of the kernel, here and now, that allow both
 *		reading it walks the page tables
 *
 * The first numbers come from kprobes on vmap() and vunmap(): so each mapping is
 * seen in the moment before its removal, however short it lived.
 */
#include <linux/debugfs.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <jumpfunc/batch.h>

/* Pages of text that have been mapped for writing. */
#define MAX_PAGES	1024

static unsigned long pfns[MAX_PAGES];
static unsigned int num_pfns, too_many;
static DEFINE_RAW_SPINLOCK(pfns_lock);
static atomic_t maps, unmaps, bad_maps, bad_unmaps;

static bool is_known(unsigned long pfn)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(num_pfns); i++)
		if (pfns[i] == pfn)
			return true;
	return false;
}

static void remember(unsigned long pfn)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pfns_lock, flags);
	if (!is_known(pfn)) {
		if (num_pfns < MAX_PAGES)
			pfns[num_pfns++] = pfn;
		else
			too_many++;
	}
	raw_spin_unlock_irqrestore(&pfns_lock, flags);
}

/* --- the page tables --------------------------------------------------------- */

/**
 * struct mapping - the mapping of an address
 * @pfn:   the page; of a large one, that of the address
 * @size:  bytes up to the next address that may differ
 * @there: it is mapped
 * @write: by all levels together
 * @exec:  by all levels together
 */
struct mapping {
	unsigned long	pfn, size;
	bool		there, write, exec;
};

static void add_level(struct mapping *m, unsigned long flags)
{
	m->write &= !!(flags & _PAGE_RW);
	m->exec &= !(flags & _PAGE_NX);
}

static unsigned long rest_of(unsigned long addr, unsigned long size)
{
	return size - (addr & (size - 1));
}

static struct mapping look_up(unsigned long addr)
{
	struct mapping m = { .write = true, .exec = true };
	pgd_t *pgd = pgd_offset_pgd(current->active_mm->pgd, addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;
	pte_t *pte;

	m.size = rest_of(addr, PGDIR_SIZE);
	if (pgd_none(*pgd))
		return m;
	p4d = p4d_offset(pgd, addr);
	m.size = rest_of(addr, P4D_SIZE);
	if (p4d_none(*p4d))
		return m;
	add_level(&m, p4d_flags(*p4d));
	pud = pud_offset(p4d, addr);
	m.size = rest_of(addr, PUD_SIZE);
	if (pud_none(*pud))
		return m;
	add_level(&m, pud_flags(*pud));
	if (pud_leaf(*pud)) {
		m.there = pud_present(*pud);
		m.pfn = pud_pfn(*pud) + ((addr & ~PUD_MASK) >> PAGE_SHIFT);
		return m;
	}
	pmd = pmd_offset(pud, addr);
	m.size = rest_of(addr, PMD_SIZE);
	if (pmd_none(*pmd))
		return m;
	add_level(&m, pmd_flags(*pmd));
	if (pmd_leaf(*pmd)) {
		m.there = pmd_present(*pmd);
		m.pfn = pmd_pfn(*pmd) + ((addr & ~PMD_MASK) >> PAGE_SHIFT);
		return m;
	}
	pte = pte_offset_kernel(pmd, addr);
	m.size = rest_of(addr, PAGE_SIZE);
	m.there = pte_present(*pte);
	m.pfn = pte_pfn(*pte);
	add_level(&m, pte_flags(*pte));
	return m;
}

struct found {
	unsigned long	writable, executable, wx;
};

static void walk(unsigned long addr, unsigned long end, bool aliases, struct found *f)
{
	struct mapping m;

	for (; addr < end; addr += m.size) {
		unsigned long i;

		m = look_up(addr);
		if (m.there && m.write && m.exec) {
			if (!f->wx)
				pr_err("jf_wx: writable and executable at %lx, %lu bytes\n", addr, m.size);
			f->wx += m.size / PAGE_SIZE;
		}
		for (i = 0; aliases && m.there && i < m.size / PAGE_SIZE; i++) {
			if (!is_known(m.pfn + i))
				continue;
			if (m.write && !f->writable)
				pr_err("jf_wx: text can be written at %lx\n", addr + i * PAGE_SIZE);
			f->writable += m.write;
			f->executable += m.exec;
		}
		/* The last address of all has none after it. */
		if (addr + m.size < addr)
			return;
		cond_resched();
	}
}

/* --- each mapping in its last moment ------------------------------------------ */

static bool is_jumpfunc(struct pt_regs *regs)
{
	char name[KSYM_SYMBOL_LEN];

	/* At the entry of a function, the caller's address is on top of the stack. */
	sprint_symbol(name, *(unsigned long *)regs->sp);
	return strstr(name, "[jumpfunc]");
}

static int on_vmap(struct kprobe *p, struct pt_regs *regs)
{
	struct page **pages = (struct page **)regs->di;
	unsigned int i;

	if (!is_jumpfunc(regs))
		return 0;
	for (i = 0; i < (unsigned int)regs->si; i++)
		remember(page_to_pfn(pages[i]));
	if (!(regs->cx & _PAGE_RW) || !(regs->cx & _PAGE_NX))
		atomic_inc(&bad_maps);
	atomic_inc(&maps);
	return 0;
}

static int on_vunmap(struct kprobe *p, struct pt_regs *regs)
{
	struct mapping m;

	if (!is_jumpfunc(regs))
		return 0;
	m = look_up(regs->di);
	if (!m.there || !m.write || m.exec || !is_known(m.pfn))
		atomic_inc(&bad_unmaps);
	atomic_inc(&unmaps);
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "vmap", .pre_handler = on_vmap },
	{ .symbol_name = "vunmap", .pre_handler = on_vunmap },
};

static int aliases_show(struct seq_file *m, void *v)
{
	struct found f = { };

	/* Text, modules: from the kernel's image up to the fixed mappings. */
	walk(VMALLOC_START, VMALLOC_END, true, &f);
	walk(__START_KERNEL_map, MODULES_END, true, &f);
	walk(PAGE_OFFSET, VMALLOC_START, false, &f);
	seq_printf(m, "maps %d\nunmaps %d\n", atomic_read(&maps), atomic_read(&unmaps));
	seq_printf(m, "bad_maps %d\nbad_unmaps %d\n", atomic_read(&bad_maps), atomic_read(&bad_unmaps));
	seq_printf(m, "pages %u\ntoo_many %u\n", num_pfns, too_many);
	seq_printf(m, "writable %lu\nexecutable %lu\nwx %lu\n", f.writable, f.executable, f.wx);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(aliases);

static struct dentry *dir;

static int __init wx_init(void)
{
	unsigned int i;
	int err;

	/* So that this is only loaded while jumpfunc is. */
	jf_quiesce();
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = register_kprobe(&probes[i]);
		if (err) {
			pr_err("jf_wx: no kprobe on %s (%d)\n", probes[i].symbol_name, err);
			if (i)
				unregister_kprobe(&probes[0]);
			return err;
		}
	}
	dir = debugfs_create_dir("jf_wx", NULL);
	debugfs_create_file("aliases", 0400, dir, NULL, &aliases_fops);
	return 0;
}

static void __exit wx_exit(void)
{
	debugfs_remove_recursive(dir);
	unregister_kprobe(&probes[0]);
	unregister_kprobe(&probes[1]);
}

module_init(wx_init);
module_exit(wx_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Watches where text can be written");
