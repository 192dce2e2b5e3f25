// SPDX-License-Identifier: GPL-2.0
/*
 * Contracts of tracepoints and dynamic functions: the section around a call, and the data that can
 * be freed after each wait. Threads and timers call all the time while data is allocated and freed.
 * See jf_test.h.
 *
 * /sys/kernel/debug/jf_contract/rounds	write N: N rounds for each contract
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/srcu.h>

#include <jumpfunc/tracepoint.h>

#include "../engine/jf_test.h"

/* --- the section around a call --------------------------------------------- */

/* By the names of 0.1, which modules may use. */
DECLARE_JF_TRACE(ct_default, PROTO(long a), ARGS(a));
DECLARE_JF_TRACE(ct_bare, JF_PROTO(long a), JF_ARGS(a), JF_BARE);
DECLARE_JF_TRACE(ct_sleepable, JF_PROTO(long a), JF_ARGS(a), JF_SLEEPABLE);
DECLARE_JF_TRACE_NOARGS(ct_noargs, JF_SLEEPABLE);
/* On the stack, through the trampoline. */
DECLARE_JF_TRACE(ct_eight, JF_PROTO(long a, long b, long c, long d, long e, long f, long g, long h),
		 JF_ARGS(a, b, c, d, e, f, g, h));
DEFINE_JF_TRACE(ct_default);
DEFINE_JF_TRACE(ct_bare);
DEFINE_JF_TRACE(ct_sleepable);
DEFINE_JF_TRACE(ct_noargs);
DEFINE_JF_TRACE(ct_eight);

static long sum6(long a, long b, long c, long d, long e, long f);
static u8 narrow(u8 x);
static void nothing(void);

DEFINE_DYNFUNC_LOCAL(ct_sum_rcu, sum6, JF_RCU);
DEFINE_DYNFUNC(ct_sum_sleepable, sum6, JF_SLEEPABLE);
DEFINE_DYNFUNC_LOCAL(ct_narrow, narrow, JF_SLEEPABLE);
DEFINE_DYNFUNC_NULL(ct_null, nothing, JF_RCU);

/* Seen inside. */
static unsigned int calls;
static int inside_count;

static void note_context(void)
{
	calls++;
	inside_count = preempt_count();
}

static void probe1(void *data, long a)
{
	note_context();
	CHECK_EQ(a, 5);
}

static void probe_asleep(void *data, long a)
{
	msleep(1);
	probe1(data, a);
}

static void probe0(void *data)
{
	msleep(1);
	note_context();
}

static void probe8(void *data, long a, long b, long c, long d, long e, long f, long g, long h)
{
	note_context();
	CHECK_EQ(a + b + c + d + e + f + g + h, 36);
}

