// SPDX-License-Identifier: GPL-2.0
/*
 * Updates that must fail, with the errno that jf_batch_commit() documents, and
 * with every byte of every site as it was.
 *
 * Faults that were tried, by the case that they broke:
 *   null	the test of JF_ENT_NULL_OK removed
 *   twice	jf_mark() takes different values for equal ones
 *   foreign, int3	jf_arch_verify() finds nothing
 *   atomic	jf_check_context() does not check for interrupts
 * and in jf_refusals_target.c: the tests of __init text and of MODULE_STATE_GOING in
 * jf_check_func() and jf_check_change() removed.
 */
#include "jf_test.h"
#include "jf_refusals.h"

#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

static bool patches = true;
module_param(patches, bool, 0444);
MODULE_PARM_DESC(patches, "does the back end write text?");

static noinline int one(int a)
{
	return a + 1;
}

static noinline int two(int a)
{
	return a + 2;
}

static void __maybe_unused hook(int a)
{
}

DEFINE_DYNFUNC(bad_a, one);
DEFINE_DYNFUNC(bad_b, one);
DEFINE_DYNFUNC(bad_c, one);
DEFINE_DYNFUNC_NULL(bad_null, hook);
DEFINE_DYNFUNC_RET0(bad_ret0, one);
DEFINE_DYNFUNC(bad_shared, one);
EXPORT_DYNFUNC_GPL(bad_shared);

static noinline int call_a(int a)
{
	return dynfunc_call(bad_a, a);
}

static noinline int call_a_too(int a)
{
	return dynfunc_call(bad_a, a) + 10;
}

static noinline int call_b(int a)
{
	return dynfunc_call(bad_b, a);
}

static noinline __maybe_unused int call_shared(int a)
{
	return dynfunc_call(bad_shared, a);
}

/* --- all of the module's patched text -------------------------------------- */

#define SNAP_BYTES	16
#define SNAP_MAX	64

static u8 snap[SNAP_MAX][SNAP_BYTES], snap_now[SNAP_MAX][SNAP_BYTES];

static void take_snap(u8 (*to)[SNAP_BYTES])
{
	const struct jf_site_rec *s;
	const struct jf_ent_rec *e;
	unsigned int n = 0;

	for (s = __jf_tu_sites; s < __jf_tu_sites_end && n < SNAP_MAX; s++)
		memcpy(to[n++], (void *)jft_site_addr(s), JFT_SITE_SIZE);
	for (e = __jf_tu_ents; e < __jf_tu_ents_end && n < SNAP_MAX; e++)
		if (e->tramp)
			memcpy(to[n++], e->tramp, SNAP_BYTES);
}

static void before(void)
{
	take_snap(snap);
}

/* Nothing has changed: neither text, nor targets. */
#define UNCHANGED()							\
do {									\
	take_snap(snap_now);						\
	CHECK(!memcmp(snap, snap_now, sizeof(snap)));			\
	CHECK_EQ(call_a(1), 2);						\
	CHECK_EQ(call_a_too(1), 12);					\
	CHECK_EQ(dynfunc_bad_a(1), 2);					\
	CHECK_EQ(call_b(1), 2);						\
	CHECK_EQ(dynfunc_bad_b(1), 2);					\
	CHECK_EQ(dynfunc_query(bad_a), one);				\
	CHECK_EQ(dynfunc_query(bad_b), one);				\
} while (0)

/* And an update still works. */
static void still_works(void)
{
	CHECK_EQ(dynfunc_update(bad_a, two), 0);
	CHECK_EQ(call_a(1), 3);
	CHECK_EQ(call_a_too(1), 13);
	CHECK_EQ(dynfunc_bad_a(1), 3);
	CHECK_EQ(dynfunc_update(bad_a, one), 0);
	UNCHANGED();
}

/* --- out of range ------------------------------------------------------------ */

#if JF_HAVE_PATCHING
static int set_far(void *func)
{
	return __jf_func_update_flags(&__jf_func_bad_a, func, JF_VOUCH);
}

#ifdef CONFIG_ARM64
/* All of its sites: the lowest and the highest address. */
static void range_of(unsigned long *low, unsigned long *high)
{
	const struct jf_site_rec *s;

	*low = jft_tramp_site(&dynfunc_bad_a);
	*high = *low;
	for (s = __jf_tu_sites; s < __jf_tu_sites_end; s++) {
		if (s->ent != &__jf_func_bad_a.ent)
			continue;
		*low = min(*low, jft_site_addr(s));
		*high = max(*high, jft_site_addr(s));
	}
}

