// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-arm64: kernel/arch/arm64/write.c above caches and CPUs that are made up,
 * on any machine.
 *
 * Proves: all sites of a transaction are changed or none; at each moment each is old or
 * new, for a CPU that fetches it; when the transaction is over, every CPU executes the present
 * instruction, after one broadcast, and the same after it was taken back; where another writer sets
 * a breakpoint at any site, in the middle or while it is taken back, that stays, and the result is
 * -EBUSY, or -EILSEQ for other bytes; an instruction that does not read back is -EIO;
 * nothing is written without memory for the alias, and the alias is unmapped, whatever happens;
 * code that no CPU could reach has been dropped by every CPU before a site leads there.
 *
 * A CPU is as bad as the manual allows: it executes instructions that it had fetched before the
 * last ISB, from an instruction cache with the content of memory when it was last cleaned. So it
 * executes new instructions only after all of "store, clean, broadcast", in this order.
 *
 * The source is included, so that its statics can be read, and so that its callees can be replaced.
 * The text is an array, which no CPU of ours executes.
 */
#include "jfk.h"

#undef pr_fmt
#include "arch/arm64/arm64.h"
#include "arch/arch.h"
#include "arch/text.h"

/* All headers of the source, before the macros below can get at them. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/barrier.h>
#include <asm/cacheflush.h>

#include "compat.h"

DEFINE_MUTEX(jf_mutex);
struct jf_stats jf_stats;

/* --- memory, caches, CPUs ------------------------------------------------ */

#define PAGES	3
#define WORDS	(PAGES * PAGE_SIZE / JF_INSN_SIZE)
#define BRK	0xd4200000U

static u32 text[WORDS] __aligned(PAGE_SIZE);
static u32 alias[WORDS];
/* The content of an instruction cache, and the instructions that a CPU has fetched. */
static u32 cache[WORDS], fetched[WORDS];

static struct {
	unsigned int	stores, cleans, broadcasts, barriers;
	unsigned int	maps;		/* that were not unmapped */
	unsigned int	no_preempt;
	const char	*breach;
	/* Which of them fails, from 1. */
	unsigned int	no_memory, no_map;
	struct page	*no_page;
	/* At which store another writer is faster, from 1, and its own store. */
	unsigned int	foreign_at;
	unsigned int	foreign_word;
	u32		foreign;
	/* Another updater's broadcast comes before caches are clean. */
	bool		sync_before_clean;
	/* Which store does not get through, from 1. */
	unsigned int	lost_at;
	/* The mappings, page by page. */
	unsigned long	mapped[PAGES];
	unsigned int	num_mapped;
} world;

static void breach(const char *what)
{
	if (!world.breach)
		world.breach = what;
}

static unsigned int word_at(unsigned long addr)
{
	return (addr - (unsigned long)text) / JF_INSN_SIZE;
}

static void *jfk_kvmalloc_array(size_t n, size_t size)
{
	return world.no_memory ? NULL : kvmalloc(array_size(n, size), GFP_KERNEL);
}

static struct page *page_at(const void *addr)
{
	if ((unsigned long)addr - (unsigned long)text >= sizeof(text))
		breach("a page that is not text");
	return addr == world.no_page ? NULL : (struct page *)addr;
}

static void *map_pages(struct page **pages, unsigned int n)
{
	unsigned int i;

	if (world.no_map)
		return NULL;
	if (world.maps++ || n > PAGES)
		breach("more than one alias");
	world.num_mapped = n;
	for (i = 0; i < n && i < PAGES; i++) {
		world.mapped[i] = (unsigned long)pages[i];
		memcpy((u8 *)alias + i * PAGE_SIZE, pages[i], PAGE_SIZE);
	}
	return alias;
}

/* Writes to it without cmpxchg(), byte by byte, get to memory when it is cleaned. */
static void alias_to_memory(void)
{
	unsigned int i;

	for (i = 0; i < world.num_mapped; i++)
		memcpy((void *)world.mapped[i], (u8 *)alias + i * PAGE_SIZE, PAGE_SIZE);
}

static void unmap_pages(const void *map)
{
	if (map != alias || world.maps-- != 1)
		breach("unmaps what is not mapped");
	alias_to_memory();
	world.num_mapped = 0;
}

