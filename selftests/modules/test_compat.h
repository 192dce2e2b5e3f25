/* SPDX-License-Identifier: GPL-2.0 */
/* The differences between kernel versions for the test modules. */
#ifndef TEST_COMPAT_H
#define TEST_COMPAT_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/version.h>

/* On this CPU, from a hard interrupt: @fn after @us microseconds. */
static inline void test_timer_start(struct hrtimer *t,
				    enum hrtimer_restart (*fn)(struct hrtimer *),
				    unsigned int us)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	t->function = fn;
#endif
	hrtimer_start(t, ns_to_ktime(us * 1000ULL), HRTIMER_MODE_REL_PINNED_HARD);
}

/* A kthread's end, from wherever it is. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
#define test_thread_exit(done)	kthread_complete_and_exit(done, 0)
#else
#define test_thread_exit(done)	complete_and_exit(done, 0)
#endif

/*
 * The arguments of an ftrace callback, and the flag with which ftrace keeps it from being entered
 * again in the same context: before 5.11 it did so unless told not to.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
#define TEST_FTRACE_REGS	struct ftrace_regs
#define TEST_FTRACE_GUARDED	FTRACE_OPS_FL_RECURSION
#else
#define TEST_FTRACE_REGS	struct pt_regs
#define TEST_FTRACE_GUARDED	0
#endif

#endif /* TEST_COMPAT_H */
