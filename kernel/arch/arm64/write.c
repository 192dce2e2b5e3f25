// SPDX-License-Identifier: GPL-2.0
/*
 * How text is written on arm64.
 *
 * A site is one aligned word, and holds B, BL or NOP. The architecture's manual
 * has a list of instructions that may replace each other while other CPUs
 * execute them ("Concurrent modification and execution of instructions"), and these
 * three are in it. A CPU that reaches the site executes the old one or the new one. So there is
 * no breakpoint, no handler and no emulation:
 *
 *	updater				another CPU, at the site
 *   1	compare, and store the word	old, or new
 *   2	clean it to where instructions	old, or new
 *	are fetched from, and drop it
 *	from all instruction caches
 *   3	broadcast: ISB on each CPU	(a fetched old one is dropped)
 *					new
 *
 * Steps 1 and 2 are done for all sites before step 3, so that a transaction of any size
 * takes one broadcast. Step 2 reaches the caches of all CPUs (of the inner shareable domain), and
 * ends with a barrier that waits for that; step 3 reaches the instructions that CPUs had fetched
 * before.
 *
 * Limits. Until the broadcast has ended, a CPU may run old at a site after another CPU has run new
 * there, and new at one site before old at another. The INT3 protocol of x86 does not have the
 * first of the two, and batch.h promises neither. To have it, all CPUs would have to be stopped for
 * each change (updates hold cpus_read_lock(), under which modules cannot call stop_machine()), or
 * to trap, which costs two more broadcasts and a handler. Nothing in jumpfunc needs it: a target
 * that was replaced stays until jf_quiesce() has returned, which is after the broadcast.
 *
 * All or nothing. All words were compared before (jf_arch_verify()), under the lock that all
 * changes of ours take. All other code that writes text leaves sites alone (kprobes,
 * static keys, ftrace), but for a debugger that sets a BRK. Where one was set since, the store does
 * not take place (cmpxchg), the stores before it are taken back, and a broadcast makes sure that no
 * CPU holds any of it. Until then a CPU can have run new, and a task can still be in the code that
 * new leads to. This is as in a commit that was made and unmade by another updater, and so it is
 * recorded by the caller (jf_arch_runs_failed()): the new code is searched for, and freed when no
 * task is in it. The broadcast is needed for that: without it a CPU could come there after the
 * search.
 *
 * A debugger that sets a second breakpoint in between, on the new instruction, saves this
 * instruction and writes it when it removes the breakpoint. From then on CPUs can come to the
 * rejected target at any time. Such a site is known to have new, so that each change of its entity
 * mends it, one to the value that it has, too, and the log names it. Its value tells nothing of it,
 * so whatever frees text (a quiesce, the unload of a module, images that are given back) mends all
 * such sites first, or waits (jf_arch_is_stuck()).
 *
 * Before the first store there is no broadcast, unless code was written that no CPU could
 * reach (jf_arch_settle()). A CPU that executes the new branch has fetched it before the
 * instructions that follow, and those are executed after they were fetched; so the data that they
 * load is no older than the branch, and smp_wmb() is enough for the updater. docs/architectures.md
 * has the test of it in the formal model of instruction fetches.
 *
 * Writing goes through a second, writable mapping of the pages (vmap), set up before
 * the first word is written and removed before the commit returns. The text's mapping
 * stays read-only, the alias is never executable. No other code knows its address.
 *
 * No promise of the manual's about caches is shown by an emulator: QEMU's TCG sees each
 * store to text by itself.
 */
#include "arch/arm64/arm64.h"

#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <asm/barrier.h>
#include <asm/cacheflush.h>

#include "compat.h"

/* 0 if @have, which stands at a site, is @want; -EBUSY for a breakpoint, -EILSEQ. */
static int jf_compare(u32 have, u32 want)
{
	if (have == want)
		return 0;
	return jf_insn_is_break(have) ? -EBUSY : -EILSEQ;
}

int jf_arch_verify(const struct jf_poke *pokes, unsigned int num, size_t *bad)
{
	unsigned int i;
	int err;

	for (i = 0; i < num; i++) {
		err = jf_compare(jf_text_load(pokes[i].site->addr),
				 pokes[i].old);
		if (err) {
			*bad = i;
			return err;
		}
	}
	return 0;
}

/* --- how text is written ------------------------------------------------ */

#define jf_page_at(addr)	vmalloc_to_page((void *)(addr))
#define jf_serialise()		isb()
#include "arch/write.h"

/* --- the transaction --------------------------------------------------- */

/* 0, or the value found instead of @from. */
static int jf_swap(const struct jf_poke *p, u32 from, u32 to)
{
	return jf_compare(cmpxchg((u32 *)p->alias, from, to), from);
}

static void jf_clean(const struct jf_poke *p)
{
	jf_clean_text(p->site->addr, p->site->addr + JF_INSN_SIZE);
}

/* Some site may lead elsewhere than was asked for. Under jf_mutex. */
static bool jf_stuck;
/* The last transaction has failed, and stored something before. Under jf_mutex. */
static bool jf_ran;

