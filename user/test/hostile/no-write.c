// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * From the n-th write of text on some fail, with each writer, and later ones do not. A
 * change that returns 0 is one that is done, and as long as there is a writer the next
 * one succeeds. Each combination has a process of its own, since a writer that was
 * refused is out for good.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>
#include <sys/wait.h>

#include "pwrite.h"
#include "writes.h"

DEFINE_JF_KEY_FALSE(key);

int one(int i);
int two(int i);
int one(int i) { return i + 1; }
int two(int i) { return i + 2; }

/* Those in between keep the two trampolines too far apart for one write. */
DEFINE_DYNFUNC(first, one);
DEFINE_DYNFUNC(between1, one);
DEFINE_DYNFUNC(between2, one);
DEFINE_DYNFUNC(between3, one);
DEFINE_DYNFUNC(between4, one);
DEFINE_DYNFUNC(between5, one);
DEFINE_DYNFUNC(last, one);

static int fail_from = -1, fail_num, fail_with, writes;

static int fails(void)
{
	int nr;

	if (fail_from < 0)
		return 0;
	nr = writes++;
	errno = fail_with;
	return nr >= fail_from && nr < fail_from + fail_num;
}

FAILING_PWRITE(fails())
FAILING_MREMAP(fails())

static int set(int on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, first, on ? two : one);
	dynfunc_batch_set(&b, last, on ? two : one);
	jf_key_batch_set(&b, &key, on);
	return jf_batch_commit(&b);
}

static int functions_are(int on)
{
	return dynfunc_first(0) == 1 + on && dynfunc_last(0) == 1 + on;
}

static int branch_is(int on)
{
	return jf_branch_unlikely(&key) == on;
}

static void change(int start, int from, const char *what)
{
	int on = !start, err, again;
	struct jf_stats s;

	MUST(!set(start), "%s: the start", what);
	writes = 0;
	fail_from = from;
	err = set(on);
	MUST(functions_are(err && err != -EIO ? start : on), "%s: %s", what, strerror(-err));
	if (err != -EIO)
		MUST(branch_is(err ? start : on), "%s: %s", what, strerror(-err));
	if (jf_key_count(&key) == 1 && !jf_key_inc(&key)) {
		MUST(branch_is(1), "%s: %s, jf_key_inc()", what, strerror(-err));
		MUST(!jf_key_dec(&key), "%s: jf_key_dec()", what);
	}
	again = set(on);
	MUST(again || (functions_are(on) && branch_is(on)), "%s: %s, and then not done", what,
	     strerror(-err));
	fail_from = -1;
	jf_stats_get(&s, sizeof(s));
	again = set(on);
	MUST(!again || !strcmp(s.writer, "none"), "%s: %s, afterwards: %s", what,
	     strerror(-err), strerror(-again));
	MUST(again || (functions_are(on) && branch_is(on)), "%s: not done afterwards", what);
	again = set(start);
	MUST(!again || !strcmp(s.writer, "none"), "%s: back: %s", what, strerror(-again));
	MUST(again || (functions_are(start) && branch_is(start)), "%s: not done back", what);
}

static void in_child(int from, int num, int with, int start)
{
	char what[64];
	int status;
	pid_t p;

	snprintf(what, sizeof(what), "%d writes from number %d on, %d, from %s", num, from, with,
		 start ? "on" : "off");
	p = fork();
	if (!p) {
		fail_num = num;
		fail_with = with;
		change(start, from, what);
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "%s: status %#x", what, status);
}

int main(void)
{
	static const int errors[] = { ENOMEM, EIO }, numbers[] = { 1, 2, 3, 5, 8, 100 };
	size_t e, n;
	int from;

	for (e = 0; e < 2; e++)
		for (n = 0; n < 6; n++)
			for (from = 0; from < 16; from++) {
				in_child(from, numbers[n], errors[e], 0);
				in_child(from, numbers[n], errors[e], 1);
			}
	return 0;
}
