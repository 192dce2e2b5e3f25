// SPDX-License-Identifier: GPL-2.0
/*
 * The dynamic functions of debugfs func0 to func3: as many parameters as the
 * name says, three targets each, as in the 2018 proof of concept. Reading calls
 * one, and the target that ran says so on the console.
 */
#include "index/state.h"
#include "demo/demo.h"

#include <jumpfunc/dynfunc.h>

#include <linux/mutex.h>
#include <linux/seq_file.h>

/* Which target ran last, for the reader of the file; under jf_demo_mutex. */
static unsigned int jf_demo_ran;
static DEFINE_MUTEX(jf_demo_mutex);

#define JF_DEMO_TARGET(n, t, params, fmt, args, result)			\
static noinline int jf_func##n##_##t params				\
{									\
	int ret = (result);						\
									\
	jf_demo_ran = t;						\
	pr_info("func" #n ": target " #t " called with (" fmt "), returns %d\n", \
		args ret);						\
	return ret;							\
}

#define A0
#define A1	a,
#define A2	a, b,
#define A3	a, b, c,

JF_DEMO_TARGET(0, 0, (void), "", A0, 100)
JF_DEMO_TARGET(0, 1, (void), "", A0, 101)
JF_DEMO_TARGET(0, 2, (void), "", A0, 102)

JF_DEMO_TARGET(1, 0, (int a), "%d", A1, a)
JF_DEMO_TARGET(1, 1, (int a), "%d", A1, a * a)
JF_DEMO_TARGET(1, 2, (int a), "%d", A1, -a)

JF_DEMO_TARGET(2, 0, (int a, int b), "%d, %d", A2, a + b)
JF_DEMO_TARGET(2, 1, (int a, int b), "%d, %d", A2, a * b)
JF_DEMO_TARGET(2, 2, (int a, int b), "%d, %d", A2, a - b)

JF_DEMO_TARGET(3, 0, (int a, int b, int c), "%d, %d, %d", A3, a + b + c)
JF_DEMO_TARGET(3, 1, (int a, int b, int c), "%d, %d, %d", A3, a * b * c)
JF_DEMO_TARGET(3, 2, (int a, int b, int c), "%d, %d, %d", A3, a - b - c)

DEFINE_DYNFUNC(func0, jf_func0_0);
DEFINE_DYNFUNC(func1, jf_func1_0);
DEFINE_DYNFUNC(func2, jf_func2_0);
DEFINE_DYNFUNC(func3, jf_func3_0);

DYNFUNC_TARGETS(func0, jf_func0_0, jf_func0_1, jf_func0_2);
DYNFUNC_TARGETS(func1, jf_func1_0, jf_func1_1, jf_func1_2);
DYNFUNC_TARGETS(func2, jf_func2_0, jf_func2_1, jf_func2_2);
DYNFUNC_TARGETS(func3, jf_func3_0, jf_func3_1, jf_func3_2);

#define JF_DEMO_SET(n, t)						\
	((t) == 0 ? dynfunc_update(func##n, jf_func##n##_0) :		\
	 (t) == 1 ? dynfunc_update(func##n, jf_func##n##_1) :		\
		    dynfunc_update(func##n, jf_func##n##_2))

int jf_demo_set(unsigned int func, unsigned int target)
{
	if (target >= JF_DEMO_TARGETS)
		return -EINVAL;

	switch (func) {
	case 0:
		return JF_DEMO_SET(0, target);
	case 1:
		return JF_DEMO_SET(1, target);
	case 2:
		return JF_DEMO_SET(2, target);
	case 3:
		return JF_DEMO_SET(3, target);
	}
	return -EINVAL;
}

void jf_demo_call(unsigned int func, struct seq_file *m)
{
	static const char * const args[JF_DEMO_FUNCS] = {
		"", "7", "7, 5", "7, 5, 3",
	};
	int ret = 0;

	mutex_lock(&jf_demo_mutex);
	switch (func) {
	case 0:
		ret = dynfunc_func0();
		break;
	case 1:
		ret = dynfunc_func1(7);
		break;
	case 2:
		ret = dynfunc_func2(7, 5);
		break;
	case 3:
		ret = dynfunc_func3(7, 5, 3);
		break;
	}
	seq_printf(m, "target %u: jf_func%u_%u(%s) = %d\n", jf_demo_ran,
		   func, jf_demo_ran, args[func], ret);
	mutex_unlock(&jf_demo_mutex);
}
