// SPDX-License-Identifier: GPL-2.0
/*
 * The lock, the statistics, and the functions that stand for a NULL target.
 */
#include "index/state.h"

#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>

#include <jumpfunc/detail/types.h>

DEFINE_MUTEX(jf_probes_mutex);
DEFINE_MUTEX(jf_tp_mutex);
DEFINE_MUTEX(jf_mutex);
struct jf_stats jf_stats;
atomic64_t jf_texts_read = ATOMIC64_INIT(0);

/*
 * The targets of dynamic functions without one. Both can stand in for functions
 * of any type: arguments travel in registers or in the caller's frame.
 */
void jf_nop(void)
{
}
EXPORT_SYMBOL_GPL(jf_nop);

long jf_ret0(void)
{
	return 0;
}
EXPORT_SYMBOL_GPL(jf_ret0);

void jf_lock_as(bool cpuslocked)
{
	if (!cpuslocked)
		cpus_read_lock();
	mutex_lock(&jf_mutex);
}

void jf_unlock_as(bool cpuslocked)
{
	mutex_unlock(&jf_mutex);
	if (!cpuslocked)
		cpus_read_unlock();
}

void jf_lock(void)
{
	jf_lock_as(false);
}

void jf_unlock(void)
{
	jf_unlock_as(false);
}

bool jf_tell_again(unsigned long *told)
{
	if (time_before(jiffies, *told + JF_TELL))
		return false;
	*told = jiffies;
	return true;
}

void jf_stats_get(struct jf_stats *stats)
{
	mutex_lock(&jf_mutex);
	*stats = jf_stats;
	stats->texts_read = atomic64_read(&jf_texts_read);
	mutex_unlock(&jf_mutex);
}
EXPORT_SYMBOL_GPL(jf_stats_get);

/*
 * Updates wait for other CPUs. Where the kernel does not count preemption this
 * cannot see a spinlock being held; might_sleep() does on debug kernels.
 */
int jf_check_context(void)
{
	if (in_interrupt() || irqs_disabled() ||
	    (IS_ENABLED(CONFIG_PREEMPT_COUNT) && in_atomic())) {
		pr_warn_once("update from atomic context by %ps, refused\n",
			     __builtin_return_address(0));
		return -EWOULDBLOCK;
	}
	might_sleep();
	return 0;
}
