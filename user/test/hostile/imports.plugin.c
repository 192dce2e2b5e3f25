// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
int lib_early_op, lib_early_keys, lib_early_own, lib_early_set;
int (*lib_early_target)(int x);
int lib_op(int x);
int lib_keys(void);
int lib_own(void);
int lib_own_set(void);
void *lib_target(void);

/* Before all that the headers bring, also where a compiler sorts those of one priority. */
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((__constructor__(100))) static void early(void)
{
	lib_early_op = lib_op(1);
	lib_early_target = (int (*)(int))lib_target();
	lib_early_keys = lib_keys();
	lib_early_own = lib_own();
	lib_early_set = lib_own_set();
}

#include "imports.h"

static int op(int x) { return x; }

IMPORT_JF_KEY(app_on);
IMPORT_JF_KEY(app_off);
IMPORT_JF_KEY_ARRAY(app_keys, 3);
IMPORT_DYNFUNC(app_op, op);
IMPORT_JF_TRACE(app_event);
DEFINE_JF_KEY_FALSE(own);
DEFINE_JF_KEY_TRUE(own_on);
static int own_one(int x) { return x + 1; }
DEFINE_DYNFUNC(own_op, own_one);

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

/* 7: its own keys and functions are as defined. */
int lib_own(void)
{
	return (jf_branch_unlikely(&own) ? 0 : 1) | (jf_branch_likely(&own_on) ? 2 : 0) |
	       (dynfunc_call(own_op, 4) == 5 ? 4 : 0);
}

int lib_own_set(void)
{
	int err = jf_key_enable(&own);

	return err == jf_key_disable(&own_on) ? err : 1;
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