/* Out of reach: the call is one of the trampoline, which goes on to the pointer. */
static void check_far(unsigned long far, unsigned int site_far, unsigned int tramp_far)
{
	unsigned long tramp = jft_tramp_site(&dynfunc_bad_a), site, to;
	u32 insn;

	site = jft_site_of(&__jf_func_bad_a, call_a_too);
	if (!CHECK(site))
		return;
	CHECK_EQ(set_far((void *)far), 0);
	CHECK_EQ(dynfunc_query(bad_a), far);
	CHECK_EQ(*(u32 *)tramp == 0xd503201f, tramp_far);
	insn = *(u32 *)site;
	CHECK_EQ(insn >> 26, 0x25);
	to = site + ((long)(s32)(insn << 6) >> 4);
	CHECK_EQ(to, site_far ? (unsigned long)&dynfunc_bad_a : far);
	CHECK_EQ(dynfunc_update(bad_a, one), 0);
	UNCHANGED();
}

/* A branch reaches [-128 MiB, 128 MiB - 4]. None of these is called but the last one. */
static int test_range(void)
{
	unsigned long low, high, site = jft_site_of(&__jf_func_bad_a, call_a_too);
	unsigned long tramp = jft_tramp_site(&dynfunc_bad_a);
	const unsigned long reach = 128UL << 20;

	if (!patches) {
		CHECK(true);
		return 0;
	}
	range_of(&low, &high);
	before();
	/* No module has text there, so it is refused. */
	CHECK_EQ(__jf_func_update(&__jf_func_bad_a, (void *)(low - 0x1000000000UL)), -EPERM);
	UNCHANGED();
	/* No instruction. */
	CHECK_EQ(set_far((void *)(low + 2)), -EINVAL);
	UNCHANGED();
	check_far(high - reach, 0, 0);
	check_far(low + reach - 4, 0, 0);
	check_far(low - 0x100000000UL, 1, 1);
	check_far(low + 0x7fff800000000000UL, 1, 1);
	/* In reach of one of the two, whichever is nearer. */
	check_far(max(site, tramp) - reach - 4, site > tramp, tramp > site);
	check_far(min(site, tramp) + reach, site < tramp, tramp < site);
	/* The kernel, which is far from modules on most machines. */
	CHECK_EQ(__jf_func_update(&__jf_func_bad_a, int_sqrt), 0);
	CHECK_EQ(call_a(144), 12);
	CHECK_EQ(call_a_too(144), 22);
	CHECK_EQ(dynfunc_bad_a(144), 12);
	CHECK_EQ(dynfunc_update(bad_a, one), 0);
	UNCHANGED();
	still_works();
	return 0;
}
#else
static int test_range(void)
{
	unsigned long low = -1UL, high = 0, addr;
	const struct jf_site_rec *s;

	if (!patches) {
		CHECK(true);
		return 0;
	}
	for (s = __jf_tu_sites; s < __jf_tu_sites_end; s++) {
		if (s->ent != &__jf_func_bad_a.ent)
			continue;
		addr = jft_site_addr(s);
		low = min(low, addr);
		high = max(high, addr);
	}
	/* The trampoline, whose jump stands within its first 16 bytes. */
	addr = (unsigned long)&dynfunc_bad_a;
	low = min(low, addr);
	high = max(high, addr + 11);

	before();
	/* In no text that is known, and so refused without JF_VOUCH. */
	CHECK_EQ(__jf_func_update(&__jf_func_bad_a, (void *)(low + 5 - 0x80000000UL)), -EPERM);
	UNCHANGED();
	/* Far away on either side. None of these is ever called. */
	CHECK_EQ(set_far((void *)(low - 0x100000000UL)), -ERANGE);
	UNCHANGED();
	CHECK_EQ(set_far((void *)(low + 0x7fff800000000000UL)), -ERANGE);
	UNCHANGED();
	/* In reach of the lowest site and of no other one. */
	CHECK_EQ(set_far((void *)(low + 5 - 0x80000000UL)), -ERANGE);
	UNCHANGED();
	/* In reach of all, by a margin of some bytes. */
	CHECK_EQ(set_far((void *)(high + 5 - 0x80000000UL)), 0);
	CHECK_EQ(dynfunc_query(bad_a), high + 5 - 0x80000000UL);
	CHECK_EQ(dynfunc_update(bad_a, one), 0);
	UNCHANGED();
	still_works();
	return 0;
}
#endif
#else
static int test_range(void)
{
	return JFT_SKIP;
}
#endif

