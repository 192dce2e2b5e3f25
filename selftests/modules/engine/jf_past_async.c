// SPDX-License-Identifier: GPL-2.0
/* An asynchronous function in __init text: its sites are executed when init is over. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/async.h>
#include <linux/delay.h>
#include <linux/module.h>

#include "jf_past.h"

static noinline long async_old(long x)
{
	return x + 1;
}

static noinline long async_new(long x)
{
	return x + 2;
}
DEFINE_DYNFUNC(past_async, async_old);

static noinline void async_seen(int *seen)
{
	*seen = 1;
}
DEFINE_DYNFUNC_NULL(past_async_hook, past_hook_type);
static DEFINE_JF_KEY_FALSE(past_async_key);

static noinline int async_change(void)
{
	return dynfunc_update(past_async, async_new) ?:
	       dynfunc_update(past_async_hook, async_seen) ?:
	       jf_key_enable(&past_async_key);
}

static void __init async_run(void *unused, async_cookie_t cookie)
{
	int err, seen = 0, i;
	bool on = false;

	for (i = 0; i < 1000 && THIS_MODULE->state != MODULE_STATE_LIVE; i++)
		msleep(10);
	/* The notifiers are told so a moment later. */
	msleep(500);
	err = async_change();
	if (jf_branch_unlikely(&past_async_key))
		on = true;
	dynfunc_call(past_async_hook, &seen);
	pr_info("state %d, update %d, sites give %ld, %s, %s\n",
		THIS_MODULE->state, err, dynfunc_call(past_async, 5),
		on ? "on" : "off", seen ? "hooked" : "unhooked");
}

static int __init past_async_init(void)
{
	async_schedule(async_run, NULL);
	return 0;
}

static void __exit past_async_exit(void)
{
}

module_init(past_async_init);
module_exit(past_async_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sites in __init text that are executed late");
