/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The body of bulk1.c to bulk5.c, which define JFB_PART: a thousand dynamic
 * functions each. One object file with all of them would take the tools that
 * look at it a long time.
 */
#include "bulk.h"
#include "repeat.h"

#define DEFINE_ONE(i)	DEFINE_DYNFUNC(jfb_bulk_##i, jfb_bulk_0);
#define DEFINE_PART_(p)	JFB_REP1000(DEFINE_ONE, p)
#define DEFINE_PART(p)	DEFINE_PART_(p)
DEFINE_PART(JFB_PART)

/*
 * Ten functions rather than one: compilers take more than linear time for a
 * long one.
 */
#define CALL_ONE(i)	sum += dynfunc_call(jfb_bulk_##i);
#define RUN_100(i)							\
	static noinline notrace unsigned int run_##i(void)		\
	{								\
		unsigned int sum = 0;					\
									\
		JFB_REP100(CALL_ONE, i)					\
		return sum;						\
	}
#define RUN_PART_(p)	JFB_TEN(RUN_100, p)
#define RUN_PART(p)	RUN_PART_(p)
RUN_PART(JFB_PART)

static noinline notrace unsigned int run(void)
{
#define ADD_100(i)	+ run_##i()
#define ADD_PART_(p)	JFB_TEN(ADD_100, p)
#define ADD_PART(p)	ADD_PART_(p)
	return ADD_PART(JFB_PART);
}

#define POINT_ONE(i)	&__jf_func_jfb_bulk_##i,
#define POINT_PART_(p)	JFB_REP1000(POINT_ONE, p)
#define POINT_PART(p)	POINT_PART_(p)

const struct jfb_bulk_part __JF_CAT(jfb_bulk_part, JFB_PART) = {
	.funcs	= { POINT_PART(JFB_PART) },
	.run	= run,
};
