// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Text cannot be written, from the start: a change of a key with branches is refused, and changes
 * nothing, nor do other changes in its batch. Code that was compiled with JF_TESTED follows all
 * changes (refused-tested.c).
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>

#include "again.h"

#ifdef JF_TESTED
#define REFUSED	0
#else
#define REFUSED	-EOPNOTSUPP
#endif

static int one(void) { return 1; }
static int two(void) { return 2; }

DEFINE_JF_KEY_FALSE(off);
DEFINE_JF_KEY_TRUE(on);
DEFINE_JF_KEY_FALSE(unused);
DEFINE_DYNFUNC(func, one);
DECLARE_JF_TRACE_NOARGS(event);
DEFINE_JF_TRACE(event);

static int seen;

static void probe(void *data)
{
	++*(int *)data;
}

static void are(int is_off, int is_on, int is_func)
{
	MUST(jf_branch_unlikely(&off) == is_off && jf_branch_likely(&off) == is_off &&
	     jf_key_enabled(&off) == is_off && jf_key_count(&off) == is_off, "off");
	MUST(jf_branch_unlikely(&on) == is_on && jf_branch_likely(&on) == is_on &&
	     jf_key_enabled(&on) == is_on, "on");
	MUST(dynfunc_call(func) == is_func, "the function");
}

static void both_ways(void)
{
	struct jf_batch b;
	int done = !REFUSED;

	are(0, 1, 1);
	MUST(jf_key_enable(&off) == REFUSED && jf_key_disable(&on) == REFUSED, "changed");
	are(done, !done, 1);
	MUST(!jf_key_disable(&off) && !jf_key_enable(&on), "as they are");
	are(0, 1, 1);
	MUST(jf_key_inc(&off) == REFUSED, "a user");
	are(done, 1, 1);
	MUST(jf_key_dec(&off) == (done ? 0 : -EINVAL), "no user");
	jf_batch_init(&b);
	jf_key_batch_set(&b, &off, true);
	dynfunc_batch_set(&b, func, two);
	MUST(jf_batch_commit(&b) == REFUSED, "a batch");
	are(done, 1, done ? 2 : 1);
	MUST(!jf_key_disable(&off), "back");
	MUST(!dynfunc_update(func, two) && dynfunc_call(func) == 2, "a function has a pointer");
	MUST(!jf_key_enable(&unused) && jf_key_enabled(&unused), "a key without branches");
	MUST(register_jf_trace_event(probe, &seen) == REFUSED, "a probe");
	jf_trace_event();
	MUST(seen == done && jf_trace_event_enabled() == done, "%d", seen);
}

int main(int argc, char **argv)
{
	struct jf_stats s;

	alarm(10);
	if (argc == 1) {
		must_run(argv[0], "none", "none");
		setenv("JUMPFUNC", "off", 1);
		must_run(argv[0], "off", NULL);
		return 0;
	}
	both_ways();
	jf_stats_get(&s, sizeof(s));
	MUST(!strcmp(s.writer, "none") && !s.patched, "%s", s.writer);
	return 0;
}
