// SPDX-License-Identifier: GPL-2.0
/*
 * Five thousand call sites in five functions of 1, 10, 100, 1000 and 3889 sites, at
 * every offset to cache lines and across every page border; and a storm over
 * them: batches of any subset of the functions, while threads, timer interrupts and
 * NMIs call, and check every call's target and argument.
 *
 * The expected results are in oracle.h: a word for each function.
 *
 * Tried: a second broadcast in jf_sync_all() (the counts are wrong), and writing
 * live sites without INT3s (the machine oopses in "storm").
 */
#include "jf_test.h"

#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>

#include "../callers.h"
#include "../nmi.h"
#include "../oracle.h"

static unsigned int seconds = 8;
module_param(seconds, uint, 0644);
MODULE_PARM_DESC(seconds, "how long the storm lasts");

static unsigned int timer_us = 4000;
module_param(timer_us, uint, 0644);
MODULE_PARM_DESC(timer_us, "period of the timer interrupts, each of which calls and sends an NMI");

static unsigned int storm_funcs = 5;
module_param(storm_funcs, uint, 0644);
MODULE_PARM_DESC(storm_funcs, "how many of the five functions the storm changes; 3 are at most 114 sites in one batch");

#define SITES	5000
/*
 * Where types are compared, the kernel writes over the hash of a function that is
 * sealed: it takes for granted that there are 16 bytes in front of each for that.
 */
#ifdef CONFIG_FINEIBT
#define STRIDE	(27 + 16)
#else
#define STRIDE	27
#endif
#define NFUNCS	5
#define NTARGETS ORACLE_ANSWERS

/* The low two bits of a result say which target it was. */
static __always_inline u64 mix(u64 x)
{
	return (x * 0x9e3779b97f4a7c15ULL) << 2;
}

#define TARGET(n)							\
static noinline u64 many_t##n(u64 x)					\
{									\
	return mix(x) | (n);						\
}
TARGET(0)
TARGET(1)
TARGET(2)

typedef u64 many_fn(u64 x);

static many_fn * const targets[NTARGETS] = { many_t0, many_t1, many_t2 };

DEFINE_DYNFUNC(many_k0, many_t0);
DEFINE_DYNFUNC(many_k1, many_t0);
DEFINE_DYNFUNC(many_k2, many_t0);
DEFINE_DYNFUNC(many_k3, many_t0);
DEFINE_DYNFUNC(many_k4, many_t0);

static struct jf_func * const funcs[NFUNCS] = {
	&__jf_func_many_k0, &__jf_func_many_k1, &__jf_func_many_k2,
	&__jf_func_many_k3, &__jf_func_many_k4,
};

/* The number of the function that stub i calls, as in the assembly below. */
static const unsigned int func_sites[NFUNCS] = { 1, 10, 100, 1000, 3889 };

static unsigned int func_of(unsigned int i)
{
	return i == 0 ? 0 : i % 500 == 1 ? 1 : i % 50 == 2 ? 2 : i % 5 == 3 ? 3 : 4;
}

/* The number of the n-th stub of a function. */
static unsigned int stub_of(unsigned int func, unsigned int n)
{
	switch (func) {
	case 0:
		return 0;
	case 1:
		return n % 10 * 500 + 1;
	case 2:
		return n % 100 * 50 + 2;
	case 3:
		return n % 1000 * 5 + 3;
	}
	for (n %= SITES; func_of(n) != 4; n = (n + 1) % SITES)
		;
	return n;
}

extern u8 many_stubs[];

/* The stack is aligned for the call, and there is a frame where unwinders want one. */
#ifdef CONFIG_FRAME_POINTER
#define STUB_ENTER	"pushq %%rbp\n\tmovq %%rsp, %%rbp\n"
#define STUB_LEAVE	"popq %%rbp\n\t"
#else
#define STUB_ENTER	"subq $8, %%rsp\n"
#define STUB_LEAVE	"addq $8, %%rsp\n\t"
#endif

/*
 * Each stub is a function with one site and takes STRIDE bytes, which is an odd
 * number: so the sites stand at every offset.
 */
