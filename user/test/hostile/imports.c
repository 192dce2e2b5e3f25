// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A library that the program is linked with imports the program's exports. Its
 * constructors come first, when the library does not know the program yet.
 */
#include <jumpfunc/stats.h>

#include "hostile.h"
#include "imports.h"

static int add100(int x) { return x + 100; }
static int add200(int x) { return x + 200; }

DEFINE_JF_KEY_TRUE(app_on);
EXPORT_JF_KEY(app_on);
DEFINE_JF_KEY_FALSE(app_off);
EXPORT_JF_KEY(app_off);
DEFINE_JF_KEY_ARRAY_TRUE(app_keys, 3);
EXPORT_JF_KEY_ARRAY(app_keys);
DEFINE_DYNFUNC(app_op, add100);
EXPORT_DYNFUNC(app_op);
DEFINE_JF_TRACE(app_event);
EXPORT_JF_TRACE(app_event);

static void changed_here(void)
{
	MUST(lib_keys() == 1 + 4 + 8 + 16 && lib_op(1) == 101, "%d %d", lib_keys(), lib_op(1));
	MUST(!jf_key_disable(&app_on) && !jf_key_enable(&app_off) &&
	     !jf_key_disable(&app_keys[1]) && !dynfunc_update(app_op, add200), "change");
	MUST(lib_keys() == 2 + 4 + 16 && lib_op(1) == 201, "%d %d", lib_keys(), lib_op(1));
	MUST(!jf_key_enable(&app_on) && !jf_key_disable(&app_off) &&
	     !jf_key_enable(&app_keys[1]) && !dynfunc_update(app_op, add100), "change");
	MUST(lib_keys() == 1 + 4 + 8 + 16 && lib_op(1) == 101, "%d %d", lib_keys(), lib_op(1));
}

/* A target that was set before its object was known is as good as any. */
static void as_it_was(void)
{
	int err;

	MUST(lib_early_target(1) == 101 && !dynfunc_update(app_op, add200), "change");
	err = dynfunc_update(app_op, lib_early_target);
	MUST(!err && lib_op(1) == 101 && dynfunc_app_op(1) == 101, "%s", strerror(-err));
}

static void changed_there(void)
{
	MUST(!lib_set(0) && !jf_branch_likely(&app_on) && !jf_key_enabled(&app_keys[2]) &&
	     lib_keys() == 4 + 8, "%d", lib_keys());
	MUST(!lib_set(1) && jf_branch_likely(&app_on) && jf_key_enabled(&app_keys[2]), "on");
	MUST(lib_count(1) == 0 && jf_key_count(&app_on) == 2 && lib_count(0) == 0 &&
	     jf_key_count(&app_on) == 1, "%d users", jf_key_count(&app_on));
}

static void traced(void)
{
	int sum = lib_sum;

	MUST(!lib_watch(1) && jf_trace_app_event_enabled(), "register");
	jf_trace_app_event(1);
	lib_fire(2);
	MUST(lib_sum == sum + 3, "%d", lib_sum);
	MUST(!lib_watch(0), "unregister");
	lib_fire(4);
	MUST(lib_sum == sum + 3, "%d", lib_sum);
}

int main(void)
{
	struct jf_stats stats;

	alarm(10);
	MUST(lib_early_op == 101, "before it is known: %d", lib_early_op);
	MUST(lib_early_keys == 1 + 4 + 8 + 16, "as declared: %d", lib_early_keys);
	MUST(lib_early_own == 7 && lib_early_set == -ENODEV, "its own: %d %d", lib_early_own,
	     lib_early_set);
	MUST(lib_then_op == 101 && lib_then_keys == 1 + 4 + 8 + 16,
	     "when the program is not known: %d %d", lib_then_op, lib_then_keys);
	MUST(lib_then_set == -ENODEV && lib_then_count == -ENODEV && lib_then_watch == -ENODEV,
	     "%d %d %d", lib_then_set, lib_then_count, lib_then_watch);
	MUST(lib_then_own == 1, "its own key: %d", lib_then_own);
	jf_stats_get(&stats, sizeof(stats));
	MUST(!stats.refused && stats.objects == 2, "%d refused", (int)stats.refused);
	changed_here();
	as_it_was();
	changed_there();
	traced();
	return 0;
}
