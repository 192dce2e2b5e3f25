// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A shared object with sites of its own, for test_lib_dl.c. */
#include "test_lib_plugin.h"

/* The program has one of the same name. */
DEFINE_JF_KEY_FALSE(shared_name);
static DEFINE_JF_KEY_TRUE(always);

static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
DEFINE_DYNFUNC(plugin_op, twice);

static int branch(void)
{
	if (!jf_branch_likely(&always))
		return -1;
	return jf_branch_unlikely(&shared_name);
}

static int set(int on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &shared_name, on);
	if (on)
		dynfunc_batch_set(&b, plugin_op, thrice);
	else
		dynfunc_batch_set(&b, plugin_op, twice);
	return jf_batch_commit(&b);
}

static int func(int x)
{
	return dynfunc_plugin_op(x);
}

/* Of the program. */
DECLARE_JF_KEY(host_key);
IMPORT_JF_KEY(host_key);
IMPORT_DYNFUNC(host_op, twice);

static int imported(int x)
{
	return (jf_branch_unlikely(&host_key) ? 100 : 0) +
	       (jf_branch_likely(&host_key) ? 200 : 0) + dynfunc_host_op(x);
}

static int import_set(int on)
{
	int err = on ? jf_key_inc(&host_key) : jf_key_dec(&host_key);

	if (err)
		return err;
	if (on)
		return dynfunc_update(host_op, thrice);
	return dynfunc_update(host_op, NULL);
}

static int import_count(void)
{
	return jf_key_count(&host_key);
}

static int import_query(void)
{
	return dynfunc_query(host_op) != 0;
}

#ifndef HOST_KEYS
#define HOST_KEYS	3
#endif
DECLARE_JF_KEY_ARRAY(host_keys, HOST_KEYS);
IMPORT_JF_KEY_ARRAY(host_keys, HOST_KEYS);
IMPORT_JF_TRACE(host_event);

static int array(void)
{
	return (jf_branch_unlikely(&host_keys[0]) ? 1 : 0) |
	       (jf_branch_likely(&host_keys[1]) ? 2 : 0) |
	       (jf_branch_unlikely(&host_keys[2]) ? 4 : 0);
}

static int array_set(int i, int on)
{
	return on ? jf_key_enable(&host_keys[i]) : jf_key_disable(&host_keys[i]);
}

static int watched;

static void watcher(void *data, int x, const char *s)
{
	*(int *)data += s[0] == 'x' ? x : -1;
}

static int fire(int x)
{
	jf_trace_host_event(x, "x");
	return jf_trace_host_event_enabled();
}

static int watch(int on)
{
	return on ? register_jf_trace_host_event(watcher, &watched) :
		    unregister_jf_trace_host_event(watcher, &watched);
}

static int target(int x)
{
	return x + 1000;
}

static int seen;

static void probe(void *data, int x)
{
	*(int *)data += x;
}

static int init(const struct host *host)
{
	int err = host->set_target(target);

	return err ? err : host->add_probe(probe, &seen);
}

static long spin(const int *stop)
{
	long wrong = 0;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		int x = func(1);

		wrong += !jf_branch_likely(&always) || (x != 2 && x != 3);
	}
	return wrong;
}

extern const struct plugin plugin;
const struct plugin plugin = { branch, set, init, func, spin, &shared_name, imported, import_set,
				import_count, import_query, array, array_set, fire, watch, &watched };
