// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-engine: jumpfunc.ko itself, with a module that uses it.
 *
 * Proves: on this kernel, calls, branches and tracepoints of a real module
 * follow their entities, before the first update and after each one; a batch of
 * any size sends three broadcasts, and one that changes nothing sends none; a new
 * image is announced by one more; a tracepoint calls 0 to 18 probes in their order,
 * each with its own data, with as many arguments as fit in registers and with more.
 * KUnit may run the suite before the module's init function or after it: nothing
 * here depends on which.
 */
#include "jfk.h"

#undef pr_fmt
#include "arch/arch.h"
#include "index/state.h"

#include <jumpfunc/tracepoint.h>

#include "../vectors/table.h"

/* --- the tested module ------------------------------------------------- */

static noinline int op_add(int a, int b) { return a + b; }
static noinline int op_sub(int a, int b) { return a - b; }
static noinline int op_mul(int a, int b) { return a * b; }
static noinline void __maybe_unused note_one(int *n) { *n += 1; }
static noinline void note_ten(int *n) { *n += 10; }

DEFINE_DYNFUNC(jfk_op, op_add);
DEFINE_DYNFUNC_RET0(jfk_op0, op_add);
DEFINE_DYNFUNC_NULL(jfk_note, note_one);

#define KEYS	8
static DEFINE_JF_KEY_ARRAY_FALSE(jfk_keys, KEYS);
static DEFINE_JF_KEY_TRUE(jfk_true);

/* Each key has one site: a batch of n keys writes n sites. */
#define BRANCH(i)							\
	static noinline bool branch##i(void)				\
	{								\
		return jf_branch_unlikely(&jfk_keys[i]);		\
	}
BRANCH(0) BRANCH(1) BRANCH(2) BRANCH(3) BRANCH(4) BRANCH(5) BRANCH(6) BRANCH(7)

static bool (* const branches[KEYS])(void) = {
	branch0, branch1, branch2, branch3, branch4, branch5, branch6, branch7,
};

/* An option that every kernel has that can load this, and one that none has. */
static DEFINE_JF_KEY_MAYBE(CONFIG_MODULES, jfk_maybe_on);
static DEFINE_JF_KEY_MAYBE(CONFIG_JFK_NO_SUCH_OPTION, jfk_maybe_off);
static DEFINE_JF_KEY_MAYBE_RO(CONFIG_MODULES, jfk_maybe_ro);
static noinline bool maybe_on(void)
{
	return jf_branch_maybe(CONFIG_MODULES, &jfk_maybe_on);
}

static noinline bool maybe_off(void)
{
	return jf_branch_maybe(CONFIG_JFK_NO_SUCH_OPTION, &jfk_maybe_off);
}

static noinline bool maybe_ro(void)
{
	return jf_branch_maybe(CONFIG_MODULES, &jfk_maybe_ro);
}

static noinline bool true_unlikely(void) { return jf_branch_unlikely(&jfk_true); }
static noinline bool true_likely(void) { return jf_branch_likely(&jfk_true); }

DECLARE_JF_TRACE(jfk_two, JF_PROTO(int a, long b), JF_ARGS(a, b));
DEFINE_JF_TRACE(jfk_two);
DECLARE_JF_TRACE(jfk_eight,
		 JF_PROTO(int a, int b, int c, int d, int e, int f, int g, long h),
		 JF_ARGS(a, b, c, d, e, f, g, h));
DEFINE_JF_TRACE(jfk_eight);

static struct jf_stats stats(void)
{
	struct jf_stats s;

	jf_stats_get(&s);
	return s;
}

/* Broadcasts that a live transaction of @sites sites sends. */
static u64 due(unsigned int sites)
{
	if (!sites || !strcmp(jf_arch_backend(), "indirect"))
		return 0;
	return !strcmp(jf_arch_backend(), "kernel") ? 3ULL * sites : 3;
}

/* Whatever a case did, the next one finds the initial state. */
static void engine_exit(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_op, op_add), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_op0, NULL), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_note, NULL), 0);
	for (i = 0; i < KEYS; i++)
		KUNIT_EXPECT_EQ(test, jf_key_disable(&jfk_keys[i]), 0);
	KUNIT_EXPECT_EQ(test, jf_key_enable(&jfk_true), 0);
}

/* --- the table that programs are tested by, too ------------------------- */

static struct kunit *table_test;

static void table_fail(const char *what, const char *at, long got, long want)
{
	KUNIT_FAIL(table_test, "%s at '%s': %ld instead of %ld", what, at, got, want);
}