/* --- values that the function forbids ------------------------------------------ */

static int test_null(void)
{
	struct jf_batch b;

	before();
	CHECK_EQ(dynfunc_update(bad_a, NULL), -EINVAL);
	UNCHANGED();
	/* By their names, too. */
	CHECK_EQ(__jf_func_update(&__jf_func_bad_a, jf_nop), -EINVAL);
	UNCHANGED();
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_b, two);
	dynfunc_batch_set(&b, bad_a, NULL);
	CHECK_EQ(jf_batch_commit(&b), -EINVAL);
	UNCHANGED();
	CHECK_EQ(dynfunc_update(bad_null, NULL), 0);
	CHECK_EQ(dynfunc_update(bad_ret0, NULL), 0);
	UNCHANGED();
	still_works();
	return 0;
}

static int test_twice(void)
{
	struct jf_batch b;

	before();
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, two);
	dynfunc_batch_set(&b, bad_b, two);
	dynfunc_batch_set(&b, bad_a, one);
	CHECK_EQ(jf_batch_commit(&b), -EINVAL);
	UNCHANGED();

	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, two);
	dynfunc_batch_set(&b, bad_b, two);
	dynfunc_batch_set(&b, bad_a, two);
	CHECK_EQ(jf_batch_commit(&b), 0);
	CHECK_EQ(call_a(1), 3);
	CHECK_EQ(call_b(1), 3);
	/* A committed batch is empty and can be used again. */
	dynfunc_batch_set(&b, bad_a, one);
	dynfunc_batch_set(&b, bad_b, one);
	CHECK_EQ(jf_batch_commit(&b), 0);
	UNCHANGED();
	return 0;
}

#if JF_HAVE_PATCHING
static int test_circular(void)
{
	struct jf_batch b;

	before();
	CHECK_EQ(dynfunc_update(bad_a, &dynfunc_bad_a), -EINVAL);
	UNCHANGED();
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, &dynfunc_bad_b);
	dynfunc_batch_set(&b, bad_b, &dynfunc_bad_a);
	CHECK_EQ(jf_batch_commit(&b), -EINVAL);
	UNCHANGED();
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, &dynfunc_bad_b);
	dynfunc_batch_set(&b, bad_b, &dynfunc_bad_c);
	dynfunc_batch_set(&b, bad_c, &dynfunc_bad_a);
	CHECK_EQ(jf_batch_commit(&b), -EINVAL);
	UNCHANGED();
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, &dynfunc_bad_b);
	dynfunc_batch_set(&b, bad_b, &dynfunc_bad_c);
	CHECK_EQ(jf_batch_commit(&b), 0);
	CHECK_EQ(call_a(1), 2);
	CHECK_EQ(dynfunc_update(bad_c, &dynfunc_bad_b), -EINVAL);
	CHECK_EQ(dynfunc_update(bad_c, &dynfunc_bad_a), -EINVAL);
	/* Turned around in one batch: no circle at the end. */
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_b, one);
	dynfunc_batch_set(&b, bad_c, &dynfunc_bad_b);
	CHECK_EQ(jf_batch_commit(&b), 0);
	CHECK_EQ(dynfunc_bad_c(1), 2);
	CHECK_EQ(dynfunc_update(bad_c, one), 0);
	CHECK_EQ(dynfunc_update(bad_a, one), 0);
	UNCHANGED();
	still_works();
	return 0;
}
#else
/* Nothing can lead to a dynamic function itself. */
static int test_circular(void)
{
	return JFT_SKIP;
}
#endif

static int test_unknown(void)
{
	static struct jf_func stray = __JF_FUNC_INIT(stray, one, 0);
	struct jf_batch b;

	before();
	CHECK_EQ(__jf_func_update(&stray, two), -ENODEV);
	CHECK_EQ(__jf_func_query(&stray), one);
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, two);
	__jf_batch_set_func(&b, &stray, two);
	dynfunc_batch_set(&b, bad_b, two);
	CHECK_EQ(jf_batch_commit(&b), -ENODEV);
	UNCHANGED();
	still_works();
	return 0;
}

