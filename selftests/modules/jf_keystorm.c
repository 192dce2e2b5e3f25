// SPDX-License-Identifier: GPL-2.0
/*
 * Storm on jump labels: branches run on every CPU, in threads and in timer
 * interrupts, while their keys are toggled; and keys are counted up and down from
 * every CPU at once.
 *
 * /sys/kernel/debug/jf_keystorm/
 *   toggle	write N: toggle N times, returns when it is done
 *   run	write 1: the threads count keys up and down as well; 0: they stop,
 *		and have stopped when the write returns; 2: the users that the
 *		threads left are taken away
 *   results	counters, "name value"; all that begin with "bad_" must stay 0
 *
 * The checks:
 *   phase	an answer, off or on, is one that oracle.h allows
 *   users	a thread that has counted a key up sees it enabled until it counts it
 *		down, and a thread that disables it takes no user away from others. One
 *		key is deferred: its last user leaves later, or never.
 *   at rest	a key's count is the sum of the threads' shares, and its branches agree with the
 *		count.
 *   places	the sites of the toggled key stand at each offset in a cache line,
 *		and across the end of a page. The module checks where they really
 *		are, and reads their first byte.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <jumpfunc/branch.h>

#include "callers.h"
#include "files.h"
#include "oracle.h"

static unsigned int timer_us = 500;
module_param(timer_us, uint, 0444);
MODULE_PARM_DESC(timer_us, "period of the timer interrupts that run branches, in microseconds (default 500)");

static DEFINE_JF_KEY_FALSE(storm_key);

/* --- sites at chosen places --------------------------------------------- */

/* In a register now, and not before the site: clang would put that in between. */
static __always_inline int number(const int n)
{
	int r;

#ifdef CONFIG_ARM64
	asm volatile("mov %w0, %1" : "=r" (r) : "i" (n));
#else
	asm volatile("movl %1, %0" : "=r" (r) : "i" (n));
#endif
	return r;
}

/*
 * The label is where the site will be, unless the compiler puts something in
 * between; that is checked before it is relied upon.
 */