static void table_keys(struct kunit *test)
{
	table_test = test;
	KUNIT_EXPECT_GT(test, jf_table_keys(table_fail), 0U);
}

static void table_funcs(struct kunit *test)
{
	table_test = test;
	KUNIT_EXPECT_GT(test, jf_table_funcs(table_fail), 0U);
}

/* --- calls ------------------------------------------------------------- */

static void calls(struct kunit *test)
{
	static int (* const ops[])(int, int) = { op_add, op_sub, op_mul, op_add };
	static const int results[] = { 9, 5, 14, 9 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (i)
			KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_op, ops[i]), 0);
		KUNIT_EXPECT_EQ(test, dynfunc_jfk_op(7, 2), results[i]);
		KUNIT_EXPECT_EQ(test, dynfunc_call(jfk_op, 7, 2), results[i]);
		KUNIT_EXPECT_PTR_EQ(test, dynfunc_query(jfk_op), (void *)ops[i]);
	}
}

static void calls_of_nothing(struct kunit *test)
{
	int n = 0;

	KUNIT_EXPECT_EQ(test, dynfunc_jfk_op0(7, 2), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_call(jfk_op0, 7, 2), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_op0, op_mul), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_call(jfk_op0, 7, 2), 14);
	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_op0, NULL), 0);
	KUNIT_EXPECT_EQ(test, dynfunc_call(jfk_op0, 7, 2), 0);
	KUNIT_EXPECT_TRUE(test, !dynfunc_query(jfk_op0));

	dynfunc_jfk_note(&n);
	dynfunc_call(jfk_note, &n);
	KUNIT_EXPECT_EQ(test, n, 0);
	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_note, note_ten), 0);
	dynfunc_jfk_note(&n);
	dynfunc_call(jfk_note, &n);
	KUNIT_EXPECT_EQ(test, n, 20);
	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_note, NULL), 0);
	dynfunc_jfk_note(&n);
	dynfunc_call(jfk_note, &n);
	KUNIT_EXPECT_EQ(test, n, 20);
	KUNIT_EXPECT_EQ(test, dynfunc_update(jfk_op, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, dynfunc_call(jfk_op, 7, 2), 9);
}

/* --- branches ---------------------------------------------------------- */

static void branch_forms(struct kunit *test)
{
	unsigned int round;

	for (round = 0; round < 3; round++) {
		KUNIT_EXPECT_TRUE(test, true_unlikely());
		KUNIT_EXPECT_TRUE(test, true_likely());
		KUNIT_EXPECT_EQ(test, jf_key_dec(&jfk_true), 0);
		KUNIT_EXPECT_FALSE(test, true_unlikely());
		KUNIT_EXPECT_FALSE(test, true_likely());
		KUNIT_EXPECT_EQ(test, jf_key_inc(&jfk_true), 0);
	}
}

/* Its first state is the option's, which way is straight as well; then it is a key. */
static void branch_by_option(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, maybe_on());
	KUNIT_EXPECT_FALSE(test, maybe_off());
	KUNIT_EXPECT_TRUE(test, maybe_ro());
	KUNIT_EXPECT_EQ(test, jf_key_dec(&jfk_maybe_on), 0);
	KUNIT_EXPECT_EQ(test, jf_key_inc(&jfk_maybe_off), 0);
	KUNIT_EXPECT_FALSE(test, maybe_on());
	KUNIT_EXPECT_TRUE(test, maybe_off());
	KUNIT_EXPECT_EQ(test, jf_key_inc(&jfk_maybe_on), 0);
	KUNIT_EXPECT_EQ(test, jf_key_dec(&jfk_maybe_off), 0);
	KUNIT_EXPECT_TRUE(test, maybe_on());
	KUNIT_EXPECT_FALSE(test, maybe_off());
}

/* --- batches ----------------------------------------------------------- */

static const unsigned int batch_sizes[] = { 0, 1, 2, 3, 5, KEYS };

static void batch_size_desc(const unsigned int *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u sites", *n);
}
KUNIT_ARRAY_PARAM(batch_size, batch_sizes, batch_size_desc);