/* In memory, and so in the alias, too. */
static void set_word(unsigned int word, u32 insn)
{
	unsigned long addr = (unsigned long)&text[word];
	unsigned int i;

	text[word] = insn;
	for (i = 0; i < world.num_mapped; i++)
		if (world.mapped[i] == (addr & PAGE_MASK))
			alias[(i * PAGE_SIZE + offset_in_page(addr)) / JF_INSN_SIZE] = insn;
}

/* A branch may only lead to instructions that a CPU executes as they stand there. */
static void check_leads(unsigned int word, u32 insn)
{
	unsigned long addr = (unsigned long)&text[word];
	uint64_t to;
	enum jf_insn_kind kind = jf_insn_decode(insn, addr, &to);

	if ((kind != JF_INSN_CALL && kind != JF_INSN_JMP) ||
	    to - (unsigned long)text >= sizeof(text))
		return;
	if (fetched[word_at(to)] != text[word_at(to)])
		breach("a site leads to code that a CPU may have fetched before it was written");
}

static u32 store(u32 *at, u32 old, u32 new)
{
	unsigned long off = (unsigned long)at - (unsigned long)alias;
	unsigned int page = off / PAGE_SIZE;
	u32 *word, have;

	if (!world.maps || page >= world.num_mapped || !IS_ALIGNED(off, JF_INSN_SIZE)) {
		breach("a store elsewhere");
		return old;
	}
	word = (u32 *)(world.mapped[page] + off % PAGE_SIZE);
	if (!world.barriers)
		breach("a store without the barrier");
	if (!world.no_preempt)
		breach("a store that another task may come between");
	if (++world.stores == world.foreign_at)
		set_word(world.foreign_word, world.foreign);
	have = READ_ONCE(*word);
	if (have != old)
		return have;
	check_leads(word_at((unsigned long)word), new);
	if (world.stores != world.lost_at)
		set_word(word_at((unsigned long)word), new);
	return old;
}

static void clean(unsigned long start, unsigned long end)
{
	if (world.sync_before_clean) {
		world.sync_before_clean = false;
		mutex_lock(&jf_mutex);
		jf_sync_all();
		mutex_unlock(&jf_mutex);
	}
	world.cleans++;
	alias_to_memory();
	if (start < (unsigned long)text || end > (unsigned long)(text + WORDS) || start >= end)
		breach("cleans elsewhere");
	else
		memcpy(&cache[word_at(start)], (void *)start, end - start);
}

static void broadcast(void (*func)(void *), void *arg)
{
	lockdep_assert_held(&jf_mutex);
	world.broadcasts++;
	func(arg);
}

static void drop_fetched(void)
{
	memcpy(fetched, cache, sizeof(fetched));
}

#undef kvmalloc_array
#undef vmap
#undef vunmap
#undef vmalloc_to_page
#undef cmpxchg
#undef smp_wmb
#undef isb
#undef on_each_cpu
#undef preempt_disable
#undef preempt_enable
#define kvmalloc_array(n, size, gfp)	jfk_kvmalloc_array(n, size)
#define vmap(pages, n, flags, prot)	map_pages(pages, n)
#define vunmap(map)			unmap_pages(map)
#define vmalloc_to_page(addr)		page_at(addr)
#define cmpxchg(p, old, new)		store(p, old, new)
#define smp_wmb()			((void)world.barriers++)
#define isb()				drop_fetched()
#define on_each_cpu(func, arg, wait)	broadcast(func, arg)
#define preempt_disable()		((void)world.no_preempt++)
#define preempt_enable()		((void)world.no_preempt--)
#define jf_clean_text(start, end)	clean(start, end)

#include "../../kernel/arch/arm64/write.c"

/* --- sites ---------------------------------------------------------------- */

#define SITES	6

/* Two in a line, two in another page, the last word of that, and one two words into the next. */
static const unsigned int places[SITES] = {
	5, 6, PAGE_SIZE / JF_INSN_SIZE, PAGE_SIZE / JF_INSN_SIZE + 100,
	2 * PAGE_SIZE / JF_INSN_SIZE - 1, 2 * PAGE_SIZE / JF_INSN_SIZE + 2,
};
/* An instruction that sites lead to. */
#define TARGET	(2 * PAGE_SIZE / JF_INSN_SIZE + 500)

static struct jf_site sites[SITES];
static u32 before[WORDS];

static u32 call_of(unsigned int site)
{
	u32 insn = 0;

	jf_insn_call(&insn, sites[site].addr, (unsigned long)&text[TARGET]);
	return insn;
}

