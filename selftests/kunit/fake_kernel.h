/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of the kernel that the engine's sources call, replaced by the fakes of fake.h.
 * For fake_base.c, fake_quiesce.c and fake.c, which include these sources; after this header
 * no header of the kernel may be included any more.
 */
#ifndef JFK_FAKE_KERNEL_H
#define JFK_FAKE_KERNEL_H

#include "fake.h"

/* All headers of the engine, before any macro below can get at them. */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hardirq.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#ifdef __has_include
#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
#endif

void jfk_breach(const char *what);

/* --- the allocator ------------------------------------------------------ */

/* These two neither fail on purpose nor count. */
static inline void *jfk_real_alloc(size_t size, gfp_t gfp)
{
	return kvmalloc(size, gfp);
}

static inline void jfk_real_free(const void *p)
{
	kvfree(p);
}

void *jfk_alloc(size_t size, gfp_t gfp);
void jfk_free(const void *p);

#undef kmalloc
#undef kzalloc
#undef kfree
#undef kvmalloc
#undef kvmalloc_array
#undef kvcalloc
#undef kvfree
#define kmalloc(size, gfp)		jfk_alloc(size, gfp)
#define kzalloc(size, gfp)		jfk_alloc(size, (gfp) | __GFP_ZERO)
#define kfree(p)			jfk_free(p)
#define kvmalloc(size, gfp)		jfk_alloc(size, gfp)
#define kvmalloc_array(n, size, gfp)	jfk_alloc(array_size(n, size), gfp)
#define kvcalloc(n, size, gfp)		jfk_alloc(array_size(n, size), (gfp) | __GFP_ZERO)
#define kvfree(p)			jfk_free(p)

/* --- time ---------------------------------------------------------------- */

void jfk_sleep(unsigned int ms);

#undef jiffies
#undef synchronize_rcu
#undef synchronize_rcu_tasks_rude
#define jiffies				(jfk.now)
#define msleep(ms)			jfk_sleep(ms)
#define jf_nap(ms)			jfk_sleep(ms)
#define synchronize_rcu()		((void)jfk.graces++)
#define synchronize_rcu_tasks_rude()	((void)jfk.rude_graces++)

/* --- modules ------------------------------------------------------------- */

bool jfk_within(unsigned long addr, const struct module *mod);
bool jfk_within_init(unsigned long addr, const struct module *mod);
bool jfk_module_text(const struct module *mod, unsigned int i,
		     unsigned long *start, unsigned long *end);

#undef within_module
#undef within_module_init
#define within_module(addr, mod)	jfk_within(addr, mod)
#define within_module_init(addr, mod)	jfk_within_init(addr, mod)
#define jf_module_text(mod, i, start, end) jfk_module_text(mod, i, start, end)
#define jf_may_be_module(addr)		(jfk.early && jfk_within(addr, jfk.early))

#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(sym)		static_assert(true)

/* --- locks --------------------------------------------------------------- */

#define cpus_read_lock()		do { cpus_read_lock(); jfk.cpus_locked++; jfk.cpus_locks++; } while (0)
#define cpus_read_unlock()		do { jfk.cpus_locked--; cpus_read_unlock(); } while (0)

/* --- between the files --------------------------------------------------- */

/* fake_base.c */
void jfk_base_begin(void);
void jfk_base_end(void);
/* fake_quiesce.c: from now on nothing fails any more. */
void jfk_heal(void);
int jfk_quiesce_begin(void);
void jfk_quiesce_end(struct kunit *test);

#endif /* JFK_FAKE_KERNEL_H */
