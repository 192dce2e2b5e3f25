// SPDX-License-Identifier: GPL-2.0
/*
 * A thousand jump-label keys with one branch site each.
 */
#include "bulk.h"
#include "repeat.h"

DEFINE_JF_KEY_ARRAY_FALSE(jfb_bulk_keys, JFB_BULK_KEYS);

#define TEST_ONE(i)							\
	if (jf_branch_unlikely(&jfb_bulk_keys[i - 1000]))		\
		sum++;
#define RUN_100(i)							\
	static noinline notrace unsigned int run_##i(void)		\
	{								\
		unsigned int sum = 0;					\
									\
		JFB_REP100(TEST_ONE, i)					\
		return sum;						\
	}
JFB_TEN(RUN_100, 1)

unsigned int jfb_bulk_run_keys(void)
{
#define ADD_100(i)	+ run_##i()
	return JFB_TEN(ADD_100, 1);
}
