// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A change does not use the program's heap: that may have a lock, and its owner wait for the
 * library's.
 */
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

#include "heap.h"

/* More than an image holds, and than libc sorts where they lie. */
#define PROBES	20
#define KEYS	64

DEFINE_JF_KEY_ARRAY_FALSE(key, KEYS);
DECLARE_JF_TRACE(rx, JF_PROTO(int i, int j), JF_ARGS(i, j));
DEFINE_JF_TRACE(rx);

static int twice(int i)
{
	return 2 * i;
}

DECLARE_DYNFUNC(hook, twice);
DEFINE_DYNFUNC(hook, twice);

static int thrice(int i)
{
	return 3 * i;
}

static int changes, calls;

static void heap_enter(void)
{
	calls += changes;
}

static void heap_leave(void)
{
}

#define SITE(i)		on += jf_branch_unlikely(&key[i]);
#define SITES_8(i)	SITE(i) SITE(i + 1) SITE(i + 2) SITE(i + 3) \
			SITE(i + 4) SITE(i + 5) SITE(i + 6) SITE(i + 7)

static int nr_on(void)
{
	int on = 0;

	SITES_8(0) SITES_8(8) SITES_8(16) SITES_8(24)
	SITES_8(32) SITES_8(40) SITES_8(48) SITES_8(56)
	return on;
}

static void probe(void *data, int i, int j)
{
	*(long *)data += i + j;
}

static long sum[PROBES];

static void keys(int on)
{
	struct jf_batch b;
	int i;

	jf_batch_init(&b);
	for (i = 0; i < KEYS; i++)
		MUST(!jf_key_batch_set(&b, &key[i * 37 % KEYS], on), "key %d", i);
	dynfunc_batch_set(&b, hook, on ? thrice : twice);
	MUST(!jf_batch_commit(&b) && nr_on() == on * KEYS, "%d of %d", nr_on(), on * KEYS);
	MUST(dynfunc_call(hook, 1) == 2 + on, "%d", dynfunc_call(hook, 1));
	jf_batch_init(&b);
	jf_key_batch_set(&b, &key[0], !on);
	jf_batch_abort(&b);
}

static void probes(int on)
{
	int i;

	for (i = 0; i < PROBES; i++) {
		int err = on ? register_jf_trace_rx(probe, &sum[i]) :
			       unregister_jf_trace_rx(probe, &sum[i]);

		MUST(!err, "%s", strerror(-err));
		jf_trace_rx(1, 2);
	}
}

static void all(void)
{
	MUST(!jf_key_enable(&key[0]) && !jf_key_disable(&key[0]), "one");
	MUST(!jf_key_inc(&key[0]) && !jf_key_dec(&key[0]), "counted");
	MUST(!dynfunc_update(hook, thrice) && !dynfunc_update(hook, twice), "a target");
	keys(1);
	keys(0);
	probes(1);
	probes(0);
	jf_quiesce();
}

int main(void)
{
	int i;

	alarm(10);
	/* libgcc, which knows of images, may keep memory of its own. */
	all();
	changes = 1;
	for (i = 0; i < 100; i++)
		all();
	changes = 0;
	MUST(!calls, "%d calls", calls);
	return 0;
}
