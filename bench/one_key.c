// SPDX-License-Identifier: GPL-2.0
/*
 * Keys with many sites: ours, and the kernel's static keys, site by site the same.
 */
#include "bulk.h"
#include "repeat.h"

#include <linux/jump_label.h>

DEFINE_JF_KEY_ARRAY_FALSE(jfb_one_keys, JFB_ONE_KEYS);
static DEFINE_STATIC_KEY_ARRAY_FALSE(jfb_static_keys, JFB_ONE_KEYS);

#define OURS(n)		if (jf_branch_unlikely(&jfb_one_keys[n])) sum++;
#define THEIRS(n)	if (static_branch_unlikely(&jfb_static_keys[n])) sum++;

#define RUN(name, tests)						\
	static noinline notrace unsigned int name(void)			\
	{								\
		unsigned int sum = 0;					\
									\
		tests							\
		return sum;						\
	}

/* The repeated code takes a token, and ignores it. */
#define OURS_1(i)	OURS(1)
#define OURS_2(i)	OURS(2)
#define OURS_3(i)	OURS(3)
#define THEIRS_1(i)	THEIRS(1)
#define THEIRS_2(i)	THEIRS(2)
#define THEIRS_3(i)	THEIRS(3)

RUN(ours_1, OURS(0))
RUN(ours_10, JFB_REP10(OURS_1, 1))
RUN(ours_100, JFB_REP100(OURS_2, 1))
#define OURS_PART(i)	RUN(ours_1000_##i, JFB_REP100(OURS_3, i))
JFB_TEN(OURS_PART, 1)

RUN(theirs_1, THEIRS(0))
RUN(theirs_10, JFB_REP10(THEIRS_1, 1))
RUN(theirs_100, JFB_REP100(THEIRS_2, 1))
#define THEIRS_PART(i)	RUN(theirs_1000_##i, JFB_REP100(THEIRS_3, i))
JFB_TEN(THEIRS_PART, 1)

unsigned int jfb_one_key_run(unsigned int i)
{
#define ADD_OURS(i)	+ ours_1000_##i()
	return i == 0 ? ours_1() : i == 1 ? ours_10() :
	       i == 2 ? ours_100() : JFB_TEN(ADD_OURS, 1);
}

unsigned int jfb_static_key_run(unsigned int i)
{
#define ADD_THEIRS(i)	+ theirs_1000_##i()
	return i == 0 ? theirs_1() : i == 1 ? theirs_10() :
	       i == 2 ? theirs_100() : JFB_TEN(ADD_THEIRS, 1);
}

void jfb_static_key_set(unsigned int i, bool on)
{
	if (on)
		static_branch_enable(&jfb_static_keys[i]);
	else
		static_branch_disable(&jfb_static_keys[i]);
}