/* Each of them becomes a call. */
static void pokes_init(struct jf_poke *p)
{
	unsigned int i;

	for (i = 0; i < SITES; i++)
		p[i] = (struct jf_poke){
			.site = &sites[i],
			.old = sites[i].insn,
			.new = call_of(i),
		};
}

static int patch(struct jf_poke *p, unsigned int num)
{
	int err;

	mutex_lock(&jf_mutex);
	err = jf_arch_patch(p, num, true);
	mutex_unlock(&jf_mutex);
	return err;
}

/* Those of @list, or all. */
static int mend(const struct list_head *list)
{
	int err;

	mutex_lock(&jf_mutex);
	err = list ? jf_arch_mend(list) : jf_arch_mend_all();
	mutex_unlock(&jf_mutex);
	return err;
}

struct jf_site *jf_site_next(unsigned long addr, unsigned long end)
{
	unsigned int i;

	for (i = 0; i < SITES; i++)
		if (sites[i].addr >= addr && sites[i].addr < end)
			return &sites[i];
	return NULL;
}

static int arm64_suite_init(struct kunit *test)
{
	unsigned int i;

	memset(&world, 0, sizeof(world));
	memset(&jf_stats, 0, sizeof(jf_stats));
	jf_written = false;
	for (i = 0; i < WORDS; i++)
		text[i] = 0x91000000 + i;	/* some add */
	for (i = 0; i < SITES; i++) {
		text[places[i]] = jf_insn_nop();
		sites[i] = (struct jf_site){
			.addr = (unsigned long)&text[places[i]],
			.insn = jf_insn_nop(),
			.asked = jf_insn_nop(),
		};
	}
	memcpy(before, text, sizeof(text));
	memcpy(cache, text, sizeof(text));
	memcpy(fetched, text, sizeof(text));
	return 0;
}

static void arm64_suite_exit(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, world.breach ?: "", "");
	KUNIT_EXPECT_EQ(test, world.maps, 0U);
	KUNIT_EXPECT_EQ(test, world.no_preempt, 0U);
	/* Whatever has happened, CPUs execute the present instructions. */
	KUNIT_EXPECT_EQ(test, memcmp(fetched, text, sizeof(text)), 0);
}

/* The text is as it was, and the engine has it so; but for word @but, which has @word. */
static void expect_unchanged(struct kunit *test, unsigned int but, u32 word)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		KUNIT_EXPECT_EQ(test, text[i], i == but ? word : before[i]);
	for (i = 0; i < SITES; i++) {
		KUNIT_EXPECT_EQ(test, sites[i].insn, (u64)jf_insn_nop());
		KUNIT_EXPECT_EQ(test, sites[i].asked, (u64)jf_insn_nop());
	}
	KUNIT_EXPECT_EQ(test, jf_stats.by_xmc, 0ULL);
}

/* --- cases ------------------------------------------------------------------ */

static const unsigned int numbers[] = { 1, 2, 3, SITES };

static void number_desc(const unsigned int *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u sites", *n);
}
KUNIT_ARRAY_PARAM(number, numbers, number_desc);

static void changes_all(struct kunit *test)
{
	unsigned int i, n = *(const unsigned int *)test->param_value;
	struct jf_poke p[SITES];
	size_t bad;

	pokes_init(p);
	KUNIT_EXPECT_EQ(test, jf_arch_verify(p, n, &bad), 0);
	KUNIT_EXPECT_EQ(test, patch(p, n), 0);
	for (i = 0; i < WORDS; i++)
		if (text[i] != before[i])
			world.stores--;
	/* Each once, and no other word. */
	KUNIT_EXPECT_EQ(test, world.stores, 0U);
	KUNIT_EXPECT_EQ(test, world.broadcasts, 1U);
	KUNIT_EXPECT_EQ(test, jf_stats.broadcasts, 1ULL);
	KUNIT_EXPECT_EQ(test, jf_stats.by_xmc, 1ULL);
	for (i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, text[places[i]], call_of(i));
		KUNIT_EXPECT_EQ(test, sites[i].insn, (u64)call_of(i));
		KUNIT_EXPECT_EQ(test, sites[i].asked, (u64)call_of(i));
	}
}

