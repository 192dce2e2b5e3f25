// SPDX-License-Identifier: GPL-2.0
/*
 * A module that makes changes to the functions of jf_circle.ko and is unloaded without
 * undoing them. The parameter "steps" has the result of each step.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "jf_circle.h"

static char *how = "none";
module_param(how, charp, 0444);
MODULE_PARM_DESC(how, "which changes, see the source");

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "fail to initialise, after the changes");

static char steps[64];
module_param_string(steps, steps, sizeof(steps), 0444);
MODULE_PARM_DESC(steps, "result of each change (read)");

static noinline int circle_m(int a)
{
	return a + 100;
}

/* One more on the way. */
DEFINE_DYNFUNC(circle_own, circle_m);
DYNFUNC_TARGETS(circle_a, circle_m);
DYNFUNC_TARGETS(circle_b, circle_m);

static void note(int err)
{
	size_t len = strlen(steps);

	scnprintf(steps + len, sizeof(steps) - len, "%s%d", len ? " " : "", err);
}

static int batch_ab(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, circle_a, circle_m);
	dynfunc_batch_set(&b, circle_b, dynfunc_circle_a);
	return jf_batch_commit(&b);
}

static int batch_two(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, circle_1, circle_m);
	dynfunc_batch_set(&b, circle_2, circle_m);
	return jf_batch_commit(&b);
}

static int __init circle_init(void)
{
	if (!strcmp(how, "a")) {
		note(dynfunc_update(circle_a, circle_m));
	} else if (!strcmp(how, "ab")) {
		note(dynfunc_update(circle_a, circle_m));
		note(dynfunc_update(circle_b, dynfunc_circle_a));
	} else if (!strcmp(how, "ba")) {
		note(dynfunc_update(circle_b, dynfunc_circle_a));
		note(dynfunc_update(circle_a, circle_m));
		note(dynfunc_update(circle_b, dynfunc_circle_a));
	} else if (!strcmp(how, "batch")) {
		note(batch_ab());
	} else if (!strcmp(how, "own")) {
		/* To the module by way of its own dynamic function, which is unloaded with it. */
		note(dynfunc_update(circle_a, dynfunc_circle_own));
		note(dynfunc_update(circle_b, dynfunc_circle_a));
	} else if (!strcmp(how, "three")) {
		note(dynfunc_update(circle_1, circle_m));
		note(dynfunc_update(circle_3, dynfunc_circle_1));
	} else if (!strcmp(how, "two")) {
		/* Each of two that fall back is a part of it. */
		note(batch_two());
		note(dynfunc_update(circle_3, dynfunc_circle_1));
	} else if (!strcmp(how, "middle")) {
		note(dynfunc_update(circle_2, circle_m));
		note(dynfunc_update(circle_3, dynfunc_circle_1));
	} else if (!strcmp(how, "fine")) {
		/* A longer way, and no circle whatever falls back. */
		note(dynfunc_update(circle_b, dynfunc_circle_1));
		note(dynfunc_update(circle_1, circle_m));
		note(dynfunc_update(circle_3, circle_m));
	}
	return fail ? -ENODEV : 0;
}

static void __exit circle_exit(void)
{
}

module_init(circle_init);
module_exit(circle_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Makes changes to functions that lead to each other, and does not undo them");
