// SPDX-License-Identifier: GPL-2.0
/*
 * A module that is unloaded: with a dynamic function of its own, and with functions
 * that are targets of another module's. From its init and exit functions it tries changes that must
 * be refused then. The log has the results; refusals.sh reads it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "jf_refusals.h"

static noinline int bad_target(int a)
{
	return a + 500;
}

static noinline int bad_other(int a)
{
	return a + 600;
}

static noinline int __init bad_init_target(int a)
{
	return a + 700;
}

DEFINE_DYNFUNC(bad_own, bad_target);

/* The result of an attempt, and the target afterwards. */
#define SAY(what, attempt, call)					\
do {									\
	int say_err = (attempt);					\
									\
	pr_info(what ": %d, then %d\n", say_err, call);			\
} while (0)

static int both(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, bad_shared, bad_target);
	dynfunc_batch_set(&b, bad_own, bad_other);
	return jf_batch_commit(&b);
}

static int __init bad_target_init(void)
{
	SAY("own function to init text", dynfunc_update(bad_own, bad_init_target), dynfunc_call(bad_own, 1));
	SAY("other function to init text", dynfunc_update(bad_shared, bad_init_target), dynfunc_call(bad_shared, 1));
	SAY("own function from init", dynfunc_update(bad_own, bad_other), dynfunc_call(bad_own, 1));
	SAY("other function from init", dynfunc_update(bad_shared, bad_target), dynfunc_call(bad_shared, 1));
	return 0;
}

static void __exit bad_target_exit(void)
{
	/* From here on the module's state is GOING. */
	SAY("own function from exit", dynfunc_update(bad_own, bad_target), dynfunc_call(bad_own, 1));
	SAY("other function to an unloading module", dynfunc_update(bad_shared, bad_other),
	    dynfunc_call(bad_shared, 1));
	SAY("both from exit", both(), dynfunc_call(bad_shared, 1));
}

module_init(bad_target_init);
module_exit(bad_target_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A dynamic function and targets that are unloaded");