static void and_back(struct kunit *test)
{
	struct jf_poke p[SITES];
	unsigned int i;

	pokes_init(p);
	KUNIT_EXPECT_EQ(test, patch(p, SITES), 0);
	for (i = 0; i < SITES; i++)
		swap(p[i].old, p[i].new);
	KUNIT_EXPECT_EQ(test, patch(p, SITES), 0);
	KUNIT_EXPECT_EQ(test, world.broadcasts, 2U);
	jf_stats.by_xmc = 0;
	expect_unchanged(test, 0, before[0]);
}

/* Each site in turn has other bytes before the transaction. */
static void compares_first(struct kunit *test)
{
	struct jf_poke p[SITES];
	unsigned int i;
	size_t bad;

	pokes_init(p);
	for (i = 0; i < SITES; i++) {
		bad = SITES;
		text[places[i]] = BRK + 0x80;
		KUNIT_EXPECT_EQ(test, jf_arch_verify(p, SITES, &bad), -EBUSY);
		KUNIT_EXPECT_EQ(test, bad, (size_t)i);
		text[places[i]] = call_of(i);
		KUNIT_EXPECT_EQ(test, jf_arch_verify(p, SITES, &bad), -EILSEQ);
		KUNIT_EXPECT_EQ(test, bad, (size_t)i);
		text[places[i]] = jf_insn_nop();
	}
	KUNIT_EXPECT_EQ(test, world.stores, 0U);
}

/* The stores of another writer are there for CPUs as well: it has done the same. */
static void foreign_done(unsigned int word)
{
	cache[word] = text[word];
	fetched[word] = text[word];
}

/* Each site in turn has other bytes since it was compared. */
static void takes_back(struct kunit *test)
{
	struct jf_poke p[SITES];
	unsigned int i, brk;

	for (i = 0; i < SITES; i++) {
		for (brk = 0; brk < 2; brk++) {
			arm64_suite_init(test);
			pokes_init(p);
			world.foreign_at = i + 1;
			world.foreign_word = places[i];
			world.foreign = brk ? BRK : 0x91000000;
			KUNIT_EXPECT_EQ(test, patch(p, SITES), brk ? -EBUSY : -EILSEQ);
			/* Those before it, there and back, and the one at which it failed. */
			KUNIT_EXPECT_EQ(test, world.stores, 2 * i + 1);
			KUNIT_EXPECT_EQ(test, world.broadcasts, 1U);
			expect_unchanged(test, places[i], world.foreign);
			foreign_done(places[i]);
			KUNIT_EXPECT_STREQ(test, world.breach ?: "", "");
			KUNIT_EXPECT_EQ(test, memcmp(fetched, text, sizeof(text)), 0);
			/* It is gone, and the same transaction goes through. */
			text[places[i]] = jf_insn_nop();
			foreign_done(places[i]);
			world.foreign_at = 0;
			KUNIT_EXPECT_EQ(test, patch(p, SITES), 0);
		}
	}
}

