/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The base of all rooms: the lock, the statistics, the check of the caller's
 * context. Nothing here calls another room.
 *
 * Lock order, outermost first:
 *   jf_probes_mutex	the probes that the file probes has enabled (kernel/probes/file.c)
 *   jf_events_mutex	the event set's mode (kernel/demo/event_set.c)
 *   jf_tp_mutex	probes of tracepoints (jf_tracepoint.c)
 *   jf_retired_mutex	images, and memory that waits to be freed (kernel/tracepoint/code.c)
 *   cpus_read_lock()
 *     jf_mutex		the index, entities, statistics; all writing of text
 *       jf_symbol_mutex	the symbol at an address (kernel/quiesce/function.c)
 *       text_mutex	taken by the kernel's protocol (backend=kernel or auto)
 *
 * jf_lock() takes cpus_read_lock() and jf_mutex. A CPU hotplug callback may take
 * jf_mutex alone: its task holds the hotplug lock for writing, or the task that does
 * waits for it. A task that holds both locks took cpus_read_lock() first, so no task
 * waits for the hotplug lock while it holds jf_mutex. The INT3 handler takes no
 * lock: it reads the site map (kernel/index/sites.c) and the site's instruction word.
 *
 * No task waits for a foreign task while it holds jf_probes_mutex, jf_tp_mutex or jf_mutex:
 * that task can stay in a probe or a target for hours, and all changes and all unloads of
 * modules need these locks. A function that waits calls jf_assert_may_wait(). (ftrace waits for a
 * grace period of Tasks RCU, under a lock of its own and jf_probes_mutex, when it removes a set of
 * functions; a task that sleeps does not delay that.)
 */
#ifndef JF_STATE_H
#define JF_STATE_H

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/types.h>

#include "compat.h"

/* The time between two messages of one wait. */
#define JF_TELL	(10 * HZ)

extern struct mutex jf_probes_mutex, jf_tp_mutex, jf_mutex;

/* The caller is about to wait for tasks that it knows nothing of. */
static inline void jf_assert_may_wait(void)
{
	lockdep_assert_not_held(&jf_probes_mutex);
	lockdep_assert_not_held(&jf_tp_mutex);
	lockdep_assert_not_held(&jf_mutex);
}

/* True if it is time to tell the log of a wait once more. @told: the time of the last message. */
bool jf_tell_again(unsigned long *told);

void jf_lock(void);
void jf_unlock(void);
/* The same; @cpuslocked: for a caller that holds cpus_read_lock() already. */
void jf_lock_as(bool cpuslocked);
void jf_unlock_as(bool cpuslocked);
/* 0 where updates may be made, else -EWOULDBLOCK. */
int jf_check_context(void);

/* --- statistics -------------------------------------------------------- */

/**
 * struct jf_stats - what `stats` shows; under jf_mutex
 * @updates:     changes of an entity's value
 * @batches:     commits that wrote text
 * @errors:      commits that failed
 * @patched:     sites written
 * @broadcasts:  synchronisations of all CPUs sent for it
 * @quiesces:    completed waits for quiescence
 * @scans:       times that all CPUs were stopped for it
 * @scan_tasks:  stacks that were scanned
 * @scan_ns_last: how long the CPUs stood still last, ns
 * @scan_ns_max: the longest such time
 * @texts_read:  modules whose functions were looked up by their names; only in copies
 * @fallbacks:   functions set back because their target's module was unloaded
 * @ns_last:     last commit that wrote text, from taking the locks to the end
 * @ns_min:      shortest such commit
 * @ns_max:      longest such commit
 * @window_last: how long the last transaction had sites at INT3, ns
 * @window_max:  the longest such time
 * @by_xmc:      transactions by the own protocol
 * @by_kernel:   transactions by the kernel's protocol
 */
struct jf_stats {
	u64 updates, batches, errors, patched, broadcasts, quiesces, fallbacks;
	u64 scans, scan_tasks, scan_ns_last, scan_ns_max;
	u64 texts_read;
	u64 ns_last, ns_min, ns_max;
	u64 window_last, window_max;
	u64 by_xmc, by_kernel;
};

extern struct jf_stats jf_stats;
/* Copies have it as @texts_read: it is counted without jf_mutex. */
extern atomic64_t jf_texts_read;

/* A copy of them, all of one moment; exported for the benchmark. */
void jf_stats_get(struct jf_stats *stats);

#endif /* JF_STATE_H */
