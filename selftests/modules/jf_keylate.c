// SPDX-License-Identifier: GPL-2.0
/*
 * Deferred keys of a module that is unloaded before, while and after they are
 * disabled: it cleans up nothing. A timer counts one of them all the time.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/timer.h>

#include <jumpfunc/branch.h>

/* Long after the module is unloaded. */
static DEFINE_JF_KEY_DEFERRED_FALSE(late_far, HZ / 2);
/* While it is being unloaded. */
static DEFINE_JF_KEY_DEFERRED_FALSE(late_near, 1);
static DEFINE_JF_KEY_DEFERRED_FALSE(late_now, 0);
/* Later than the kernel's timers can count. */
static DEFINE_JF_KEY_DEFERRED_FALSE(late_never, ULONG_MAX);
/* On from the start, and used from a timer. */
static DEFINE_JF_KEY_DEFERRED_TRUE(late_timer, 1);

static unsigned int users;
static bool stopped;
static void tick(struct timer_list *t);
static DEFINE_TIMER(timer, tick);

static int sides(void)
{
	return jf_branch_unlikely(&late_far.key) + jf_branch_likely(&late_near.key) +
	       jf_branch_unlikely(&late_now.key) + jf_branch_likely(&late_timer.key) +
	       jf_branch_unlikely(&late_never.key);
}

/* In an interrupt, where a key can be counted up if it is on, and down later. */
static void tick(struct timer_list *t)
{
	if (!users && jf_key_inc_not_zero(&late_timer.key))
		users++;
	else if (users && !jf_key_dec_deferred(&late_timer))
		users--;
	if (users && !jf_branch_unlikely(&late_timer.key))
		pr_err("jf_keylate: BAD: a key is off although it is held\n");
	if (!READ_ONCE(stopped))
		mod_timer(&timer, jiffies + 1);
}

static int __init keylate_init(void)
{
	struct jf_key_deferred *keys[] = { &late_far, &late_near, &late_now,
					 &late_never };
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		err = jf_key_inc(&keys[i]->key);
		if (err)
			return err;
	}
	if (sides() != 5)
		pr_err("jf_keylate: BAD: %d of 5 keys are on\n", sides());
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		err = jf_key_dec_deferred(keys[i]);
		if (err)
			pr_err("jf_keylate: BAD: dec gave %d\n", err);
	}
	mod_timer(&timer, jiffies + 1);
	return 0;
}

static void __exit keylate_exit(void)
{
	WRITE_ONCE(stopped, true);
	/* It may just have been about to start itself once more. */
	msleep(50);
	if (!jf_branch_unlikely(&late_never.key))
		pr_err("jf_keylate: BAD: what was put off for ever is over\n");
	if (jf_key_dec_deferred(&late_far) != -EBUSY)
		pr_err("jf_keylate: BAD: a key of a module that is being unloaded was counted\n");
}

module_init(keylate_init);
module_exit(keylate_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Has deferred work pending when it is unloaded");
