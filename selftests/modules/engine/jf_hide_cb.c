// SPDX-License-Identifier: GPL-2.0
/*
 * A callback that asks for another one, which asks for a third, as a state machine
 * does. Callbacks are waited for twice, before and after tasks in the module.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "jf_hide.h"

static struct jf_quiesce_head head;

static noinline void hide_third(struct jf_quiesce_head *h)
{
	msleep(100);
	atomic_dec(&hide_inside);
}

static void hide_ask(struct jf_quiesce_head *h, void (*next)(struct jf_quiesce_head *head))
{
	/* Now the barrier of the unloading task is queued, in front of the next one. */
	msleep(300);
	/* And when that task is woken, no other one is in this text for a while. */
	hide_ask_slow();
	jf_call_quiesced(h, next);
	atomic_dec(&hide_inside);
}

static noinline void hide_second(struct jf_quiesce_head *h)
{
	hide_ask(h, hide_third);
}

static noinline void hide_first(struct jf_quiesce_head *h)
{
	hide_ask(h, hide_second);
}

static int __init hide_cb_init(void)
{
	return 0;
}

static void __exit hide_cb_exit(void)
{
	/* No callback was called yet. */
	atomic_add(3, &hide_inside);
	jf_call_quiesced(&head, hide_first);
}

module_init(hide_cb_init);
module_exit(hide_cb_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Callbacks that ask for another one");
