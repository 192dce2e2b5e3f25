// SPDX-License-Identifier: GPL-2.0
/* Page tables' information about an address of the kernel. */
#include "arch/x86/x86.h"

#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/pgtable.h>

/*
 * The entry of an address, as it stood at one moment. No lock that a module can
 * take keeps page tables. Those of modules' text are freed while the text is in
 * use: since 6.15, when another module is loaded, small pages may be made a large
 * one. The kernel then writes the entry of the large page, flushes all TLBs, and
 * frees the table. So this walks
 *
 *  - with interrupts off: where the flush is an IPI, no table that was reached is
 *    freed before they are on again;
 *
 *  - and twice, since some CPUs flush the others' TLBs without an IPI (INVLPGB). A
 *    table is unlinked before it is freed. One that the second walk still leads to
 *    was linked when the entry was read. (A walk reads the table above it as well,
 *    which would only be freed for a page of 1 GiB. No module has one.)
 *
 *   walk				kernel
 *   read an entry of the table		write the large page's entry
 *   smp_rmb()				(flushes: a barrier on each CPU)
 *   walk again; must be linked	free the table
 *
 * The table at the end of the first walk can already be unmapped, hence the careful read.
 */
static bool jf_entry_get(unsigned long addr, pte_t *entry, unsigned int *level)
{
	unsigned int again;
	unsigned long flags;
	const pte_t *p;
	bool read, same;

	do {
		local_irq_save(flags);
		p = lookup_address(addr, level);
		read = p && !copy_from_kernel_nofault(entry, p, sizeof(*entry));
		/* The entry before the one that leads to it. Pairs with the flush. */
		smp_rmb();
		same = lookup_address(addr, &again) == p && again == *level;
		local_irq_restore(flags);
	} while (!same);
	/* lookup_address() also returns entries of pages that are not there. */
	return read && pte_flags(*entry) & _PAGE_PRESENT;
}

/* The page that an address of the kernel is mapped to; NULL: none. */
struct page *jf_page_at(unsigned long addr)
{
	unsigned long phys, mask;
	unsigned int level;
	pte_t entry;

	if (!jf_entry_get(addr, &entry, &level))
		return NULL;
	/* The flags of a large page reach into the address bits of a small one. */
	mask = page_level_mask(level);
	phys = ((pte_val(entry) & PTE_PFN_MASK) & mask) | (addr & ~mask);
	return pfn_valid(PHYS_PFN(phys)) ? pfn_to_page(PHYS_PFN(phys)) : NULL;
}

bool jf_is_executable(unsigned long addr)
{
	unsigned int level;
	pte_t entry;

	/* The flags of a large page's entry are where a small one has them. */
	return jf_entry_get(addr, &entry, &level) &&
	       !(pte_flags(entry) & _PAGE_NX);
}
