// SPDX-License-Identifier: GPL-2.0
/*
 * A module that may only call a dynamic function of jf_access.ko, at inline sites as
 * well as through the trampoline; and that leads another one into itself, with
 * pin=1 so that it is kept for it. See jf_test.h.
 */
#include <linux/module.h>

#include "jf_test.h"
#include "jf_access.h"

static bool pin;
module_param(pin, bool, 0444);
MODULE_PARM_DESC(pin, "keep this module while a dynamic function leads here");

DECLARE_DYNFUNC_CALL(access_call, access_type);
DECLARE_DYNFUNC(access_open, access_type);
extern void *access_guest_text;

static noinline long guest(long x) { return x + ACCESS_GUEST; }

static int case_one(void)
{
	CHECK_EQ(dynfunc_call(access_call, 1), 1 + ACCESS_ONE);
	CHECK_EQ(dynfunc_access_call(2), 2 + ACCESS_ONE);
	return 0;
}

static int case_two(void)
{
	CHECK_EQ(dynfunc_call(access_call, 1), 1 + ACCESS_TWO);
	CHECK_EQ(dynfunc_access_call(2), 2 + ACCESS_TWO);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "one", case_one },
	{ "two", case_two },
	{ }
};

static int __init user_init(void)
{
	int err;

	err = dynfunc_update_flags(access_open, guest, pin ? JF_PIN : 0);
	if (!err)
		err = jft_init();
	access_guest_text = guest;
	return err;
}

static void __exit user_exit(void)
{
	jft_exit();
}

module_init(user_init);
module_exit(user_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Calls what it may not change, and is pinned by what it changes");
