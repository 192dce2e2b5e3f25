// SPDX-License-Identifier: GPL-2.0
/*
 * Is unloaded while a task is in its target. That task then executes the other sites
 * of this module. See jf_leave.c.
 */
#include <linux/module.h>

#include "jf_leave.h"

DECLARE_JF_TRACE(leave_own_trace, JF_PROTO(unsigned long a, unsigned long b), JF_ARGS(a, b));
DEFINE_JF_TRACE(leave_own_trace);
DEFINE_DYNFUNC(leave_own, leave_plain);

static void leave_callback(struct jf_quiesce_head *head)
{
	leave_called++;
}

static struct jf_quiesce_head leave_head;

static int leave_enter_m(struct leave_found *found)
{
	leave_wait();
	found->theirs = dynfunc_call(leave_op, 10);
	found->own = dynfunc_call(leave_own, 10);
	found->branch = jf_branch_unlikely(&leave_key);
	jf_trace_leave_trace(leave_marks[1], ~leave_marks[1]);
	jf_trace_leave_own_trace(leave_marks[0], ~leave_marks[0]);
	jf_call_quiesced(&leave_head, leave_callback);
	return 0;
}

static int __init leave_m_init(void)
{
	int err = dynfunc_update(leave_enter, leave_enter_m);

	if (!err && leave_offer)
		err = dynfunc_update(leave_own, leave_offer);
	return err ?: register_jf_trace_leave_own_trace(leave_own_probe, &leave_marks[0]);
}

static void __exit leave_m_exit(void)
{
}

module_init(leave_m_init);
module_exit(leave_m_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jf_leave: the module that is unloaded");
