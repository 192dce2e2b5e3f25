/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the writers of text of architectures: the writable alias of the pages,
 * code that no CPU can reach yet, and the broadcast. It is included by the source of an
 * architecture that writes text, after
 *
 *   JF_INSN_SIZE	bytes of a site
 *   jf_page_at(addr)	the page that an address of text is mapped to, or NULL
 *   jf_serialise()	this CPU drops the instructions that it has fetched
 *   jf_clean_text(start, end)	instructions are fetched from the text that was written there
 */
#ifndef JF_ARCH_WRITE_H
#define JF_ARCH_WRITE_H

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "index/site.h"

/* --- the writable alias ------------------------------------------------ */

/* Idle text was written, and there has been no broadcast since. */
static bool jf_written;

/*
 * Number of pages that the sites touch. If there is an array, @pages is filled in; if they
 * are mapped at @map, one after the other, so is the alias address of each poke.
 */
static unsigned int jf_pages(struct jf_poke *pokes, unsigned int num,
			     struct page **pages, void *map)
{
	unsigned long page, last = 0;
	unsigned int i, n = 0;

	/* Sorted by address: a page that comes up again is the last one. */
	for (i = 0; i < num; i++) {
		unsigned long addr = pokes[i].site->addr;

		for (page = addr & PAGE_MASK; page < addr + JF_INSN_SIZE;
		     page += PAGE_SIZE) {
			if (page == last)
				continue;
			if (pages)
				pages[n] = jf_page_at(page);
			n++;
			last = page;
		}
		/* "last" is the page of the site's last byte, number n - 1. */
		if (map)
			pokes[i].alias = map + (n - 1) * PAGE_SIZE +
				(addr - last);
	}
	return n;
}

/* A writable mapping of all sites; ERR_PTR on error. */
static void *jf_map_alias(struct jf_poke *pokes, unsigned int num)
{
	unsigned int i, n = jf_pages(pokes, num, NULL, NULL);
	struct page **pages;
	void *map = NULL;

	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return ERR_PTR(-ENOMEM);
	jf_pages(pokes, num, pages, NULL);
	for (i = 0; i < n; i++) {
		if (!pages[i]) {
			kvfree(pages);
			return ERR_PTR(-EFAULT);
		}
	}
	map = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!map)
		return ERR_PTR(-ENOMEM);
	jf_pages(pokes, num, NULL, map);
	return map;
}

/**
 * jf_write_idle() - write text that no CPU can reach
 * @dst: where, in a module's text
 * @was: the old text
 * @src: the new text
 * @len: how many bytes, up to a few pages
 *
 * Only bytes that differ are written. The rest may have another owner: if @was has a
 * breakpoint that its owner has removed since, no handler would answer for it.
 *
 * All CPUs have to serialise before anything leads there again: jf_sync_all(), or
 * jf_arch_settle() where it may have happened since.
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -EIO if it does not read back as written.
 */
int jf_write_idle(u8 *dst, const u8 *was, const u8 *src, size_t len)
{
	unsigned long first = (unsigned long)dst & PAGE_MASK;
	unsigned int i, n = DIV_ROUND_UP((unsigned long)dst + len - first,
					 PAGE_SIZE);
	struct page *pages[4];
	int err = 0;
	u8 *map;
	size_t b;

	if (n > ARRAY_SIZE(pages))
		return -E2BIG;
	for (i = 0; i < n; i++) {
		pages[i] = jf_page_at(first + i * PAGE_SIZE);
		if (!pages[i])
			return -EFAULT;
	}
	map = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	if (!map)
		return -ENOMEM;
	for (b = 0; b < len; b++)
		if (src[b] != was[b])
			WRITE_ONCE(map[offset_in_page(dst) + b], src[b]);
	/* A broadcast of another updater that comes before this would not do for it. */
	jf_clean_text((unsigned long)dst, (unsigned long)dst + len);
	/* After the bytes. Pairs with xchg() in jf_sync_all(). */
	smp_store_release(&jf_written, true);
	vunmap(map);
	for (b = 0; b < len; b++)
		if (src[b] != was[b] && READ_ONCE(dst[b]) != src[b])
			err = -EIO;
	return err;
}

/* --- the broadcast ----------------------------------------------------- */

static void jf_sync_one(void *unused)
{
	jf_serialise();
}

void jf_sync_all(void)
{
	lockdep_assert_held(&jf_mutex);
	/*
	 * Cleared first: the broadcast may not cover later writes. Pairs with smp_store_release()
	 * in jf_write_idle().
	 */
	xchg(&jf_written, false);
	on_each_cpu(jf_sync_one, NULL, 1);
	jf_stats.broadcasts++;
}

/*
 * A task that writes sets the flag before it takes the lock that we hold. If the
 * flag is clear, a later holder of the lock cleared it, and that broadcast is over.
 */
void jf_arch_settle(void)
{
	lockdep_assert_held(&jf_mutex);
	if (READ_ONCE(jf_written))
		jf_sync_all();
}

#endif /* JF_ARCH_WRITE_H */
