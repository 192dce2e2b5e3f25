// SPDX-License-Identifier: GPL-2.0
/*
 * The page that probes read. It is one of the module's own, in reach of an instruction's
 * displacement.
 *
 * vunmap() could take a page away, but it also gives its address to others, and a probe would read
 * their mapping. The kernel's function that unmaps pages and keeps the address is not exported;
 * where the entry of the page table is, is. So this clears it, and makes each CPU forget its copy
 * of it.
 */
#include "forms.h"

#include <linux/smp.h>

#include <asm/cpufeature.h>
#include <asm/pgtable.h>
#include <asm/special_insns.h>

/* Nothing else may stand in it. In .data, since it is not zero. */
u8 jff_page[PAGE_SIZE] __aligned(PAGE_SIZE) = { 1 };

static pte_t mapped_as;

static void forget(void *unused)
{
	unsigned long cr4;

	asm volatile("invlpg (%0)" : : "r" (jff_page) : "memory");
	if (!boot_cpu_has(X86_FEATURE_PTI))
		return;
	/*
	 * Then mappings of the kernel are not global, and invlpg acts on the present address
	 * space alone. A change of this bit acts on all. Interrupts are off.
	 */
	cr4 = __read_cr4();
	asm volatile("mov %0, %%cr4" : : "r" (cr4 ^ X86_CR4_PGE) : "memory");
	asm volatile("mov %0, %%cr4" : : "r" (cr4) : "memory");
}

u64 jff_page_broadcasts;

/* -EOPNOTSUPP where the page is part of a larger one. */
static int map(bool mapped)
{
	unsigned int level;
	pte_t *pte = lookup_address((unsigned long)jff_page, &level);

	if (!pte || level != PG_LEVEL_4K)
		return -EOPNOTSUPP;
	if (mapped == !!pte_present(*pte))
		return 0;
	if (mapped) {
		/* No CPU remembers that a page is not there. */
		set_pte(pte, mapped_as);
		return 0;
	}
	mapped_as = *pte;
	set_pte(pte, __pte(0));
	on_each_cpu(forget, NULL, 1);
	jff_page_broadcasts++;
	return 0;
}

int jff_page_set(u8 *enabled, unsigned int num, bool on)
{
	int err = 0;

	/* One page for all probes; the benchmark enables no two sets of them at a time. */
	if (!on)
		err = map(true);
	if (err)
		return err;
	memset(enabled, on, num);
	if (on) {
		err = map(false);
		if (err)
			memset(enabled, 0, num);
	}
	return err;
}