static void three_broadcasts(struct kunit *test)
{
	unsigned int i, n = *(const unsigned int *)test->param_value;
	struct jf_stats before = stats(), after;
	struct jf_batch b;

	jf_batch_init(&b);
	for (i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, jf_key_batch_set(&b, &jfk_keys[i], true), 0);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	after = stats();
	KUNIT_EXPECT_EQ(test, after.broadcasts - before.broadcasts, due(n));
	KUNIT_EXPECT_EQ(test, after.updates - before.updates, (u64)n);
	if (due(1))
		KUNIT_EXPECT_EQ(test, after.patched - before.patched, (u64)n);
	for (i = 0; i < KEYS; i++)
		KUNIT_EXPECT_EQ(test, branches[i](), i < n);

	/* Once more: nothing changes, nothing is sent. */
	for (i = 0; i < n; i++)
		jf_key_batch_set(&b, &jfk_keys[i], true);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), 0);
	KUNIT_EXPECT_EQ(test, stats().broadcasts, after.broadcasts);
	KUNIT_EXPECT_EQ(test, stats().updates, after.updates);
}

/* One bad change among good ones: none is made. */
static void all_or_nothing(struct kunit *test)
{
	struct jf_stats before = stats();
	struct jf_batch b;
	unsigned int i;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, jfk_op, op_mul);
	for (i = 0; i < KEYS; i++)
		jf_key_batch_set(&b, &jfk_keys[i], true);
	dynfunc_batch_set(&b, jfk_op, op_sub);
	KUNIT_EXPECT_EQ(test, jf_batch_commit(&b), -EINVAL);
	KUNIT_EXPECT_EQ(test, dynfunc_call(jfk_op, 7, 2), 9);
	for (i = 0; i < KEYS; i++)
		KUNIT_EXPECT_FALSE(test, branches[i]());
	KUNIT_EXPECT_EQ(test, stats().broadcasts, before.broadcasts);
	KUNIT_EXPECT_EQ(test, stats().errors, before.errors + 1);
}

/* --- tracepoints ------------------------------------------------------- */

#define PROBES	18

/* The calls, in order: the data of each probe, times 10, plus which one it was. */
static unsigned long seen[2 * PROBES];
static unsigned int num_seen, wrong_args;

static void saw(void *data, unsigned int probe)
{
	if (num_seen < ARRAY_SIZE(seen))
		seen[num_seen++] = 10 * (unsigned long)data + probe;
}

static noinline void two_0(void *data, int a, long b)
{
	wrong_args += a != -7 || b != 0x123456789abcL;
	saw(data, 0);
}

static noinline void two_1(void *data, int a, long b)
{
	wrong_args += a != -7 || b != 0x123456789abcL;
	saw(data, 1);
}

static noinline void eight_0(void *data, int a, int b, int c, int d, int e, int f,
			     int g, long h)
{
	wrong_args += a != 1 || b != 2 || c != 3 || d != 4 || e != 5 || f != 6 ||
		      g != 7 || h != -8;
	saw(data, 0);
}

static noinline void eight_1(void *data, int a, int b, int c, int d, int e, int f,
			     int g, long h)
{
	wrong_args += a != 1 || b != 2 || c != 3 || d != 4 || e != 5 || f != 6 ||
		      g != 7 || h != -8;
	saw(data, 1);
}

/* Probe i is function i & 1 with data i; all @num of them ran, in order. */
static void expect_seen(struct kunit *test, unsigned int first, unsigned int num)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, wrong_args, 0U);
	KUNIT_ASSERT_EQ(test, num_seen, num);
	for (i = 0; i < num; i++)
		KUNIT_EXPECT_EQ(test, seen[i], 10UL * (first + i) + ((first + i) & 1));
	num_seen = 0;
	wrong_args = 0;
}

static void probes_in_order(struct kunit *test)
{
	unsigned int i;

	jf_trace_jfk_two(-7, 0x123456789abcL);
	expect_seen(test, 0, 0);
	KUNIT_EXPECT_FALSE(test, jf_trace_jfk_two_enabled());
	for (i = 0; i < PROBES; i++) {
		KUNIT_EXPECT_EQ(test, register_jf_trace_jfk_two(i & 1 ? two_1 : two_0,
								(void *)(long)i), 0);
		KUNIT_EXPECT_TRUE(test, jf_trace_jfk_two_enabled());
		jf_trace_jfk_two(-7, 0x123456789abcL);
		expect_seen(test, 0, i + 1);
	}
	for (i = 0; i < PROBES; i++) {
		KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_two(i & 1 ? two_1 : two_0,
								  (void *)(long)i), 0);
		jf_trace_jfk_two(-7, 0x123456789abcL);
		expect_seen(test, i + 1, PROBES - i - 1);
	}
	KUNIT_EXPECT_FALSE(test, jf_trace_jfk_two_enabled());
}

