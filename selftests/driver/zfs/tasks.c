// SPDX-License-Identifier: GPL-2.0
/*
 * Part of spl.ko, OpenZFS' module under the GPL: subscribers of its probes, and tasks
 * that come to them. The parameter `jf_tasks` has so many done; `jf_counts` says how
 * many ran, and of how many the probes told.
 */
#include <linux/atomic.h>
#include <linux/module.h>

#include <sys/taskq.h>
#include <sys/trace.h>
#include <sys/trace_taskq.h>

static atomic_long_t done, birth, start, finish, strange;

static void one(void *arg)
{
	atomic_long_inc(&done);
}

/* Counts the calls of the probe with an entity of this test. */
static void told(atomic_long_t *count, uintptr_t ent)
{
	if (((taskq_ent_t *)ent)->tqent_func == one)
		atomic_long_inc(count);
	else
		atomic_long_inc(&strange);
}

static void jf_birth(uintptr_t ent)
{
	told(&birth, ent);
}

static void jf_start(uintptr_t ent)
{
	told(&start, ent);
}

static void jf_finish(uintptr_t ent)
{
	told(&finish, ent);
}

DECLARE_DYNFUNC(__dtrace_zfs___taskq_ent__birth, jf_birth);
DECLARE_DYNFUNC(__dtrace_zfs___taskq_ent__start, jf_start);
DECLARE_DYNFUNC(__dtrace_zfs___taskq_ent__finish, jf_finish);
DYNFUNC_TARGETS(__dtrace_zfs___taskq_ent__birth, jf_birth);
DYNFUNC_TARGETS(__dtrace_zfs___taskq_ent__start, jf_start);
DYNFUNC_TARGETS(__dtrace_zfs___taskq_ent__finish, jf_finish);

static int tasks_set(const char *val, const struct kernel_param *kp)
{
	unsigned int i, n;
	int err = kstrtouint(val, 0, &n);

	for (i = 0; !err && i < n; i++)
		if (taskq_dispatch(system_taskq, one, NULL, TQ_SLEEP) == TASKQID_INVALID)
			err = -ENOMEM;
	taskq_wait(system_taskq);
	return err;
}

static const struct kernel_param_ops tasks_ops = {
	.set = tasks_set,
};
module_param_cb(jf_tasks, &tasks_ops, NULL, 0200);

static int counts_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "done %ld birth %ld start %ld finish %ld strange %ld\n",
			  atomic_long_read(&done), atomic_long_read(&birth),
			  atomic_long_read(&start), atomic_long_read(&finish),
			  atomic_long_read(&strange));
}

static const struct kernel_param_ops counts_ops = {
	.get = counts_get,
};
module_param_cb(jf_counts, &counts_ops, NULL, 0400);
