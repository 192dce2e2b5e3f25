// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamic functions whose initial targets are other dynamic functions. Some of what
 * jf_circle_m.ko does to them must be refused, for when that is unloaded they fall
 * back, and would then lead to each other in a circle.
 *
 * /sys/kernel/debug/jf_circle/run
 *   calls	they act as at first
 *   plant, unplant	a breakpoint on a site of circle_a, which is not jumpfunc's
 */
#include "jf_test.h"
#include "jf_circle.h"

static noinline int circle_two(int a)
{
	return a + 2;
}

static noinline int circle_three(int a)
{
	return a + 3;
}

DEFINE_DYNFUNC(circle_a, dynfunc_circle_b);
DEFINE_DYNFUNC(circle_b, circle_two);
DEFINE_DYNFUNC(circle_1, dynfunc_circle_2);
DEFINE_DYNFUNC(circle_2, dynfunc_circle_3);
DEFINE_DYNFUNC(circle_3, circle_three);
EXPORT_DYNFUNC_GPL(circle_a);
EXPORT_DYNFUNC_GPL(circle_b);
EXPORT_DYNFUNC_GPL(circle_1);
EXPORT_DYNFUNC_GPL(circle_2);
EXPORT_DYNFUNC_GPL(circle_3);

DYNFUNC_TARGETS(circle_b, circle_two, dynfunc_circle_a);

static noinline int call_a(int a)
{
	int r = dynfunc_call(circle_a, a);

	barrier();
	return r;
}

static int test_calls(void)
{
	/* In a circle none of them would return. */
	if (!CHECK_EQ(dynfunc_query(circle_a), &dynfunc_circle_b) || !CHECK_EQ(dynfunc_query(circle_b), circle_two) ||
	    !CHECK_EQ(dynfunc_query(circle_1), &dynfunc_circle_2) ||
	    !CHECK_EQ(dynfunc_query(circle_2), &dynfunc_circle_3) || !CHECK_EQ(dynfunc_query(circle_3), circle_three))
		return 0;
	CHECK_EQ(call_a(1), 3);
	CHECK_EQ(dynfunc_circle_a(1), 3);
	CHECK_EQ(dynfunc_call(circle_b, 1), 3);
	CHECK_EQ(dynfunc_circle_b(1), 3);
	CHECK_EQ(dynfunc_call(circle_1, 1), 4);
	CHECK_EQ(dynfunc_circle_1(1), 4);
	CHECK_EQ(dynfunc_circle_2(1), 4);
	CHECK_EQ(dynfunc_call(circle_3, 1), 4);
	return 0;
}

static u8 planted_over[JFT_BREAK_SIZE];

static int do_plant(void)
{
	unsigned long site = jft_site_of(&__jf_func_circle_a, call_a);

	if (!site)
		return -ENOENT;
	memcpy(planted_over, (void *)site, JFT_BREAK_SIZE);
	return jft_poke(site, JFT_BREAK, JFT_BREAK_SIZE);
}

static int do_unplant(void)
{
	return jft_poke(jft_site_of(&__jf_func_circle_a, call_a), planted_over,
			JFT_BREAK_SIZE);
}

const struct jft_case jft_cases[] = {
	{ "calls", test_calls },
	{ "plant", do_plant },
	{ "unplant", do_unplant },
	{ }
};

module_init(jft_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Dynamic functions that lead to each other");
