// SPDX-License-Identifier: GPL-2.0
/*
 * A target and probes in which a thread stays. It is unloaded without undoing its
 * update.
 */
#include <linux/kernel.h>
#include <linux/module.h>

#include "jf_hall.h"

#ifndef VISIT_ID
#define VISIT_ID	HALL_VISIT
#endif

static bool op = true;
module_param(op, bool, 0444);
MODULE_PARM_DESC(op, "be the target of hall_op (default Y)");

#define VISIT_PROBES	20
static unsigned int probes;
module_param(probes, uint, 0444);
MODULE_PARM_DESC(probes, "how many probes to register, 0 to 20; one stays, the others pass (default 0)");

static bool stay = true;
module_param(stay, bool, 0444);
MODULE_PARM_DESC(stay, "one of the probes stays (default Y)");

static int prio = JF_TRACE_PRIO_DEFAULT;
module_param(prio, int, 0444);
MODULE_PARM_DESC(prio, "the probes' priority");

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "do not unregister the probes on unload");

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "fail to initialise, when a thread has entered or the gate is open");

static noinline u64 visit_op(u64 way)
{
	hall_visit(VISIT_ID, way);
	return way + HALL_VALUE(VISIT_ID);
}

static bool slim;
module_param(slim, bool, 0444);
MODULE_PARM_DESC(slim, "a target whose stack has room for nothing but what it saves; it waits for the gate (default N)");

/*
 * A tracer's words on the stack are overwritten here, or in hall_wait(). So the tracer alone knows
 * the return address.
 */
static noinline u64 visit_slim(u64 way)
{
	atomic_inc(&hall.guest[VISIT_ID].inside);
	hall_wait();
	atomic_dec(&hall.guest[VISIT_ID].inside);
	return way + HALL_VALUE(VISIT_ID);
}

static int visit_data[VISIT_PROBES];

static noinline void visit_probe(void *data, u64 way, u64 unused)
{
	hall_visit(VISIT_ID, data == &visit_data[0] && stay ? way : HALL_PASS);
	/* No jump to anywhere: this is left by its own return. */
	barrier();
}

static void visit_unregister(unsigned int n)
{
	while (n--)
		if (unregister_jf_trace_hall(visit_probe, &visit_data[n]))
			pr_err(KBUILD_MODNAME ": cannot unregister probe %u\n", n);
}

static int visit_off(const char *val, const struct kernel_param *kp)
{
	visit_unregister(probes);
	probes = 0;
	return 0;
}

static const struct kernel_param_ops off_ops = { .set = visit_off };
module_param_cb(off, &off_ops, NULL, 0200);
MODULE_PARM_DESC(off, "write anything: take the probes off, and stay");

static int __init visit_init(void)
{
	unsigned long since = jiffies;
	unsigned int i;
	int err = 0;

	if (probes > VISIT_PROBES)
		return -EINVAL;
	for (i = 0; i < probes; i++) {
		err = register_jf_trace_prio_hall(visit_probe, &visit_data[i], prio);
		if (err) {
			visit_unregister(i);
			return err;
		}
	}
	if (op)
		err = dynfunc_update(hall_op, slim ? visit_slim : visit_op);
	if (!err && fail) {
		while (!atomic_read(&hall.guest[VISIT_ID].inside) && hall_shut(since))
			msleep(10);
		err = -ENODEV;
	}
	/* Probes are left to jumpfunc: that is the way of a module that fails. */
	return err;
}

static void __exit visit_exit(void)
{
	if (!leave)
		visit_unregister(probes);
}

module_init(visit_init);
module_exit(visit_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A target and probes in which a thread stays");
