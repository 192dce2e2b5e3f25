// SPDX-License-Identifier: GPL-2.0
/*
 * Grace periods of Tasks RCU, which may never end: a quiesce waits for one for some time,
 * and then leaves it.
 */
#include "quiesce/grace.h"

#include "index/state.h"
#include "quiesce/wait.h"

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/slab.h>

/*
 * Its callback is a function of the kernel. So this module can be unloaded although
 * a grace period does not end; only this struct is leaked then.
 */
struct jf_gp {
	struct list_head	list;
	struct rcu_synchronize	rs;
	unsigned long		begun;
};

static DEFINE_MUTEX(jf_gps_mutex);
/* Grace periods that no task waits for any more, the oldest first. */
static LIST_HEAD(jf_gps);

struct jf_gp *jf_gp_begin(void)
{
	struct jf_gp *gp = kmalloc(sizeof(*gp), GFP_KERNEL);

	if (!gp)
		return NULL;
	gp->begun = jiffies;
	jf_rcu_sync_init(&gp->rs);
	call_rcu_tasks(&gp->rs.head, wakeme_after_rcu);
	return gp;
}

void jf_gps_trim(void)
{
	struct jf_gp *gp, *tmp;

	mutex_lock(&jf_gps_mutex);
	list_for_each_entry_safe(gp, tmp, &jf_gps, list) {
		if (completion_done(&gp->rs.completion)) {
			list_del(&gp->list);
			kfree(gp);
		}
	}
	mutex_unlock(&jf_gps_mutex);
}

bool jf_gp_wait(const char *name, struct jf_gp *gp, long timeout)
{
	long part;

	if (!gp)
		return false;
	do {
		part = min_t(long, timeout, JF_TELL);
		if (jf_wait_for_timeout(&gp->rs.completion, part)) {
			kfree(gp);
			return true;
		}
		if (part == JF_TELL)
			pr_warn("%s: waiting for a grace period of Tasks RCU, since %u s, for tasks that no scan of stacks finds\n",
				name, jiffies_to_msecs(jiffies - gp->begun) / 1000);
		if (timeout != MAX_SCHEDULE_TIMEOUT)
			timeout -= part;
	} while (timeout);
	mutex_lock(&jf_gps_mutex);
	list_add_tail(&gp->list, &jf_gps);
	mutex_unlock(&jf_gps_mutex);
	return false;
}