/* --- text that is not as it should be -------------------------------------------- */

#if JF_HAVE_PATCHING
static void update_over(unsigned long addr, const void *bytes, size_t len, int want)
{
	struct jf_batch b;
	u8 old[8];

	memcpy(old, (void *)addr, len);
	CHECK_EQ(jft_poke(addr, bytes, len), 0);
	CHECK(!memcmp((void *)addr, bytes, len));
	before();

	CHECK_EQ(dynfunc_update(bad_a, two), want);
	take_snap(snap_now);
	CHECK(!memcmp(snap, snap_now, sizeof(snap)));
	CHECK_EQ(dynfunc_query(bad_a), one);
	/* In a batch, whatever its place in it. */
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_b, two);
	dynfunc_batch_set(&b, bad_a, two);
	dynfunc_batch_set(&b, bad_shared, two);
	CHECK_EQ(jf_batch_commit(&b), want);
	take_snap(snap_now);
	CHECK(!memcmp(snap, snap_now, sizeof(snap)));
	CHECK_EQ(dynfunc_query(bad_b), one);
	CHECK_EQ(call_b(1), 2);
	CHECK_EQ(call_shared(1), 2);
	/* Other functions are not affected. */
	CHECK_EQ(dynfunc_update(bad_b, two), 0);
	CHECK_EQ(dynfunc_update(bad_b, one), 0);

	CHECK_EQ(jft_poke(addr, old, len), 0);
	before();
	UNCHANGED();
	still_works();
}

/* Each byte of a site in turn, and of the trampoline's jump. */
static int test_foreign(void)
{
	unsigned long site = jft_site_of(&__jf_func_bad_a, call_a_too);
	unsigned long tramp = jft_tramp_site(&dynfunc_bad_a);
	static const u8 __maybe_unused nop6[] = { 0x66, 0x0f, 0x1f, 0x44, 0x00 };
	int i;

	if (!CHECK(site) || !patches)
		return 0;
	for (i = 0; i < JFT_SITE_SIZE; i++) {
		u8 byte = ((u8 *)site)[i] ^ 0x40;

		update_over(site + i, &byte, 1, -EILSEQ);
		byte = ((u8 *)tramp)[i] ^ 0x40;
		update_over(tramp + i, &byte, 1, -EILSEQ);
	}
#ifdef CONFIG_X86_64
	update_over(site, nop6, 5, -EILSEQ);
#endif
	return 0;
}

static int test_int3(void)
{
	unsigned long site = jft_site_of(&__jf_func_bad_a, call_a_too);

	if (!CHECK(site) || !patches)
		return 0;
	update_over(site, JFT_BREAK, JFT_BREAK_SIZE, -EBUSY);
#ifdef CONFIG_X86_64
	/* No handler knows this INT3, and yet the call arrives: the site is jumpfunc's. */
	CHECK_EQ(jft_poke(site, JFT_BREAK, 1), 0);
	CHECK_EQ(call_a_too(1), 12);
	CHECK_EQ(jft_poke(site, "\xe8", 1), 0);
#endif
	return 0;
}
#else
static int test_foreign(void)
{
	return JFT_SKIP;
}

static int test_int3(void)
{
	return JFT_SKIP;
}
#endif

/* --- atomic context ----------------------------------------------------------------- */

static int from_irq;

static void update_from_irq(void *unused)
{
	from_irq = dynfunc_update(bad_a, two);
}

static int test_atomic(void)
{
	static DEFINE_SPINLOCK(lock);
	struct jf_batch b, c;
	unsigned long flags;

	before();
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, two);
	jf_batch_init(&c);

	local_irq_save(flags);
	CHECK_EQ(dynfunc_update(bad_a, two), -EWOULDBLOCK);
	CHECK_EQ(jf_batch_commit(&b), -EWOULDBLOCK);
	CHECK_EQ(jf_batch_commit(&c), -EWOULDBLOCK);
	local_irq_restore(flags);
	UNCHANGED();

	smp_call_function_single(raw_smp_processor_id(), update_from_irq, NULL, 1);
	CHECK_EQ(from_irq, -EWOULDBLOCK);
	smp_call_function_single(cpumask_any_but(cpu_online_mask, 0), update_from_irq, NULL, 1);
	CHECK_EQ(from_irq, -EWOULDBLOCK);
	local_bh_disable();
	CHECK_EQ(dynfunc_update(bad_a, two), -EWOULDBLOCK);
	local_bh_enable();
	UNCHANGED();

	/* Without a count of preemption, jumpfunc cannot know. */
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT)) {
		preempt_disable();
		CHECK_EQ(dynfunc_update(bad_a, two), -EWOULDBLOCK);
		preempt_enable();
		if (!IS_ENABLED(CONFIG_PREEMPT_RT)) {
			spin_lock(&lock);
			CHECK_EQ(dynfunc_update(bad_a, two), -EWOULDBLOCK);
			spin_unlock(&lock);
		}
	}
	UNCHANGED();
	still_works();
	return 0;
}