#define PLACE(name, form, place)					\
extern const u8 site_##name[];						\
static noinline int at_##name(void)					\
{									\
	asm volatile(place "\nsite_" #name ":" : : );			\
	if (jf_branch_##form(&storm_key))				\
		return number(1);					\
	return number(0);						\
}

#ifdef CONFIG_ARM64
/* Instructions have four bytes, so that places are told up to three bytes too far. */
#define AT(n)		((n) / 4 * 4)
#define LINE(n, form)	PLACE(l##n, form, ".balign 64\n\t.rept " #n " / 4\n\tnop\n\t.endr")
#define BEFORE_END(n)	(((n) + 3) / 4 * 4)
#define END_OF_PAGE(n)							\
	".balign 4096\n\t"						\
	"b 661f\n\t"							\
	".skip 4096 - 4 - (" #n " + 3) / 4 * 4\n661:"
#else
/* At offset n of a line of 64 bytes; walks over nops to get there. */
#define AT(n)		(n)
#define LINE(n, form)	PLACE(l##n, form, ".balign 64\n\t.rept " #n "\n\tnop\n\t.endr")
/*
 * The first n bytes are the last ones of a page. The assembler jumps over the
 * padding to the page's start; from there it is a jump to the place.
 */
#define BEFORE_END(n)	(n)
#define END_OF_PAGE(n)							\
	".balign 4096\n\t"						\
	".byte 0xe9\n\t.long 661f - (. + 4)\n\t"			\
	".skip 4096 - 5 - " #n ", 0x90\n661:"
#endif
#define PAGE(n)		PLACE(p##n, unlikely, END_OF_PAGE(n))
#define PAGE_INV(n)	PLACE(q##n, likely, END_OF_PAGE(n))

#define LINES8(a, b, c, d, e, f, g, h)					\
	LINE(a, unlikely) LINE(b, likely) LINE(c, unlikely) LINE(d, likely) \
	LINE(e, unlikely) LINE(f, likely) LINE(g, unlikely) LINE(h, likely)

LINES8(0, 1, 2, 3, 4, 5, 6, 7)
LINES8(8, 9, 10, 11, 12, 13, 14, 15)
LINES8(16, 17, 18, 19, 20, 21, 22, 23)
LINES8(24, 25, 26, 27, 28, 29, 30, 31)
LINES8(32, 33, 34, 35, 36, 37, 38, 39)
LINES8(40, 41, 42, 43, 44, 45, 46, 47)
LINES8(48, 49, 50, 51, 52, 53, 54, 55)
LINES8(56, 57, 58, 59, 60, 61, 62, 63)
PAGE(1)
PAGE(2)
PAGE(3)
PAGE(4)
PAGE(5)
PAGE_INV(1)
PAGE_INV(2)
PAGE_INV(3)
PAGE_INV(4)

static const struct place {
	int		(*fn)(void);
	const u8	*site;
	unsigned int	mask, offset;
	bool		likely;
} places[] = {
#define L(n)	{ at_l##n, site_l##n, 63, AT(n) }
#define L8(a, b, c, d, e, f, g, h)					\
	L(a), L(b), L(c), L(d), L(e), L(f), L(g), L(h)
	L8(0, 1, 2, 3, 4, 5, 6, 7),
	L8(8, 9, 10, 11, 12, 13, 14, 15),
	L8(16, 17, 18, 19, 20, 21, 22, 23),
	L8(24, 25, 26, 27, 28, 29, 30, 31),
	L8(32, 33, 34, 35, 36, 37, 38, 39),
	L8(40, 41, 42, 43, 44, 45, 46, 47),
	L8(48, 49, 50, 51, 52, 53, 54, 55),
	L8(56, 57, 58, 59, 60, 61, 62, 63),
#define P(n)	{ at_p##n, site_p##n, 4095, 4096 - BEFORE_END(n) }
#define Q(n)	{ at_q##n, site_q##n, 4095, 4096 - BEFORE_END(n) }
	P(1), P(2), P(3), P(4), P(5), Q(1), Q(2), Q(3), Q(4),
};

#define NPLACES	ARRAY_SIZE(places)

/* --- keys that are counted ---------------------------------------------- */

#define NKEYS	6

static DEFINE_JF_KEY_ARRAY_FALSE(count_key, NKEYS);
/* Counted as well, but its last user leaves late. */
static DEFINE_JF_KEY_DEFERRED_FALSE(late_key, 1);
/* Enabled and disabled by all threads. */
static DEFINE_JF_KEY_FALSE(fight_key);

#define COUNT_FN(n)							\
static noinline int count_##n(void)					\
{									\
	bool a = jf_branch_unlikely(&count_key[n]);			\
	bool b = jf_branch_likely(&count_key[n]);			\
									\
	return a + b;							\
}

COUNT_FN(0)
COUNT_FN(1)
COUNT_FN(2)
COUNT_FN(3)
COUNT_FN(4)
COUNT_FN(5)

static int (* const count_fn[NKEYS])(void) = {
	count_0, count_1, count_2, count_3, count_4, count_5,
};

static noinline int late(void)
{
	bool a = jf_branch_unlikely(&late_key.key);
	bool b = jf_branch_likely(&late_key.key);

	return a + b;
}

static noinline int fight(void)
{
	bool a = jf_branch_unlikely(&fight_key);
	bool b = jf_branch_likely(&fight_key);

	return a + b;
}

/* --- the threads -------------------------------------------------------- */

struct counters {
	u64 calls, said[2], ops, shared, bad_phase, bad_user, bad_op;
	unsigned int next;
	int held[NKEYS], held_late;
	bool resting;
};

static DEFINE_PER_CPU(struct counters, counters);
static DEFINE_PER_CPU(struct counters, irq_counters);
static struct callers callers;
static struct dentry *dir;
static bool counting;

static oracle_word phase = BIT(false);
static DEFINE_MUTEX(mutex);
static u64 toggles, bad_toggles, bad_rest;

static void check_place(struct counters *c, const struct place *p)
{
	oracle_word before = oracle_before(&phase);
	bool got = p->fn();

	if (!oracle_allows(&phase, before, got) && !c->bad_phase++)
		pr_err("jf_keystorm: BAD: site at offset %x says %d in phase %lx\n", p->offset, got, before);
	c->said[got]++;
}

/*
 * Disable a key of which this thread is one user: that removes this user, or is
 * refused since there are other threads, which must not lose theirs.
 */
static int disable_mine(struct counters *c, unsigned int i)
{
	struct jf_batch b;
	int err;

	if (c->ops & 1) {
		err = jf_key_disable(&count_key[i]);
	} else {
		jf_batch_init(&b);
		jf_key_batch_set(&b, &count_key[i], false);
		err = jf_batch_commit(&b);
	}
	if (err == -EBUSY) {
		c->shared++;
		return 0;
	}
	if (!err)
		c->held[i]--;
	return err;
}

static void operate_late(struct counters *c)
{
	int err;

	if (!c->held_late)
		err = jf_key_inc(&late_key.key);
	else
		err = jf_key_dec_deferred(&late_key);
	if (!err)
		c->held_late = !c->held_late;
	else if (!c->bad_op++)
		pr_err("jf_keystorm: BAD: deferred key, held %d: %d\n", c->held_late, err);
	if (c->held_late && late() != 2 && !c->bad_user++)
		pr_err("jf_keystorm: BAD: the deferred key is off although it is held\n");
}

/*
 * A thread has no more than two keys, so that keys often have no user, one,
 * and no user again.
 */
static void operate(struct counters *c)
{
	u32 r = get_random_u32();
	unsigned int i, n = 0;
	int err;

	c->ops++;
	if (!(r & 0x700)) {
		err = r & 0x800 ? jf_key_enable(&fight_key) : jf_key_disable(&fight_key);
		if (err && !c->bad_op++)
			pr_err("jf_keystorm: BAD: fight gave %d\n", err);
		return;
	}
	if (!(r & 0x3000))
		operate_late(c);
	for (i = 0; i < NKEYS; i++)
		n += c->held[i];
	i = r % NKEYS;
	if (n < 1 + (r >> 12 & 1)) {
		err = jf_key_inc(&count_key[i]);
		if (!err)
			c->held[i]++;
	} else {
		while (!c->held[i])
			i = (i + 1) % NKEYS;
		if (c->held[i] == 1 && r & 0x4000) {
			err = disable_mine(c, i);
		} else {
			err = jf_key_dec(&count_key[i]);
			if (!err)
				c->held[i]--;
		}
	}
	if (err && !c->bad_op++)
		pr_err("jf_keystorm: BAD: inc or dec gave %d\n", err);
	for (i = 0; i < NKEYS; i++)
		if (c->held[i] && count_fn[i]() != 2 && !c->bad_user++)
			pr_err("jf_keystorm: BAD: key %u is off although it is held\n", i);
}

static int storm_thread(void *arg)
{
	struct counters *c = per_cpu_ptr(&counters, (long)arg);
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < NPLACES; i++)
			check_place(c, &places[i]);
		c->calls += NPLACES;
		/* Pairs with run_write(), which sees the counts if it sees "resting". */
		if (smp_load_acquire(&counting)) {
			WRITE_ONCE(c->resting, false);
			for (i = 0; i < 4; i++)
				operate(c);
			smp_store_release(&c->resting, !READ_ONCE(counting));
		} else {
			smp_store_release(&c->resting, true);
		}
		/* Emulated CPUs take turns: one that sleeps lets the writer's IPIs through. */
		usleep_range(50, 100);
	}
	return 0;
}

