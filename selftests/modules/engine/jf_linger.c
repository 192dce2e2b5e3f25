// SPDX-License-Identifier: GPL-2.0
/*
 * A thread sleeps in the first of several probes while others are unregistered and
 * registered. The chain or the iterator's array, to which it returns, must be as it was; changes go
 * on during the wait; and jf_quiesce() does not return before it has left.
 */
#include "jf_test.h"

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/wait.h>

#include <jumpfunc/tracepoint.h>

#include "../test_compat.h"

DECLARE_JF_TRACE(linger, JF_PROTO(u64 a, u64 b), JF_ARGS(a, b), JF_BARE);
DEFINE_JF_TRACE(linger);

#define ARG(a)		((a) * 5 + 2)
#define PROBES		20
/* More than there are images of one kind, two times over. */
#define CHURNS		20

static struct mark {
	atomic_t	calls;
	bool		dead;
} marks[PROBES];

static atomic_t bad, late;
static bool asleep, linger, churned, quiesced, back, lost;
static unsigned int num;
static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool open;
static DECLARE_COMPLETION(ended);

static noinline void linger_probe(void *data, u64 a, u64 b)
{
	struct mark *m = data;

	if (m < marks || m >= marks + PROBES || b != ARG(a)) {
		atomic_inc(&bad);
		return;
	}
	atomic_inc(&m->calls);
	if (READ_ONCE(m->dead))
		atomic_inc(&late);
	if (m != marks || !xchg(&linger, false))
		return;
	WRITE_ONCE(asleep, true);
	wait_event(gate, READ_ONCE(open));
	/* The array that called this may have been freed: do not return to it. */
	if (READ_ONCE(quiesced) && num > JF_TRACE_CHAIN_MAX) {
		WRITE_ONCE(lost, true);
		test_thread_exit(&ended);
	}
}

static int hit_thread(void *unused)
{
	jf_trace_linger(7, ARG(7));
	WRITE_ONCE(back, true);
	test_thread_exit(&ended);
}

static int quiesce_thread(void *unused)
{
	jf_quiesce();
	WRITE_ONCE(marks[num - 1].dead, true);
	WRITE_ONCE(quiesced, true);
	test_thread_exit(&ended);
}

static int churn_thread(void *unused)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < CHURNS; i++) {
		err = register_jf_trace_linger(linger_probe, &marks[PROBES - 1]);
		if (!err)
			err = unregister_jf_trace_linger(linger_probe, &marks[PROBES - 1]);
	}
	if (err)
		atomic_inc(&bad);
	WRITE_ONCE(churned, true);
	test_thread_exit(&ended);
}

static bool wait_for(const bool *what, unsigned int seconds)
{
	unsigned long end = jiffies + seconds * HZ;

	while (!READ_ONCE(*what) && time_before(jiffies, end))
		msleep(20);
	return READ_ONCE(*what);
}

static int start(int (*fn)(void *), const char *name)
{
	struct task_struct *t = kthread_run(fn, NULL, "linger/%s", name);

	return IS_ERR(t) ? PTR_ERR(t) : 0;
}

static int test(unsigned int n)
{
	unsigned int i, threads = 0;

	num = n;
	memset(marks, 0, sizeof(marks));
	atomic_set(&bad, 0);
	atomic_set(&late, 0);
	asleep = churned = quiesced = back = lost = open = false;
	linger = true;
	reinit_completion(&ended);

	for (i = 0; i < n; i++)
		CHECK_EQ(register_jf_trace_linger(linger_probe, &marks[i]), 0);
	threads += CHECK_EQ(start(hit_thread, "hit"), 0);
	if (CHECK(wait_for(&asleep, 10))) {
		CHECK_EQ(unregister_jf_trace_linger(linger_probe, &marks[n - 1]), 0);
		threads += CHECK_EQ(start(quiesce_thread, "quiesce"), 0);
		threads += CHECK_EQ(start(churn_thread, "churn"), 0);
		/* The sleeping thread does not keep others from making changes. */
		CHECK(wait_for(&churned, 15));
		wait_for(&quiesced, 3);
		CHECK(!READ_ONCE(quiesced));
	}
	WRITE_ONCE(open, true);
	wake_up_all(&gate);
	if (CHECK(wait_for(&quiesced, 20)))
		CHECK(wait_for(&churned, 20));
	for (; threads; threads--)
		wait_for_completion(&ended);
	/* All probes that were there when the thread came. */
	CHECK(back);
	CHECK(!lost);
	for (i = 0; i < n; i++)
		CHECK_EQ(atomic_read(&marks[i].calls), 1);
	CHECK_EQ(atomic_read(&marks[PROBES - 1].calls), 0);
	CHECK_EQ(atomic_read(&late), 0);
	CHECK_EQ(atomic_read(&bad), 0);
	for (i = 0; i < n - 1; i++)
		CHECK_EQ(unregister_jf_trace_linger(linger_probe, &marks[i]), 0);
	jf_quiesce();
	return 0;
}

static int test_chain(void)
{
	return test(3);
}

static int test_iterator(void)
{
	return test(18);
}

const struct jft_case jft_cases[] = {
	{ "chain", test_chain },
	{ "iterator", test_iterator },
	{ }
};

module_init(jft_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A thread sleeps in a probe while others change");
