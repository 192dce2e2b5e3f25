// SPDX-License-Identifier: GPL-2.0
/*
 * A target sleeps while its module is unloaded, and then executes other sites in that
 * module: of this module's entities and of its own. Until no task is in the module any
 * more, they have to follow their entities.
 *
 * The cases run while jf_leave_m is loaded, and are called in this order:
 *   enter	a task enters jf_leave_m's target, and sleeps there
 *   (rmmod jf_leave_m waits for it; everything that it retires is freed)
 *   change	the entities of its sites change
 *   go_on	the task goes on, notes the results of its sites, and then asks for a callback
 *   unloaded	when the module is unloaded: the callback was called before
 */
#include "jf_test.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/wait.h>

#include "jf_leave.h"
#include "../test_compat.h"

int leave_plain(int x)
{
	return x + 1;
}
EXPORT_SYMBOL_GPL(leave_plain);

int leave_other(int x)
{
	return x + 2;
}
EXPORT_SYMBOL_GPL(leave_other);

int leave_enter_plain(struct leave_found *found)
{
	return -ENOENT;
}
EXPORT_SYMBOL_GPL(leave_enter_plain);

DEFINE_DYNFUNC(leave_enter, leave_enter_plain);
EXPORT_DYNFUNC_GPL(leave_enter);
DEFINE_DYNFUNC(leave_op, leave_plain);
EXPORT_DYNFUNC_GPL(leave_op);
DEFINE_JF_KEY_FALSE(leave_key);
EXPORT_JF_KEY_GPL(leave_key);
DEFINE_JF_TRACE(leave_trace);
EXPORT_JF_TRACE_GPL(leave_trace);

int (*leave_offer)(int x);
EXPORT_SYMBOL_GPL(leave_offer);

/* The argument of a tracepoint, and the data of its probe. */
unsigned long leave_marks[2] = { 0x1ea4e01, 0x1ea4e02 };
EXPORT_SYMBOL_GPL(leave_marks);

unsigned int leave_called;
EXPORT_SYMBOL_GPL(leave_called);

static atomic_t own_calls, trace_calls, bad;
static struct leave_found found;
static DECLARE_WAIT_QUEUE_HEAD(gate);
static bool asleep, open, running;
static DECLARE_COMPLETION(ended);
static int entered;

static void check_call(atomic_t *calls, void *data, int i, unsigned long a, unsigned long b)
{
	atomic_inc(calls);
	if (data == &leave_marks[i] && a == leave_marks[i] && b == ~a)
		return;
	if (!atomic_fetch_inc(&bad))
		pr_err("jf_leave: BAD: probe %d got data %px and arguments %lx %lx\n", i, data, a, b);
}

/* On the tracepoint of jf_leave_m. */
void leave_own_probe(void *data, unsigned long a, unsigned long b)
{
	check_call(&own_calls, data, 0, a, b);
}
EXPORT_SYMBOL_GPL(leave_own_probe);

static void leave_trace_probe(void *data, unsigned long a, unsigned long b)
{
	check_call(&trace_calls, data, 1, a, b);
}

void leave_wait(void)
{
	WRITE_ONCE(asleep, true);
	wait_event(gate, READ_ONCE(open));
}
EXPORT_SYMBOL_GPL(leave_wait);

static int enter_thread(void *unused)
{
	entered = dynfunc_call(leave_enter, &found);
	test_thread_exit(&ended);
}

static int test_enter(void)
{
	struct task_struct *t;
	unsigned int i;

	memset(&found, 0, sizeof(found));
	leave_called = 0;
	atomic_set(&own_calls, 0);
	atomic_set(&trace_calls, 0);
	atomic_set(&bad, 0);
	asleep = open = false;
	entered = -EINPROGRESS;
	reinit_completion(&ended);
	t = kthread_run(enter_thread, NULL, "jf_leave");
	if (!CHECK(!IS_ERR(t)))
		return PTR_ERR(t);
	running = true;
	for (i = 0; i < 500 && !READ_ONCE(asleep); i++)
		msleep(20);
	CHECK(READ_ONCE(asleep));
	return 0;
}

static int test_change(void)
{
	CHECK_EQ(dynfunc_update(leave_op, leave_other), 0);
	CHECK_EQ(jf_key_enable(&leave_key), 0);
	CHECK_EQ(register_jf_trace_leave_trace(leave_trace_probe, &leave_marks[1]), 0);
	return 0;
}

static int test_go_on(void)
{
	WRITE_ONCE(open, true);
	wake_up_all(&gate);
	if (!CHECK(wait_for_completion_timeout(&ended, 20 * HZ)))
		return -ETIMEDOUT;
	running = false;
	CHECK_EQ(entered, 0);
	CHECK_EQ(found.theirs, 12);
	CHECK(found.branch);
	CHECK_EQ(atomic_read(&trace_calls), 1);
	/* Its own: probes that others had added to it have been taken off. */
	CHECK_EQ(found.own, 11);
	CHECK_EQ(atomic_read(&own_calls), 0);
	CHECK_EQ(atomic_read(&bad), 0);
	CHECK_EQ(dynfunc_update(leave_op, leave_plain), 0);
	CHECK_EQ(jf_key_disable(&leave_key), 0);
	CHECK_EQ(unregister_jf_trace_leave_trace(leave_trace_probe, &leave_marks[1]), 0);
	return 0;
}

static int test_unloaded(void)
{
	CHECK_EQ(leave_called, 1);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "enter", test_enter },
	{ "change", test_change },
	{ "go_on", test_go_on },
	{ "unloaded", test_unloaded },
	{ }
};

static void __exit leave_exit(void)
{
	int err;

	WRITE_ONCE(open, true);
	wake_up_all(&gate);
	if (running)
		wait_for_completion(&ended);
	err = unregister_jf_trace_leave_trace(leave_trace_probe, &leave_marks[1]);
	/* A test may have removed it. */
	WARN_ON(err && err != -ENOENT);
	jft_exit();
}

module_init(jft_init);
module_exit(leave_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A task in a module that is unloaded, and what its sites do");