/* --- batches ------------------------------------------------------------------------- */

static int test_batch(void)
{
	struct jf_batch b;

	before();
	/* Aborted. */
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, two);
	jf_batch_abort(&b);
	CHECK_EQ(jf_batch_commit(&b), 0);
	UNCHANGED();
	/* Failed while it was filled. */
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, two);
	b.err = -ENOMEM;
	CHECK_EQ(jf_batch_commit(&b), -ENOMEM);
	UNCHANGED();
	/* And usable again. */
	dynfunc_batch_set(&b, bad_a, two);
	CHECK_EQ(jf_batch_commit(&b), 0);
	CHECK_EQ(call_a(1), 3);
	CHECK_EQ(dynfunc_update(bad_a, one), 0);
	UNCHANGED();
	return 0;
}

/* The shell compares the counters around this. */
static int test_nothing(void)
{
	struct jf_batch b;

	before();
	jf_batch_init(&b);
	CHECK_EQ(jf_batch_commit(&b), 0);
	dynfunc_batch_set(&b, bad_a, one);
	dynfunc_batch_set(&b, bad_b, one);
	dynfunc_batch_set(&b, bad_null, NULL);
	dynfunc_batch_set(&b, bad_ret0, NULL);
	dynfunc_batch_set(&b, bad_a, one);
	CHECK_EQ(jf_batch_commit(&b), 0);
	CHECK_EQ(dynfunc_update(bad_shared, one), 0);
	UNCHANGED();
	return 0;
}

/* --- no addresses for the writable mapping ------------------------------------------- */

static unsigned int fails;
module_param(fails, uint, 0444);
MODULE_PARM_DESC(fails, "mappings that failed in case alias");

#ifdef CONFIG_KRETPROBES
/* Whose vmap() fails, and its result, which cannot be unmapped in the probe. */
static struct task_struct *victim;
static void *mapped;

static int fail_vmap(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (READ_ONCE(victim) != current)
		return 0;
	mapped = (void *)regs_return_value(regs);
	regs_set_return_value(regs, 0);
	fails++;
	return 0;
}

/* A back end that maps nothing changes both. */
static int test_alias(void)
{
	struct kretprobe probe = {
		.kp.symbol_name	= "vmap",
		.handler	= fail_vmap,
		.maxactive	= 16,
	};
	struct jf_batch b;
	int err;

	before();
	if (!CHECK_EQ(register_kretprobe(&probe), 0))
		return 0;
	WRITE_ONCE(victim, current);
	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_a, two);
	dynfunc_batch_set(&b, bad_b, two);
	err = jf_batch_commit(&b);
	WRITE_ONCE(victim, NULL);
	unregister_kretprobe(&probe);
	vunmap(mapped);
	CHECK_EQ(err, fails ? -ENOMEM : 0);
	if (!err) {
		CHECK_EQ(dynfunc_update(bad_a, one), 0);
		CHECK_EQ(dynfunc_update(bad_b, one), 0);
	}
	UNCHANGED();
	still_works();
	return 0;
}
#else
static int test_alias(void)
{
	return 0;
}
#endif

const struct jft_case jft_cases[] = {
	{ "range", test_range },
	{ "null", test_null },
	{ "twice", test_twice },
	{ "circular", test_circular },
	{ "unknown", test_unknown },
	{ "foreign", test_foreign },
	{ "int3", test_int3 },
	{ "atomic", test_atomic },
	{ "batch", test_batch },
	{ "alias", test_alias },
	{ "nothing", test_nothing },
	{ }
};

module_init(jft_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Updates that must fail and change nothing");
