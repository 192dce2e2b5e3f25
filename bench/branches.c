// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a branch that is decided at run time. The straight path adds one to
 * a sum, the other side counts how often it was taken: the results tell which way
 * it went, and how often.
 */
#include "bench.h"
#include "loops.h"

#include <linux/jump_label.h>
#include <linux/vmalloc.h>

static DEFINE_JF_KEY_FALSE(jfb_off);
static DEFINE_JF_KEY_TRUE(jfb_on);
static DEFINE_STATIC_KEY_FALSE(kernel_off);
static DEFINE_STATIC_KEY_TRUE(kernel_on);
static bool flag;

/* Flags so many that none is still in a cache when its turn comes again. */
#define COLD_SIZE	(16UL << 20)
static bool *cold_flags;

/* The compiler must neither join the sums nor move them over a branch. */
#define STRAIGHT	JFB_ADD(x)
#define OTHER		JFB_ADD(taken)

#define NONE(i)		STRAIGHT;
#define BRANCH(cond)	do { if (cond) OTHER; STRAIGHT; } while (0);
#define JF_OFF(i)	BRANCH(jf_branch_unlikely(&jfb_off))
#define JF_ON(i)	BRANCH(jf_branch_unlikely(&jfb_on))
#define KERNEL_OFF(i)	BRANCH(static_branch_unlikely(&kernel_off))
#define KERNEL_ON(i)	BRANCH(static_branch_unlikely(&kernel_on))
#define TEST(i)		BRANCH(unlikely(READ_ONCE(flag)))

JFB_LOOPS(none, NONE)
JFB_LOOPS(jf_off, JF_OFF)
JFB_LOOPS(jf_on, JF_ON)
JFB_LOOPS(kernel_off, KERNEL_OFF)
JFB_LOOPS(kernel_on, KERNEL_ON)
JFB_LOOPS(test, TEST)

/* Where the walk over the cold flags goes on; just one thread is in here. */
static u32 cold_pos;

/* A full period over all cache lines of the flags, in no order. */
static __always_inline u32 cold_next(u32 pos)
{
	return pos * 1664525 + 1013904223;
}

static __always_inline unsigned long cold_index(u32 pos)
{
	return (pos >> 8) * 64UL % COLD_SIZE;
}

static noinline notrace __aligned(64) unsigned long
cold_none(const struct jfb_row *row, unsigned long n, unsigned long x)
{
	u32 pos = cold_pos;

	for (; n; n--) {
		unsigned long i;

		pos = cold_next(pos);
		i = cold_index(pos);
		asm volatile("" : : "r" (cold_flags + i));
		STRAIGHT;
	}
	/* The next row finds other flags. */
	cold_pos = pos;
	return x;
}

static noinline notrace __aligned(64) unsigned long
cold_test(const struct jfb_row *row, unsigned long n, unsigned long x)
{
	unsigned long taken = 0;
	u32 pos = cold_pos;

	for (; n; n--) {
		pos = cold_next(pos);
		BRANCH(unlikely(READ_ONCE(cold_flags[cold_index(pos)])));
	}
	cold_pos = pos;
	return x + (taken << 32);
}

static bool check_straight(const struct jfb_row *row, unsigned long n,
			   unsigned long x, unsigned long y)
{
	return y == x + n;
}

static bool check_taken(const struct jfb_row *row, unsigned long n,
			unsigned long x, unsigned long y)
{
	return y == x + n + (n << 32);
}

#define ROWS(n)								\
	{ "none", "no branch at all, subtracted below", n, 0, JFB_LOOP,	\
	  none_##n, check_straight },					\
	{ "nop5", "jf_branch_unlikely(), key disabled", n, 0, 0,	\
	  jf_off_##n, check_straight },					\
	{ "jmp", "jf_branch_unlikely(), key enabled", n, 0, 0,	\
	  jf_on_##n, check_taken },					\
	{ "test-hot", "if (flag), in the cache", n, 0, 0,		\
	  test_##n, check_straight },					\
	{ "static-nop", "static_branch_unlikely(), disabled", n, 0, 0,	\
	  kernel_off_##n, check_straight },				\
	{ "static-jmp", "static_branch_unlikely(), enabled", n, 0, 0,	\
	  kernel_on_##n, check_taken }

static const struct jfb_row rows[] = {
	ROWS(1),
	ROWS(64),
	{ "none-cold", "choosing one of 16 MiB of flags, subtracted below", 1,
	  0, JFB_LOOP, cold_none, check_straight },
	{ "test-cold", "if (flag), not in the cache", 1, 0, 0,
	  cold_test, check_straight },
};

static int prepare(void)
{
	cold_flags = vzalloc(COLD_SIZE);
	return cold_flags ? 0 : -ENOMEM;
}

static void finish(void)
{
	vfree(cold_flags);
	cold_flags = NULL;
}

const struct jfb_suite jfb_branches = {
	.name	= "branches",
	.group	= "branch",
	.title	= "one branch",
	.rows	= rows,
	.num	= ARRAY_SIZE(rows),
	.prepare = prepare,
	.finish	= finish,
};