static void __used noinline emit_stubs(void)
{
	asm volatile(
		".pushsection .text, 1\n\t"
		".altmacro\n\t"
		".macro jf_many_stub n, func\n\t"
		".type many_stub_\\n, @function\n"
		"many_stub_\\n:\n"
		"770:\n\t"
		__JF_ENDBR
		STUB_ENTER
		"771:\n\t"
		__JF_NOENDBR
		".byte 0xe8\n\t"
		".long dynfunc_many_k\\func - (. + 4)\n\t"
		__JF_UD2
		__JF_SITE_REC("__jf_func_many_k\\func + %c[jf_ent]", "%c[jf_flags]")
		STUB_LEAVE
		ASM_RET
		".size many_stub_\\n, . - many_stub_\\n\n\t"
		".org 770b + %c[stride], 0xcc\n\t"
		".endm\n\t"
		".balign 64, 0xcc\n\t"
		".skip 64, 0xcc\n"
		"many_stubs:\n\t"
		".set jf_many_i, 0\n\t"
		".rept %c[sites]\n\t"
		".if jf_many_i == 0\n\t"
		"jf_many_stub %%jf_many_i, 0\n\t"
		".elseif jf_many_i %% 500 == 1\n\t"
		"jf_many_stub %%jf_many_i, 1\n\t"
		".elseif jf_many_i %% 50 == 2\n\t"
		"jf_many_stub %%jf_many_i, 2\n\t"
		".elseif jf_many_i %% 5 == 3\n\t"
		"jf_many_stub %%jf_many_i, 3\n\t"
		".else\n\t"
		"jf_many_stub %%jf_many_i, 4\n\t"
		".endif\n\t"
		".set jf_many_i, jf_many_i + 1\n\t"
		".endr\n\t"
		".noaltmacro\n\t"
		".popsection\n\t"
		: : [jf_ent] "i" (offsetof(struct jf_func, ent)),
		[jf_flags] "i" (JF_SITE_CALL), [stride] "i" (STRIDE), [sites] "i" (SITES));
}

/* The stubs have no types: kCFI would refuse them, and FineIBT call the bytes in front. */
#ifndef __nocfi
#define __nocfi
#endif

static noinline u64 __nocfi call_stub(unsigned int i, u64 x)
{
	many_fn *f = (many_fn *)(many_stubs + i * STRIDE);

	OPTIMIZER_HIDE_VAR(f);
	return f(x);
}

static u64 call_tramp(unsigned int func, u64 x)
{
	switch (func) {
	case 0:
		return dynfunc_many_k0(x);
	case 1:
		return dynfunc_many_k1(x);
	case 2:
		return dynfunc_many_k2(x);
	case 3:
		return dynfunc_many_k3(x);
	}
	return dynfunc_many_k4(x);
}

static int set_funcs(unsigned int mask, const unsigned int *target)
{
	struct jf_batch b;
	unsigned int k;

	jf_batch_init(&b);
	for (k = 0; k < NFUNCS; k++)
		if (mask & BIT(k))
			__jf_batch_set_func(&b, funcs[k], targets[target[k]]);
	return jf_batch_commit(&b);
}

static int set_all(unsigned int t)
{
	unsigned int target[NFUNCS] = { t, t, t, t, t };

	return set_funcs(BIT(NFUNCS) - 1, target);
}

/* --- forms of sites --------------------------------------------------------- */

static int test_layout(void)
{
	DECLARE_BITMAP(line, 64) = { };
	unsigned int n[NFUNCS] = { }, pages[5] = { }, i;
	const struct jf_site_rec *s;

	CHECK_EQ(__jf_tu_sites_end - __jf_tu_sites, SITES);
	for (s = __jf_tu_sites; s < __jf_tu_sites_end; s++) {
		unsigned long addr = jft_site_addr(s);
		unsigned int left = PAGE_SIZE - offset_in_page(addr);

		__set_bit(addr % 64, line);
		if (left < 5)
			pages[left]++;
		for (i = 0; i < NFUNCS; i++)
			n[i] += s->ent == &funcs[i]->ent;
	}
	CHECK_EQ(bitmap_weight(line, 64), 64);
	for (i = 1; i < 5; i++)
		CHECK(pages[i] > 0);
	for (i = 0; i < NFUNCS; i++)
		CHECK_EQ(n[i], func_sites[i]);
	return 0;
}

