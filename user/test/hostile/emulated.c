// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * An emulator executes translations of the text, and does not notice each way to
 * change it. run.sh runs this in one.
 */
#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

int one(int i);
int one(int i) { return i + 1; }
int two(int i);
int two(int i) { return i + 2; }
DEFINE_DYNFUNC(op, one);

static long sum;

static void probe(void *data, int i)
{
	*(long *)data += i;
}

static int __attribute__((__noinline__)) is_on(void)
{
	return jf_branch_unlikely(&key);
}

static int change(int on)
{
	int err = on ? jf_key_enable(&key) : jf_key_disable(&key);

	if (!err)
		err = dynfunc_update(op, on ? two : one);
	if (!err)
		err = on ? register_jf_trace_rx(probe, &sum) :
			   unregister_jf_trace_rx(probe, &sum);
	return err;
}

int main(void)
{
	struct jf_stats stats;
	int i, err, stale = 0;

	alarm(60);
	for (i = 1; i < 200; i++) {
		err = change(i & 1);
		MUST(!err, "%s", strerror(-err));
		sum = 0;
		jf_trace_rx(3);
		stale += is_on() != (i & 1);
		stale += dynfunc_op(0) != 1 + (i & 1);
		stale += sum != (i & 1 ? 3 : 0);
	}
	jf_stats_get(&stats, sizeof(stats));
	MUST(!stale, "%d of 597 were stale, writer %s", stale, stats.writer);
	return 0;
}
