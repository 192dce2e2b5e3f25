// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * membarrier() is denied from the n-th broadcast of a change on, and allowed again
 * later. Threads execute old or new, sites follow the values as soon as the change has returned,
 * and changes succeed again afterwards. A branch that was to jump may be half done: that is -EIO,
 * its value counts as set, and the next change, also one to the same value, does the rest.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <pthread.h>

#include "syscall.h"

DEFINE_JF_KEY_FALSE(key);

int one(int i);
int two(int i);
int one(int i) { return i + 1; }
int two(int i) { return i + 2; }
DEFINE_DYNFUNC(op, one);

static int fail_from = -1, calls_of, failed;

static int denied(long nr, const long *args)
{
	if (nr != SYS_membarrier || args[0] != SYNC_CORE || fail_from < 0 || calls_of++ < fail_from)
		return 0;
	failed++;
	return 1;
}

static volatile int stop;
static void *calls(void *arg)
{
	while (!stop) {
		int got = dynfunc_call(op, 1);

		MUST(got == 2 || got == 3, "op: %d", got);
		if (jf_branch_unlikely(&key))
			__asm__ volatile("nop");
	}
	return arg;
}

static int is_two(void)
{
	return dynfunc_op(0) == 2;
}

static void one_round(int i)
{
	int want = !is_two(), err;

	fail_from = i % 6;
	calls_of = 0;
	err = dynfunc_update(op, want ? two : one);
	MUST(err == 0 || err == -EOPNOTSUPP, "op, %d: %s", fail_from, strerror(-err));
	MUST(is_two() == (err ? !want : want), "op, %d", fail_from);
	MUST(is_two() == (dynfunc_query(op) == (void *)two), "op's value, %d", fail_from);
	calls_of = 0;
	want = !jf_key_enabled(&key);
	err = want ? jf_key_enable(&key) : jf_key_disable(&key);
	MUST(err == 0 || err == -EOPNOTSUPP || (err == -EIO && want && fail_from > 1),
	     "key, %d: %s", fail_from, strerror(-err));
	if (err == -EIO) {
		MUST(jf_key_enabled(&key), "key's value, %d", fail_from);
		fail_from = -1;
		err = jf_key_enable(&key);
		MUST(!err, "the rest of it: %s", strerror(-err));
	}
	MUST(jf_branch_unlikely(&key) == (err ? !want : want), "key, %d", fail_from);
	MUST(jf_key_enabled(&key) == jf_branch_unlikely(&key), "key's value, %d", fail_from);
	fail_from = -1;
	if (i % 3)
		return;
	err = dynfunc_update(op, is_two() ? one : two);
	MUST(!err, "op, afterwards: %s", strerror(-err));
	err = jf_key_enabled(&key) ? jf_key_disable(&key) : jf_key_enable(&key);
	MUST(!err && jf_key_enabled(&key) == jf_branch_unlikely(&key), "key, afterwards: %s",
	     strerror(-err));
}

int main(void)
{
	pthread_t t;
	int i;

	alarm(20);
	pthread_create(&t, NULL, calls, NULL);
	usleep(1000);
	for (i = 0; i < 400; i++)
		one_round(i);
	MUST(failed > 400, "%d broadcasts failed", failed);
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