static enum hrtimer_restart storm_tick(struct hrtimer *t)
{
	struct counters *c = this_cpu_ptr(&irq_counters);
	unsigned int i;

	for (i = 0; i < 8; i++) {
		check_place(c, &places[c->next]);
		c->next = (c->next + 1) % NPLACES;
	}
	c->calls += 8;
	return callers_again(&callers, t);
}

/* --- the toggler -------------------------------------------------------- */

static int toggle(unsigned int how, bool on)
{
	struct jf_batch b;

	switch (how % 3) {
	case 0:
		return on ? jf_key_enable(&storm_key) : jf_key_disable(&storm_key);
	case 1:
		return on ? jf_key_inc(&storm_key) : jf_key_dec(&storm_key);
	}
	jf_batch_init(&b);
	jf_key_batch_set(&b, &storm_key, on);
	return jf_batch_commit(&b);
}

static int toggle_number(unsigned int n)
{
	unsigned int i;
	int err = 0;

	mutex_lock(&mutex);
	for (i = 0; i < n && !fatal_signal_pending(current); i++) {
		bool on = !jf_key_enabled(&storm_key);

		oracle_publish(&phase, BIT(true) | BIT(false));
		err = toggle(toggles, on);
		if (err) {
			bad_toggles++;
			pr_err("jf_keystorm: BAD: toggle gave %d\n", err);
			break;
		}
		oracle_publish(&phase, BIT(on));
		toggles++;
		cond_resched();
	}
	mutex_unlock(&mutex);
	return err;
}

/* --- at rest ------------------------------------------------------------ */

static int held_in_all(unsigned int i)
{
	int cpu, sum = 0;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(&counters, cpu)->held[i];
	return sum;
}

static void rest(const char *what, int count, int wanted, int said)
{
	if (count == wanted && said == (wanted ? 2 : 0))
		return;
	bad_rest++;
	pr_err("jf_keystorm: BAD: %s: count %d instead of %d, branches say %d\n", what, count, wanted, said);
}

