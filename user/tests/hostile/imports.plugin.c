// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
int lib_early_op;
int (*lib_early_target)(int x);
int lib_op(int x);
void *lib_target(void);

/* Before all that the headers bring, also where a compiler sorts those of one priority. */
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((__constructor__(100))) static void early(void)
{
	lib_early_op = lib_op(1);
	lib_early_target = (int (*)(int))lib_target();
}

#include "imports.h"

static int op(int x) { return x; }

IMPORT_JF_KEY(app_on);
IMPORT_JF_KEY(app_off);
IMPORT_JF_KEY_ARRAY(app_keys, 3);
IMPORT_DYNFUNC(app_op, op);
IMPORT_JF_TRACE(app_event);
DEFINE_JF_KEY_FALSE(own);

int lib_then_op, lib_then_keys, lib_then_own, lib_then_set, lib_then_count, lib_then_watch;
int lib_sum;

int lib_keys(void)
{
	return (jf_branch_unlikely(&app_on) ? 1 : 0) | (jf_branch_likely(&app_off) ? 2 : 0) |
	       (jf_branch_likely(&app_keys[0]) ? 4 : 0) |
	       (jf_branch_unlikely(&app_keys[1]) ? 8 : 0) |
	       (jf_branch_unlikely(&app_keys[2]) ? 16 : 0);
}

int lib_op(int x)
{
	return dynfunc_call(app_op, x);
}

void *lib_target(void)
{
	return dynfunc_query(app_op);
}

int lib_set(int on)
{
	int err = on ? jf_key_enable(&app_on) : jf_key_disable(&app_on);

	return err ? err : on ? jf_key_enable(&app_keys[2]) : jf_key_disable(&app_keys[2]);
}

int lib_count(int up)
{
	return up ? jf_key_inc(&app_on) : jf_key_dec(&app_on);
}

static void probe(void *data, int x)
{
	(void)data;
	lib_sum += x;
}

int lib_watch(int on)
{
	return on ? register_jf_trace_app_event(probe, NULL) :
		    unregister_jf_trace_app_event(probe, NULL);
}

void lib_fire(int x)
{
	jf_trace_app_event(x);
}

__attribute__((__constructor__)) static void then(void)
{
	lib_then_op = lib_op(1);
	lib_then_keys = lib_keys();
	lib_then_set = lib_set(0);
	lib_then_count = lib_count(1);
	lib_then_watch = lib_watch(1);
	lib_then_own = !jf_key_enable(&own) && jf_branch_unlikely(&own);
}