/* Six and more arguments and the data do not fit in registers. */
static void probes_with_stack(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < PROBES; i++) {
		KUNIT_EXPECT_EQ(test, register_jf_trace_jfk_eight(i & 1 ? eight_1 : eight_0,
								  (void *)(long)i), 0);
		jf_trace_jfk_eight(1, 2, 3, 4, 5, 6, 7, -8);
		expect_seen(test, 0, i + 1);
	}
	for (i = 0; i < PROBES; i++)
		KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_eight(i & 1 ? eight_1 : eight_0,
								    (void *)(long)i), 0);
	jf_trace_jfk_eight(1, 2, 3, 4, 5, 6, 7, -8);
	expect_seen(test, 0, 0);
}

static void probes_by_priority(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, register_jf_trace_prio_jfk_two(two_1, (void *)3L, 1), 0);
	KUNIT_EXPECT_EQ(test, register_jf_trace_prio_jfk_two(two_1, (void *)1L, 9), 0);
	KUNIT_EXPECT_EQ(test, register_jf_trace_prio_jfk_two(two_0, (void *)2L, 5), 0);
	KUNIT_EXPECT_EQ(test, register_jf_trace_prio_jfk_two(two_0, (void *)2L, 1), -EEXIST);
	jf_trace_jfk_two(-7, 0x123456789abcL);
	expect_seen(test, 1, 3);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_two(two_0, (void *)3L), -ENOENT);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_two(two_1, (void *)3L), 0);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_two(two_1, (void *)1L), 0);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_two(two_0, (void *)2L), 0);
}

/*
 * A change of probes is one transaction: branch and call change together. All CPUs
 * hear of a new image before it can be reached: by the transaction's own broadcasts,
 * or by one more before the kernel's protocol. The last probe's removal needs none.
 */
static void expect_change(struct kunit *test, struct jf_stats *before, bool image)
{
	struct jf_stats after = stats();
	u64 sites = after.patched - before->patched;

	KUNIT_EXPECT_EQ(test, after.batches - before->batches, 1ULL);
	KUNIT_EXPECT_EQ(test, after.broadcasts - before->broadcasts,
			due(sites) + (image && after.by_kernel > before->by_kernel));
	*before = after;
}

static void probes_and_broadcasts(struct kunit *test)
{
	struct jf_stats before = stats();

	if (!strcmp(jf_arch_backend(), "indirect"))
		return;
	KUNIT_EXPECT_EQ(test, register_jf_trace_jfk_two(two_0, NULL), 0);
	expect_change(test, &before, true);
	KUNIT_EXPECT_EQ(test, register_jf_trace_jfk_two(two_1, NULL), 0);
	expect_change(test, &before, true);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_two(two_0, NULL), 0);
	expect_change(test, &before, true);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_two(two_1, NULL), 0);
	expect_change(test, &before, false);

	/* With as many arguments, one probe more is a change of one site. */
	KUNIT_EXPECT_EQ(test, register_jf_trace_jfk_eight(eight_0, NULL), 0);
	expect_change(test, &before, true);
	KUNIT_EXPECT_EQ(test, register_jf_trace_jfk_eight(eight_1, NULL), 0);
	KUNIT_EXPECT_EQ(test, stats().patched - before.patched, 1ULL);
	expect_change(test, &before, true);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_eight(eight_0, NULL), 0);
	expect_change(test, &before, true);
	KUNIT_EXPECT_EQ(test, unregister_jf_trace_jfk_eight(eight_1, NULL), 0);
	expect_change(test, &before, false);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(table_keys),
	KUNIT_CASE(table_funcs),
	KUNIT_CASE(calls),
	KUNIT_CASE(calls_of_nothing),
	KUNIT_CASE(branch_forms),
	KUNIT_CASE(branch_by_option),
	KUNIT_CASE_PARAM(three_broadcasts, batch_size_gen_params),
	KUNIT_CASE(all_or_nothing),
	KUNIT_CASE(probes_in_order),
	KUNIT_CASE(probes_with_stack),
	KUNIT_CASE(probes_by_priority),
	KUNIT_CASE(probes_and_broadcasts),
	{}
};

static struct kunit_suite engine_suite = {
	.name = "jumpfunc-engine",
	.exit = engine_exit,
	.test_cases = engine_cases,
};
JFK_SUITES(&engine_suite);