static void look_at_rest(void)
{
	int cpu, held = 0;
	unsigned int i;

	for (i = 0; i < NKEYS; i++)
		rest("counted key", jf_key_count(&count_key[i]), held_in_all(i), count_fn[i]());
	jf_key_deferred_flush(&late_key);
	for_each_possible_cpu(cpu)
		held += per_cpu_ptr(&counters, cpu)->held_late;
	rest("deferred key", jf_key_count(&late_key.key), held, late());
	rest("fought key", jf_key_count(&fight_key), jf_key_enabled(&fight_key), fight());
}

static int drop_all(void)
{
	unsigned int i;
	int cpu, err;

	for_each_possible_cpu(cpu) {
		struct counters *c = per_cpu_ptr(&counters, cpu);

		for (; c->held_late; c->held_late--) {
			err = jf_key_dec_deferred(&late_key);
			if (err)
				return err;
		}
		for (i = 0; i < NKEYS; i++) {
			for (; c->held[i]; c->held[i]--) {
				err = jf_key_dec(&count_key[i]);
				if (err)
					return err;
			}
		}
	}
	for (i = 0; i < NKEYS; i++)
		if (jf_key_dec(&count_key[i]) != -EINVAL)
			return -EBADE;
	return 0;
}

static int run_number(unsigned int n)
{
	int cpu, err = 0;

	mutex_lock(&mutex);
	WRITE_ONCE(counting, n == 1);
	if (n != 1) {
		for_each_possible_cpu(cpu)
			while (callers.tasks[cpu] && !smp_load_acquire(&per_cpu_ptr(&counters, cpu)->resting))
				msleep(1);
		look_at_rest();
	}
	if (n == 2) {
		err = drop_all();
		look_at_rest();
	}
	mutex_unlock(&mutex);
	return err;
}

/* True if a site begins there: with a jump or a nop. */
static bool is_site(const u8 *site)
{
#ifdef CONFIG_ARM64
	u32 insn = *(const u32 *)site;

	return insn == 0xd503201f || insn >> 26 == 5;	/* nop, b */
#else
	return *site == 0x0f || *site == 0xe9;
#endif
}

static unsigned int misplaced(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < NPLACES; i++) {
		const struct place *p = &places[i];

		if (((unsigned long)p->site & p->mask) == p->offset && is_site(p->site))
			continue;
		if (!n++)
			pr_err("jf_keystorm: BAD: site for offset %x is at %lx and begins with %02x\n", p->offset,
			       (unsigned long)p->site & p->mask, *p->site);
	}
	return n;
}

static int results_show(struct seq_file *m, void *v)
{
	struct counters t = {}, q = {};

	mutex_lock(&mutex);
	oracle_add(&t, &counters, bad_op);
	oracle_add(&q, &irq_counters, bad_op);
	seq_printf(m, "calls %llu\nirq_calls %llu\non %llu\noff %llu\n", t.calls, q.calls,
		   t.said[true] + q.said[true], t.said[false] + q.said[false]);
	seq_printf(m, "toggles %llu\nops %llu\nshared %llu\n", toggles, t.ops, t.shared);
	seq_printf(m, "bad_phase %llu\nbad_user %llu\nbad_op %llu\n", t.bad_phase + q.bad_phase, t.bad_user, t.bad_op);
	seq_printf(m, "bad_toggles %llu\nbad_rest %llu\n", bad_toggles, bad_rest);
	seq_printf(m, "places %zu\n", NPLACES);
	/* Without patching, there are places but no sites. */
	seq_printf(m, "bad_places %u\n", JF_HAVE_PATCHING ? misplaced() : 0);
	mutex_unlock(&mutex);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(results);

TEST_NUMBER(toggle);

TEST_NUMBER(run);

static int __init keystorm_init(void)
{
	int err;

	callers = (struct callers){ "jf_keystorm", storm_thread, storm_tick, timer_us };
	err = callers_start(&callers);
	if (err)
		return err;
	dir = debugfs_create_dir("jf_keystorm", NULL);
	debugfs_create_file("toggle", 0200, dir, NULL, &toggle_fops);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("results", 0400, dir, NULL, &results_fops);
	return 0;
}

static void __exit keystorm_exit(void)
{
	debugfs_remove_recursive(dir);
	callers_stop(&callers);
}

module_init(keystorm_init);
module_exit(keystorm_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Runs branches on all CPUs while their keys change, and checks every answer");