/* While it is taken back, another writer sets a breakpoint on a changed instruction. */
static void foreign_meanwhile(struct kunit *test)
{
	struct jf_poke p[SITES];
	LIST_HEAD(others);
	LIST_HEAD(mine);

	pokes_init(p);
	/* The fourth fails, as it has other bytes; the first to be taken back is then another's. */
	text[places[3]] = 0x91000000;
	foreign_done(places[3]);
	before[places[3]] = 0x91000000;
	world.foreign_at = 5;
	world.foreign_word = places[0];
	world.foreign = BRK;
	KUNIT_EXPECT_EQ(test, patch(p, SITES), -EILSEQ);
	KUNIT_EXPECT_EQ(test, world.stores, 4U + 3U);
	/* It will be a call, once the breakpoint is removed, and the next change finds that. */
	KUNIT_EXPECT_EQ(test, sites[0].insn, (u64)call_of(0));
	KUNIT_EXPECT_TRUE(test, jf_arch_is_stuck());
	world.stores = 0;
	KUNIT_EXPECT_EQ(test, mend(NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, world.stores, 0U);
	KUNIT_EXPECT_TRUE(test, jf_arch_is_stuck());
	/* Nor is it if only those of its entity are looked at; others' are not in need of it. */
	list_add(&sites[0].list, &mine);
	list_add(&sites[1].list, &others);
	KUNIT_EXPECT_EQ(test, mend(&mine), -EBUSY);
	KUNIT_EXPECT_EQ(test, mend(&others), 0);
	KUNIT_EXPECT_EQ(test, world.stores, 0U);
	/* It is removed. */
	text[places[0]] = call_of(0);
	foreign_done(places[0]);
	KUNIT_EXPECT_EQ(test, mend(&others), 0);
	KUNIT_EXPECT_EQ(test, world.stores, 0U);
	KUNIT_EXPECT_EQ(test, mend(&mine), 0);
	KUNIT_EXPECT_EQ(test, world.stores, 1U);
	/* No site is stuck, but the search of all must find that. */
	KUNIT_EXPECT_TRUE(test, jf_arch_is_stuck());
	KUNIT_EXPECT_EQ(test, mend(NULL), 0);
	KUNIT_EXPECT_EQ(test, world.stores, 1U);
	KUNIT_EXPECT_FALSE(test, jf_arch_is_stuck());
	jf_stats.by_xmc = 0;
	expect_unchanged(test, places[3], 0x91000000);
}

/* A site, and another writer's breakpoint on it, of a transaction that is taken back. */
static void stick(struct kunit *test, struct jf_poke *p)
{
	pokes_init(p);
	text[places[3]] = 0x91000000;
	foreign_done(places[3]);
	world.foreign_at = 5;
	world.foreign_word = places[0];
	world.foreign = BRK;
	KUNIT_ASSERT_EQ(test, patch(p, SITES), -EILSEQ);
	KUNIT_ASSERT_TRUE(test, jf_arch_is_stuck());
	world.foreign_at = 0;
	world.stores = 0;
	world.broadcasts = 0;
}

/* The other writer puts back the site's former instruction, and need not tell other CPUs of it. */
static void foreign_puts_back(struct kunit *test)
{
	struct jf_poke p[SITES];

	stick(test, p);
	text[places[0]] = jf_insn_nop();
	foreign_done(places[0]);
	KUNIT_EXPECT_EQ(test, mend(NULL), 0);
	KUNIT_EXPECT_EQ(test, world.stores, 0U);
	KUNIT_EXPECT_EQ(test, world.broadcasts, 1U);
	KUNIT_EXPECT_FALSE(test, jf_arch_is_stuck());
	KUNIT_EXPECT_EQ(test, sites[0].insn, (u64)jf_insn_nop());
}

/* The same is asked for again. Then it is as it should be, and is not mended. */
static void refused_and_again(struct kunit *test)
{
	struct jf_poke p[SITES];

	stick(test, p);
	text[places[0]] = call_of(0);
	foreign_done(places[0]);
	p[0].old = call_of(0);
	p[0].new = call_of(0);
	KUNIT_EXPECT_EQ(test, patch(p, 1), 0);
	KUNIT_EXPECT_EQ(test, sites[0].asked, (u64)call_of(0));
	KUNIT_EXPECT_EQ(test, mend(NULL), 0);
	KUNIT_EXPECT_FALSE(test, jf_arch_is_stuck());
	KUNIT_EXPECT_EQ(test, text[places[0]], call_of(0));
}

static void runs_what_fails(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, jf_arch_runs_failed());
}

static void not_as_written(struct kunit *test)
{
	struct jf_poke p[SITES];
	unsigned int i;

	pokes_init(p);
	world.lost_at = 3;
	KUNIT_EXPECT_EQ(test, patch(p, SITES), -EIO);
	/* All others are as they were asked for. */
	for (i = 0; i < SITES; i++) {
		KUNIT_EXPECT_EQ(test, text[places[i]], i == 2 ? jf_insn_nop() : call_of(i));
		KUNIT_EXPECT_EQ(test, sites[i].insn, (u64)call_of(i));
	}
}

/* A page that is not there, no memory for the list of pages, no addresses for the alias. */
static void without_alias(struct kunit *test)
{
	struct jf_poke p[SITES];

	pokes_init(p);
	world.no_page = (struct page *)&text[PAGE_SIZE / JF_INSN_SIZE];
	KUNIT_EXPECT_EQ(test, patch(p, SITES), -EFAULT);
	world.no_page = NULL;
	world.no_memory = 1;
	KUNIT_EXPECT_EQ(test, patch(p, SITES), -ENOMEM);
	world.no_memory = 0;
	world.no_map = 1;
	KUNIT_EXPECT_EQ(test, patch(p, SITES), -ENOMEM);
	KUNIT_EXPECT_EQ(test, world.stores + world.broadcasts, 0U);
	expect_unchanged(test, 0, before[0]);
}