static void check_all(unsigned int t)
{
	unsigned int i, bad = 0;

	for (i = 0; i < SITES; i++)
		bad += call_stub(i, i) != (mix(i) | t);
	for (i = 0; i < NFUNCS; i++)
		bad += call_tramp(i, i) != (mix(i) | t);
	CHECK_EQ(bad, 0);
}

/* The shell compares the counters around this: one batch each time. */
static int test_all_1(void)
{
	CHECK_EQ(set_all(1), 0);
	check_all(1);
	return 0;
}

static int test_all_0(void)
{
	CHECK_EQ(set_all(0), 0);
	check_all(0);
	return 0;
}

/* Without a check: the write to "run" returns the result of the batch. */
static int do_set_1(void)
{
	return set_all(1);
}

static int do_set_0(void)
{
	return set_all(0);
}

/* One of 5000 sites is not as it should be: the first, the last, any. */
static int test_one_bad(void)
{
	static const unsigned int which[] = { 0, 4, 1999, 2500, 4999 };
	unsigned int i;
	u8 *text;

	text = vmalloc(SITES * STRIDE);
	if (!text)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(which); i++) {
		unsigned long addr = jft_site_of(funcs[func_of(which[i])], many_stubs + which[i] * STRIDE);
		u8 good = *(u8 *)(addr + 4), bad = good ^ 1;

		CHECK_EQ(jft_poke(addr + 4, &bad, 1), 0);
		memcpy(text, many_stubs, SITES * STRIDE);
		CHECK_EQ(set_all(2), -EILSEQ);
		CHECK(!memcmp(text, many_stubs, SITES * STRIDE));
		CHECK_EQ(jft_poke(addr + 4, &good, 1), 0);
		check_all(0);
	}
	vfree(text);
	return 0;
}

/*
 * The same, but the foreign byte is written when all has been verified: in the moment
 * in which jumpfunc asks for its writable mapping, when nothing is in between any
 * more but the breakpoints. The breakpoints that are set already must be taken back.
 */
static u8 *late_byte;
static u8 late_value;
static int lates;

static int on_vmap(struct kprobe *p, struct pt_regs *regs)
{
	u8 *byte = READ_ONCE(late_byte);

	if (byte && current->mm) {
		*byte = late_value;
		lates++;
	}
	return 0;
}

static struct kprobe late_probe = { .symbol_name = "vmap", .pre_handler = on_vmap };

static int test_late(void)
{
	static const unsigned int which[] = { 0, 4, 1999, 2500, 4999 };
	static const u8 bytes[] = { 0x90, 0xcc, 0xe9 };
	unsigned int i, j;
	struct page *page;
	u8 *text, *map;
	int err;

	text = vmalloc(SITES * STRIDE);
	if (!text)
		return -ENOMEM;
	err = register_kprobe(&late_probe);
	CHECK_EQ(err, 0);
	for (i = 0; !err && i < ARRAY_SIZE(which); i++) {
		unsigned long addr = jft_site_of(funcs[func_of(which[i])], many_stubs + which[i] * STRIDE);
		u8 good = *(u8 *)addr;

		page = vmalloc_to_page((void *)addr);
		map = vmap(&page, 1, VM_MAP, PAGE_KERNEL);
		if (!CHECK(map))
			break;
		for (j = 0; j < ARRAY_SIZE(bytes); j++) {
			memcpy(text, many_stubs, SITES * STRIDE);
			text[addr - (unsigned long)many_stubs] = late_value = bytes[j];
			lates = 0;
			WRITE_ONCE(late_byte, map + offset_in_page(addr));
			CHECK_EQ(set_all(2), -EBUSY);
			WRITE_ONCE(late_byte, NULL);
			CHECK_EQ(lates, 1);
			CHECK(!memcmp(text, many_stubs, SITES * STRIDE));
			map[offset_in_page(addr)] = good;
			on_each_cpu(jft_sync, NULL, 1);
			check_all(0);
		}
		vunmap(map);
	}
	if (!err)
		unregister_kprobe(&late_probe);
	vfree(text);
	return 0;
}

/* --- the storm ---------------------------------------------------------------- */

