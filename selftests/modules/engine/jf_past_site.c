// SPDX-License-Identifier: GPL-2.0
/*
 * Call sites that are executed so many ms after a parameter was written, by when
 * the module may be being unloaded: of another's functions and key, and its own.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "jf_past.h"
#include "jf_test.h"

DECLARE_DYNFUNC(past_op, past_type);
DECLARE_DYNFUNC(past_hook, past_hook_type);

static noinline long own_default(long x)
{
	return x + 3;
}
DEFINE_DYNFUNC(past_own, own_default);
EXPORT_DYNFUNC_GPL(past_own);

static int run_set(const char *val, const struct kernel_param *kp)
{
	unsigned int ms;
	bool on = false;
	int seen = 0;
	int err = kstrtouint(val, 0, &ms);

	if (err)
		return err;
	msleep(ms);
	if (jf_branch_unlikely(&past_key))
		on = true;
	dynfunc_call(past_hook, &seen);
	pr_info("state %d, sites give %ld %ld %ld, %s, %s\n",
		THIS_MODULE->state, dynfunc_call(past_op, 5),
		dynfunc_call(past_own, 5), dynfunc_past_own(5),
		on ? "on" : "off", seen ? "hooked" : "unhooked");
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "execute them after so many ms");

static int own_set(const char *val, const struct kernel_param *kp)
{
	return dynfunc_update(past_own, dynfunc_query(past_op));
}

static const struct kernel_param_ops own_ops = { .set = own_set };
module_param_cb(own, &own_ops, NULL, 0200);
MODULE_PARM_DESC(own, "lead its own one where the other leads");

static bool elsewhere;
module_param(elsewhere, bool, 0);
MODULE_PARM_DESC(elsewhere, "lead its own one to where a task always sleeps");

static bool spoil;
module_param(spoil, bool, 0);
MODULE_PARM_DESC(spoil, "put a foreign breakpoint on a site");

static noinline long spoilt(long x)
{
	return dynfunc_call(past_op, x) + 1;
}

/* Its first call; its result does not matter. */
static int spoil_site(void)
{
	u8 *p = (u8 *)spoilt, *end;

	/* Its contents are not for the compiler, and objtool, to name. */
	OPTIMIZER_HIDE_VAR(p);
	end = p + 64;
#ifdef CONFIG_ARM64
	/* bl or b */
	while (p < end && (p[3] & 0x7c) != 0x14)
		p += 4;
#else
	while (p < end && *p != 0xe8 && *p != 0xe9)
		p++;
#endif
	return p < end ? jft_poke((unsigned long)p, JFT_BREAK, JFT_BREAK_SIZE) : -ENOENT;
}

static int __init site_init(void)
{
	int err = 0;

	if (elsewhere)
		err = __jf_func_update(&__jf_func_past_own, schedule_timeout);
	return err ?: spoil ? spoil_site() : 0;
}

static void __exit site_exit(void)
{
}

module_init(site_init);
module_exit(site_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sites that are executed late");