static noinline long sum6(long a, long b, long c, long d, long e, long f)
{
	note_context();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

static noinline u8 narrow(u8 x)
{
	msleep(1);
	note_context();
	return x + 1;
}

static noinline void nothing(void)
{
	note_context();
}

/* Arguments are evaluated outside: this sleeps. */
static long slow(long x)
{
	msleep(1);
	return x;
}

static void expect(bool off)
{
	CHECK_EQ(calls, 1);
	/* Not all kernels count. */
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		CHECK_EQ(inside_count, preempt_count() + off);
	calls = 0;
}

static int case_around(void)
{
	u8 x = 255;

	calls = 0;
	CHECK_EQ(register_jf_trace_ct_default(probe1, NULL), 0);
	CHECK_EQ(register_jf_trace_ct_bare(probe_asleep, NULL), 0);
	CHECK_EQ(register_jf_trace_ct_sleepable(probe_asleep, NULL), 0);
	CHECK_EQ(register_jf_trace_ct_noargs(probe0, NULL), 0);
	CHECK_EQ(register_jf_trace_ct_eight(probe8, NULL), 0);
	jf_trace_ct_default(slow(5));
	expect(true);
	jf_trace(ct_default, slow(5));
	expect(true);
	jf_trace_ct_bare(5);
	expect(false);
	jf_trace_ct_sleepable(5);
	expect(false);
	jf_trace_ct_noargs();
	expect(false);
	jf_trace_ct_eight(1, 2, 3, 4, 5, 6, 7, 8);
	expect(true);
	CHECK_EQ(unregister_jf_trace_ct_default(probe1, NULL), 0);
	CHECK_EQ(unregister_jf_trace_ct_bare(probe_asleep, NULL), 0);
	CHECK_EQ(unregister_jf_trace_ct_sleepable(probe_asleep, NULL), 0);
	CHECK_EQ(unregister_jf_trace_ct_noargs(probe0, NULL), 0);
	CHECK_EQ(unregister_jf_trace_ct_eight(probe8, NULL), 0);

	CHECK_EQ(dynfunc_call(ct_sum_rcu, slow(1), 2, slow(3), 4, slow(5), slow(6)), 91);
	expect(true);
	CHECK_EQ(dynfunc_call(ct_sum_sleepable, slow(1), 2, 3, 4, 5, slow(6)), 91);
	expect(false);
	CHECK_EQ(dynfunc_call(ct_narrow, x), 0);
	expect(false);
	dynfunc_call(ct_null);
	CHECK_EQ(calls, 0);
	CHECK_EQ(dynfunc_update(ct_null, nothing), 0);
	dynfunc_call(ct_null);
	expect(true);
	CHECK_EQ(dynfunc_update(ct_null, NULL), 0);
	return 0;
}

/* --- freeing of data --------------------------------------------------------- */

#define ALIVE	0x11d4ea5eUL
#define FREED	0xdead0f0fUL

static unsigned long data_of[2];
static atomic64_t probes;
static atomic_t dead;

static void check_alive(unsigned long *d)
{
	if (READ_ONCE(*d) != ALIVE && !atomic_fetch_inc(&dead))
		pr_err("jf_contract: BAD: a probe runs with data that was freed\n");
	atomic64_inc(&probes);
}

/* Long enough to be inside when the data is retired. */
static void busy(void *data, long a)
{
	check_alive(data);
	udelay(200);
	check_alive(data);
}

static void asleep(void *data, long a)
{
	check_alive(data);
	msleep(2);
	check_alive(data);
}

/* Where stacks cannot be read, a probe that sleeps has to say so. */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#define STACKS_READ	true
#define bare_probe	asleep
#else
#define STACKS_READ	false
#define bare_probe	busy
#endif

static int hitter(void *arg)
{
	while (!kthread_should_stop()) {
		jf_trace_ct_default(1);
		jf_trace_ct_sleepable(2);
		jf_trace_ct_bare(3);
		usleep_range(100, 200);
	}
	return 0;
}

static int round_of(int contract, unsigned int i)
{
	unsigned long *d = &data_of[i & 1];
	int err;

	WRITE_ONCE(*d, ALIVE);
	switch (contract) {
	case JF_RCU:
		err = register_jf_trace_ct_default(busy, d);
		break;
	case JF_SLEEPABLE:
		err = register_jf_trace_ct_sleepable(asleep, d);
		break;
	default:
		err = register_jf_trace_ct_bare(bare_probe, d);
	}
	if (err)
		return err;
	msleep(5);
	switch (contract) {
	case JF_RCU:
		err = unregister_jf_trace_ct_default(busy, d);
		jf_trace_synchronize(ct_default);
		break;
	case JF_SLEEPABLE:
		err = unregister_jf_trace_ct_sleepable(asleep, d);
		jf_trace_synchronize(ct_sleepable);
		break;
	default:
		err = unregister_jf_trace_ct_bare(bare_probe, d);
		jf_trace_synchronize(ct_bare);
	}
	WRITE_ONCE(*d, FREED);
	return err;
}

static unsigned int rounds = 5;

static int case_freed(void)
{
	static const int contracts[] = { JF_RCU, JF_SLEEPABLE, JF_BARE };
	struct task_struct *t[3];
	unsigned int i, j;
	s64 before;

	for (i = 0; i < ARRAY_SIZE(t); i++) {
		t[i] = kthread_run(hitter, NULL, "jf_contract/%u", i);
		if (IS_ERR(t[i])) {
			while (i--)
				kthread_stop(t[i]);
			return -ENOMEM;
		}
	}
	atomic_set(&dead, 0);
	for (i = 0; i < ARRAY_SIZE(contracts); i++) {
		before = atomic64_read(&probes);
		for (j = 0; j < rounds; j++)
			CHECK_EQ(round_of(contracts[i], j), 0);
		CHECK(atomic64_read(&probes) > before);
	}
	for (i = 0; i < ARRAY_SIZE(t); i++)
		kthread_stop(t[i]);
	CHECK_EQ(atomic_read(&dead), 0);
	return 0;
}

/* --- a wait is for tasks inside ---------------------------------------------- */

static DECLARE_COMPLETION(entered);
static bool left;

static void stays(void *data, long a)
{
	complete(&entered);
	msleep(1000);
	/* And so msleep() is no tail call: jf_quiesce() does not see a task that sleeps in one. */
	WRITE_ONCE(left, true);
}

static int hit_once(void *contract)
{
	if ((long)contract == JF_SLEEPABLE)
		jf_trace_ct_sleepable(2);
	else
		jf_trace_ct_bare(3);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int stays_inside(long contract)
{
	struct task_struct *t;
	int err;

	reinit_completion(&entered);
	left = false;
	if (contract == JF_SLEEPABLE)
		err = register_jf_trace_ct_sleepable(stays, NULL);
	else
		err = register_jf_trace_ct_bare(stays, NULL);
	if (err)
		return err;
	t = kthread_run(hit_once, (void *)contract, "jf_contract/stays");
	if (!IS_ERR(t))
		wait_for_completion(&entered);
	if (contract == JF_SLEEPABLE) {
		err = unregister_jf_trace_ct_sleepable(stays, NULL);
		jf_trace_synchronize(ct_sleepable);
	} else {
		err = unregister_jf_trace_ct_bare(stays, NULL);
		jf_trace_synchronize(ct_bare);
	}
	if (IS_ERR(t))
		return PTR_ERR(t);
	/* However slow the machine is, the wait does not end before the probe does. */
	CHECK(READ_ONCE(left));
	CHECK_EQ(err, 0);
	CHECK_EQ(kthread_stop(t), 0);
	return 0;
}

/* A grace period of RCU, for which these do not wait, takes a small part of the second. */
static int case_waits(void)
{
	int err = stays_inside(JF_SLEEPABLE);

	if (!err && STACKS_READ)
		err = stays_inside(JF_BARE);
	return err;
}

static ssize_t rounds_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	int err = kstrtouint_from_user(buf, len, 0, &rounds);

	return err ?: len;
}
TEST_WRITE_ONLY(rounds);

const struct jft_case jft_cases[] = {
	{ "around", case_around },
	{ "freed", case_freed },
	{ "waits", case_waits },
	{ }
};

static int __init contract_init(void)
{
	int err = jft_init();

	if (!err)
		debugfs_create_file("rounds", 0200, jft_dir, NULL, &rounds_fops);
	return err;
}

module_init(contract_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What is around calls with a contract, and what may be freed after which wait");