struct counters {
	u64 calls, bad_value, bad_target;
	u64 hits[NTARGETS];
	u64 rnd;
};

enum { IN_TASK, IN_IRQ, IN_NMI, NCONTEXTS };

struct cpu_counters {
	struct counters c[NCONTEXTS];
};

static DEFINE_PER_CPU(struct cpu_counters, counters);
static struct callers callers;
static bool storming;

static oracle_word may[NFUNCS];

static u64 random_of(struct counters *c)
{
	c->rnd = c->rnd * 6364136223846793005ULL + 1442695040888963407ULL;
	return c->rnd >> 33;
}

static __always_inline void one_call(struct counters *c)
{
	u64 r = random_of(c), x = c->rnd, got;
	unsigned int k = r % NFUNCS;
	unsigned int i = stub_of(k, r / NFUNCS);
	oracle_word before = oracle_before(&may[k]);
	bool allowed;

	got = r & BIT(20) ? call_tramp(k, x) : call_stub(i, x);
	allowed = oracle_allows(&may[k], before, got & 3);
	c->calls++;
	if ((got & ~3ULL) != mix(x) || (got & 3) >= NTARGETS) {
		c->bad_value++;
		return;
	}
	c->hits[got & 3]++;
	c->bad_target += !allowed;
}

static int storm_thread(void *unused)
{
	struct counters *c = &per_cpu_ptr(&counters, raw_smp_processor_id())->c[IN_TASK];
	int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 64; i++)
			one_call(c);
		/* An emulator that runs one CPU at a time goes to the next one. */
		cpu_relax();
		cond_resched();
	}
	return 0;
}

static void storm_nmi(void)
{
	struct counters *c = &this_cpu_ptr(&counters)->c[IN_NMI];
	int i;

	for (i = 0; i < 8; i++)
		one_call(c);
}

static enum hrtimer_restart storm_tick(struct hrtimer *t)
{
	struct counters *c = &this_cpu_ptr(&counters)->c[IN_IRQ];
	unsigned int cpu = cpumask_next(smp_processor_id(), cpu_online_mask);
	int i;

	for (i = 0; i < 8; i++)
		one_call(c);
	if (!READ_ONCE(storming))
		return HRTIMER_NORESTART;
	/* An NMI for the neighbour. It may be in the midst of anything. */
	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(cpu_online_mask);
	nmi_send(cpu);
	return callers_again(&callers, t);
}

static void stop_threads(void)
{
	WRITE_ONCE(storming, false);
	callers_stop(&callers);
}

static int start_threads(void)
{
	WRITE_ONCE(storming, true);
	callers = (struct callers){ "jf_many_sites", storm_thread, storm_tick, timer_us };
	return callers_start(&callers);
}

static u64 sum(int context, size_t offset)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_possible_cpu(cpu)
		n += *(u64 *)((void *)&per_cpu_ptr(&counters, cpu)->c[context] + offset);
	return n;
}

#define SUM(context, field)	sum(context, offsetof(struct counters, field))
#define SUM_ALL(field)	(SUM(IN_TASK, field) + SUM(IN_IRQ, field) + SUM(IN_NMI, field))

/* The updater's work. */
struct updates {
	struct counters r;
	unsigned int target[NFUNCS];
	u64 batches, sites, changes, most;
};

static void storm_reset(void)
{
	unsigned int cpu, k, i;

	for_each_possible_cpu(cpu) {
		struct cpu_counters *all = per_cpu_ptr(&counters, cpu);

		memset(all, 0, sizeof(*all));
		for (i = 0; i < NCONTEXTS; i++)
			all->c[i].rnd = cpu * 1000 + i;
	}
	for (k = 0; k < NFUNCS; k++)
		oracle_publish(&may[k], BIT(0));
}

/* One function, any subset, or all but the largest one. */
static unsigned int some_funcs(struct counters *r)
{
	unsigned int mask = random_of(r) % 3 ? BIT(random_of(r) % 4) :
			    random_of(r) % (BIT(NFUNCS) - 1) + 1;

	return mask & (BIT(min_t(unsigned int, storm_funcs, NFUNCS)) - 1);
}