/* Code that a site leads to afterwards; here across the end of a page. */
#define IDLE	(2 * PAGE_SIZE / JF_INSN_SIZE - 5)
#define IDLE_WORDS	4

static void idle_first(struct kunit *test)
{
	u32 code[IDLE_WORDS];
	struct jf_poke p = { .site = &sites[0], .old = jf_insn_nop() };
	unsigned int i;
	u32 insn;

	for (i = 0; i < IDLE_WORDS; i++)
		code[i] = 0xd2800000 + i;
	KUNIT_EXPECT_EQ(test, jf_write_idle((u8 *)&text[IDLE], (u8 *)&before[IDLE],
					    (u8 *)code, sizeof(code)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&text[IDLE], code, sizeof(code)), 0);
	KUNIT_EXPECT_EQ(test, text[IDLE - 1], before[IDLE - 1]);
	KUNIT_EXPECT_EQ(test, text[IDLE + IDLE_WORDS], before[IDLE + IDLE_WORDS]);
	KUNIT_EXPECT_EQ(test, world.broadcasts, 0U);
	jf_insn_call(&insn, sites[0].addr, (unsigned long)&text[IDLE]);
	p.new = insn;
	/* One broadcast before the store, and one after it; for the next one that is enough. */
	KUNIT_EXPECT_EQ(test, patch(&p, 1), 0);
	KUNIT_EXPECT_EQ(test, world.broadcasts, 2U);
	swap(p.old, p.new);
	KUNIT_EXPECT_EQ(test, patch(&p, 1), 0);
	KUNIT_EXPECT_EQ(test, world.broadcasts, 3U);
}

/* The other one's broadcast was too early for the writes here. */
static void idle_beside_another(struct kunit *test)
{
	u32 code[IDLE_WORDS] = { 0xd2800000, 0xd2800001, 0xd2800002, 0xd2800003 };
	struct jf_poke p = { .site = &sites[0], .old = jf_insn_nop() };
	u32 insn;

	world.sync_before_clean = true;
	KUNIT_EXPECT_EQ(test, jf_write_idle((u8 *)&text[IDLE], (u8 *)&before[IDLE],
					    (u8 *)code, sizeof(code)), 0);
	jf_insn_call(&insn, sites[0].addr, (unsigned long)&text[IDLE]);
	p.new = insn;
	KUNIT_EXPECT_EQ(test, patch(&p, 1), 0);
	KUNIT_EXPECT_EQ(test, world.broadcasts, 3U);
}

static void idle_fails(struct kunit *test)
{
	u32 code[IDLE_WORDS] = { };

	world.no_page = (struct page *)&text[PAGE_SIZE / JF_INSN_SIZE];
	KUNIT_EXPECT_EQ(test, jf_write_idle((u8 *)&text[IDLE], (u8 *)&before[IDLE],
					    (u8 *)code, sizeof(code)), -EFAULT);
	world.no_page = NULL;
	world.no_map = 1;
	KUNIT_EXPECT_EQ(test, jf_write_idle((u8 *)&text[IDLE], (u8 *)&before[IDLE],
					    (u8 *)code, sizeof(code)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, jf_write_idle((u8 *)&text[IDLE], (u8 *)&before[IDLE],
					    (u8 *)code, 4 * PAGE_SIZE), -E2BIG);
	expect_unchanged(test, 0, before[0]);
}

static struct kunit_case arm64_cases[] = {
	KUNIT_CASE_PARAM(changes_all, number_gen_params),
	KUNIT_CASE(and_back),
	KUNIT_CASE(compares_first),
	KUNIT_CASE(takes_back),
	KUNIT_CASE(foreign_meanwhile),
	KUNIT_CASE(foreign_puts_back),
	KUNIT_CASE(refused_and_again),
	KUNIT_CASE(runs_what_fails),
	KUNIT_CASE(not_as_written),
	KUNIT_CASE(without_alias),
	KUNIT_CASE(idle_first),
	KUNIT_CASE(idle_beside_another),
	KUNIT_CASE(idle_fails),
	{}
};

static struct kunit_suite arm64_suite = {
	.name = "jumpfunc-arm64",
	.init = arm64_suite_init,
	.exit = arm64_suite_exit,
	.test_cases = arm64_cases,
};
JFK_SUITES(&arm64_suite);