static void jf_take_back(const struct jf_poke *pokes, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		if (!jf_swap(&pokes[i], pokes[i].new, pokes[i].old))
			continue;
		/* The instruction there once the other writer is gone. */
		WRITE_ONCE(pokes[i].site->insn, pokes[i].new);
		jf_stuck = true;
	}
}

static int jf_store_all(const struct jf_poke *pokes, unsigned int num)
{
	unsigned int i, n;
	int err = 0;

	/* The data of targets, before the branches that lead there. Pairs with the fetch. */
	smp_wmb();
	for (n = 0; n < num && !err; n++)
		err = jf_swap(&pokes[n], pokes[n].old, pokes[n].new);
	jf_ran = err && n > 1;
	if (err)
		jf_take_back(pokes, n - 1);
	for (i = 0; i < n; i++)
		jf_clean(&pokes[i]);
	return err;
}

static int jf_write(struct jf_poke *pokes, unsigned int num)
{
	void *map = jf_map_alias(pokes, num);
	u64 start, ns;
	int err;

	jf_ran = false;
	if (IS_ERR(map))
		return PTR_ERR(map);
	/* An image that a site is about to lead to. */
	jf_arch_settle();
	/* An updater that lost its CPU in between would leave sites mixed until it runs again. */
	preempt_disable();
	start = ktime_get_ns();
	err = jf_store_all(pokes, num);
	jf_sync_all();
	ns = ktime_get_ns() - start;
	preempt_enable();
	vunmap(map);
	if (err)
		return err;
	jf_stats.window_last = ns;
	if (ns > jf_stats.window_max)
		jf_stats.window_max = ns;
	jf_stats.by_xmc++;
	return 0;
}

/* The transaction failed. */
static void jf_tell_stuck(const struct jf_poke *pokes, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (pokes[i].site->insn == pokes[i].new &&
		    pokes[i].old != pokes[i].new)
			pr_err("%pS: a breakpoint was set while it changed: once that is removed, the site leads to what was refused; jf_quiesce() and the unload of modules wait for it\n",
			       (void *)pokes[i].site->addr);
}

int jf_arch_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	unsigned int i;
	int err;

	lockdep_assert_held(&jf_mutex);
	err = jf_write(pokes, num);
	if (err) {
		jf_tell_stuck(pokes, num);
		return err;
	}
	for (i = 0; i < num; i++) {
		u32 have = jf_text_load(pokes[i].site->addr);

		WRITE_ONCE(pokes[i].site->insn, pokes[i].new);
		pokes[i].site->asked = pokes[i].new;
		if (have == pokes[i].new)
			continue;
		pr_err("%pS does not read back as written: %08x\n",
		       (void *)pokes[i].site->addr, have);
		err = -EIO;
	}
	return err;
}

bool jf_arch_runs_failed(void)
{
	return true;
}

bool jf_arch_ran(void)
{
	lockdep_assert_held(&jf_mutex);
	return jf_ran;
}

bool jf_arch_is_stuck(void)
{
	lockdep_assert_held(&jf_mutex);
	return jf_stuck;
}

static bool jf_mend_site(struct jf_site *site)
{
	struct jf_poke p = {
		.site = site,
		.old = site->insn,
		.new = site->asked,
	};
	size_t bad;

	if (jf_text_load(site->addr) == site->asked) {
		/* The other writer has put it back, and need not have told all CPUs. */
		jf_clean(&p);
		jf_sync_all();
	} else if (jf_arch_verify(&p, 1, &bad) || jf_write(&p, 1)) {
		return false;
	}
	WRITE_ONCE(site->insn, site->asked);
	pr_info("%pS: the site leads where it should again\n",
		(void *)site->addr);
	return true;
}

/* The log is told of one, at first and every ten seconds. */
static void jf_tell_waits(const struct jf_site *site)
{
	static unsigned long told;

	if (told && time_before(jiffies, told + 10 * HZ))
		return;
	told = jiffies ?: 1;
	pr_warn("%pS: still waiting for this site, where another writer's bytes stand, to lead where it should\n",
		(void *)site->addr);
}

/* 0, or -EBUSY: it is stuck still. */
static int jf_mend_stuck(struct jf_site *site)
{
	if (site->insn == site->asked || jf_mend_site(site))
		return 0;
	jf_tell_waits(site);
	return -EBUSY;
}

int jf_arch_mend(const struct list_head *sites)
{
	struct jf_site *site;
	int err = 0;

	lockdep_assert_held(&jf_mutex);
	list_for_each_entry(site, sites, list)
		err = jf_mend_stuck(site) ?: err;
	return err;
}

int jf_arch_mend_all(void)
{
	struct jf_site *site;
	int err = 0;

	lockdep_assert_held(&jf_mutex);
	if (!jf_stuck)
		return 0;
	for (site = jf_site_next(0, ULONG_MAX); site;
	     site = jf_site_next(site->addr + 1, ULONG_MAX))
		err = jf_mend_stuck(site) ?: err;
	jf_stuck = err;
	return err;
}