static int storm_update(struct updates *u)
{
	unsigned int mask = some_funcs(&u->r), next[NFUNCS], k;
	u64 n = 0;
	int err;

	for (k = 0; k < NFUNCS; k++) {
		next[k] = random_of(&u->r) % NTARGETS;
		if (!(mask & BIT(k)))
			continue;
		oracle_publish(&may[k], BIT(u->target[k]) | BIT(next[k]));
		if (next[k] == u->target[k])
			continue;
		u->changes++;
		n += func_sites[k] + 1;
	}
	err = set_funcs(mask, next);
	for (k = 0; k < NFUNCS; k++) {
		if (!(mask & BIT(k)))
			continue;
		oracle_publish(&may[k], BIT(next[k]));
		u->target[k] = next[k];
	}
	u->batches++;
	u->sites += n;
	u->most = max(u->most, n);
	return err;
}

static int storm_run(struct updates *u)
{
	u64 end = ktime_get_ns() + seconds * NSEC_PER_SEC;
	int err = 0;

	/* At least some batches, however slow the machine; but not for ever. */
	while ((ktime_get_ns() < end || (u->batches < 16 && ktime_get_ns() < end + 60 * NSEC_PER_SEC)) &&
	       !err && !fatal_signal_pending(current)) {
		err = storm_update(u);
		/* Now and then back to back, as the callers may be in INT3s of the last one. */
		if (!(u->batches % 4))
			usleep_range(200, 1000);
	}
	return err;
}

static void storm_check(const struct updates *u)
{
	unsigned int i;

	CHECK_EQ(SUM_ALL(bad_value), 0);
	CHECK_EQ(SUM_ALL(bad_target), 0);
	CHECK(SUM(IN_TASK, calls) > 1000);
	CHECK(SUM(IN_IRQ, calls) > 100);
	CHECK(SUM(IN_NMI, calls) > 100);
	CHECK(u->batches >= 16);
	for (i = 0; i < NTARGETS; i++)
		CHECK(SUM_ALL(hits[i]) > 0);
	CHECK_EQ(set_all(0), 0);
	check_all(0);
}

static int test_storm(void)
{
	struct updates u = { .r.rnd = 42 };
	u64 ns;

	storm_reset();
	if (!CHECK_EQ(nmi_start(storm_nmi), 0))
		return 0;
	if (!CHECK_EQ(start_threads(), 0))
		goto out;
	ns = ktime_get_ns();
	CHECK_EQ(storm_run(&u), 0);
	ns = ktime_get_ns() - ns;
	stop_threads();
	pr_info("jf_many_sites: %llu ms: calls %llu irq %llu nmi %llu; batches %llu funcs %llu sites %llu, at most %llu; targets %llu %llu %llu\n",
		ns / NSEC_PER_MSEC, SUM(IN_TASK, calls), SUM(IN_IRQ, calls), SUM(IN_NMI, calls),
		u.batches, u.changes, u.sites, u.most, SUM_ALL(hits[0]), SUM_ALL(hits[1]), SUM_ALL(hits[2]));
	storm_check(&u);
out:
	nmi_stop();
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "layout", test_layout },
	{ "all_1", test_all_1 },
	{ "all_0", test_all_0 },
	{ "one_bad", test_one_bad },
	{ "late", test_late },
	{ "storm", test_storm },
	{ "set_1", do_set_1 },
	{ "set_0", do_set_0 },
	{ }
};

/* One number for the text of all sites and trampolines: `functions` takes long to say that. */
static int text_show(struct seq_file *m, void *v)
{
	u64 sum = 0xcbf29ce484222325ULL;
	const u8 *p = many_stubs;
	unsigned int i, k;

	/* Else the loop's end may become a relocation that names the symbol after the last stub. */
	OPTIMIZER_HIDE_VAR(p);
	for (i = 0; i < SITES * STRIDE; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ULL;
	for (k = 0; k < NFUNCS; k++)
		sum = (sum ^ call_tramp(k, k)) * 0x100000001b3ULL;
	seq_printf(m, "%llx\n", sum);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(text);

static int __init many_init(void)
{
	int err = jft_init();

	if (!err)
		debugfs_create_file("text", 0400, jft_dir, NULL, &text_fops);
	return err;
}

module_init(many_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Five thousand sites, and a storm over them");
