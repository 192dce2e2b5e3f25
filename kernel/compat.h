/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between kernel versions, and the functions that jumpfunc needs from all of them.
 * The only file that tests LINUX_VERSION_CODE, and only if nothing else shows a difference:
 * compat.mk looks into the kernel's headers and at its exported symbols, and defines JF_HAS_....
 */
#ifndef JF_COMPAT_H
#define JF_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "jumpfunc needs Linux 5.10 or newer"
#endif

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
/* 6.13 gave the emulation helpers' header a generic name as well. */
#include <asm/text-patching.h>
#endif

#include <linux/lockdep.h>

/* Since 5.13. */
#ifndef lockdep_assert_not_held
#define lockdep_assert_not_held(l)	((void)(l))
#endif

#ifdef CONFIG_ARM64
#include <asm/cacheflush.h>

/*
 * Make writes to text reach all instruction caches: by the address where it is executed. It sends
 * no broadcast. 5.14 renamed it; no distribution is known to have the new name earlier.
 */
static inline void jf_clean_text(unsigned long start, unsigned long end)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0)
	caches_clean_inval_pou(start, end);
#else
	__flush_icache_range(start, end);
#endif
}
#endif

/*
 * Kernels without function tracing may lack it. It means that each CPU has switched context, and
 * stopping them needs just that.
 */
#ifndef CONFIG_TASKS_RUDE_RCU
#include <linux/stop_machine.h>

static inline int jf_stopped(void *unused)
{
	return 0;
}

static inline void synchronize_rcu_tasks_rude(void)
{
	stop_machine(jf_stopped, NULL, NULL);
}
#endif

/* A task has a list of its return hooks; since 5.11. */
#if defined(JF_HAS_KRETPROBE_LIST) && defined(CONFIG_KRETPROBES)
#define JF_HAVE_KRETPROBE_LIST 1
#endif

/*
 * Until 6.12 the kernel warned when the unwinder reached the return hook of a task that can run.
 * No header shows that.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define JF_UNWIND_WARNS_OF_HOOK 1
#else
#define JF_UNWIND_WARNS_OF_HOOK 0
#endif

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>

/*
 * A wait for foreign tasks does not prevent the machine from being suspended. It may hold the lock
 * of the kernel's chain of notifiers; "unsafe" means that. 6.1 made it a state of tasks.
 */
#ifdef TASK_FREEZABLE_UNSAFE
static inline void jf_nap(unsigned int ms)
{
	long left = msecs_to_jiffies(ms) + 1;

	while (left) {
		__set_current_state(TASK_UNINTERRUPTIBLE | TASK_FREEZABLE_UNSAFE);
		left = schedule_timeout(left);
	}
}

static inline void jf_wait_for(struct completion *x)
{
	wait_for_completion_state(x, TASK_UNINTERRUPTIBLE | TASK_FREEZABLE_UNSAFE);
}
#else
#ifdef CONFIG_FREEZER
#define jf_freezer_end()	freezer_count_unsafe()
#else
#define jf_freezer_end()	((void)0)
#endif

static inline void jf_nap(unsigned int ms)
{
	freezer_do_not_count();
	msleep(ms);
	jf_freezer_end();
}

static inline void jf_wait_for(struct completion *x)
{
	freezer_do_not_count();
	wait_for_completion(x);
	jf_freezer_end();
}
#endif

/* False: not within @timeout, in jiffies. The kernel's own waits with a limit are not frozen. */
static inline bool jf_wait_for_timeout(struct completion *x,
				       unsigned long timeout)
{
	unsigned long begun = jiffies;
	unsigned int pause = 1;

	while (!completion_done(x)) {
		if (jiffies - begun >= timeout)
			return false;
		jf_nap(pause);
		pause = min(2 * pause, 100U);
	}
	return true;
}

/* Since 6.4 a module is more than two pieces of memory. */
static inline bool jf_module_text(const struct module *mod, unsigned int i,
				  unsigned long *start, unsigned long *end)
{
#ifdef JF_HAS_MOD_MEM
	static const enum mod_mem_type text[] = { MOD_TEXT, MOD_INIT_TEXT };

	if (i >= ARRAY_SIZE(text))
		return false;
	*start = (unsigned long)mod->mem[text[i]].base;
	*end = *start + mod->mem[text[i]].size;
#else
	const struct module_layout *l = i ? &mod->init_layout :
					    &mod->core_layout;

	if (i > 1)
		return false;
	*start = (unsigned long)l->base;
	*end = *start + l->text_size;
#endif
	return true;
}

/*
 * True if an address can be in the memory of a module. No function answers that. With KASLR arm64
 * has modules beside the moved kernel, in the range of vmalloc().
 */
static inline bool jf_may_be_module(unsigned long addr)
{
#ifdef MODULES_VADDR
	if (addr >= MODULES_VADDR && addr < MODULES_END)
		return true;
#endif
#if !defined(MODULES_VADDR) || defined(CONFIG_ARM64)
	return is_vmalloc_addr((void *)addr);
#else
	return false;
#endif
}

/* Since 6.14 the callback of a grace period checks that there was one. */
static inline void jf_rcu_sync_init(struct rcu_synchronize *rs)
{
	init_completion(&rs->completion);
#ifdef JF_HAS_RCU_OLDSTATE
	get_completed_synchronize_rcu_full(&rs->oldstate);
#endif
}

/* 6.12 leaves sleeping tasks in the run queue for a while. */
#ifdef JF_HAS_SCHED_DELAYED
#define jf_sched_delayed(t)	READ_ONCE((t)->se.sched_delayed)
#else
#define jf_sched_delayed(t)	false
#endif

/*
 * True if it waits for a lock that is a spinlock on other kernels. The last RT patches before that
 * was merged have no state of that name: any lock with an owner counts there.
 */
#ifndef CONFIG_PREEMPT_RT
#define jf_waits_for_rtlock(t)	false
#elif defined(TASK_RTLOCK_WAIT)
#define jf_waits_for_rtlock(t)	(READ_ONCE((t)->__state) & TASK_RTLOCK_WAIT)
#else
#define jf_waits_for_rtlock(t)	(!!READ_ONCE((t)->pi_blocked_on))
#endif

/* Without SMP only current runs, and there is no on_cpu. */
#ifdef CONFIG_SMP
#define jf_task_runs(t)		READ_ONCE((t)->on_cpu)
#else
#define jf_task_runs(t)		((t) == current)
#endif

/*
 * Some architectures keep a task's stack as long as the task, and so do the RT
 * patches for 5.10. There, a TASK_DEAD task that does not run never runs again.
 */
#if defined(CONFIG_PREEMPT_RT) && !defined(task_is_running)
#define jf_task_has_stack(t)	(READ_ONCE((t)->state) != TASK_DEAD)
#elif defined(CONFIG_THREAD_INFO_IN_TASK)
#define jf_task_has_stack(t)	refcount_read(&(t)->stack_refcount)
#else
#define jf_task_has_stack(t)	true
#endif

/* 6.17: sched_process_exit tells whether it is the last thread of its process. */
#ifdef JF_HAS_EXIT_GROUP_DEAD
#define JF_EXIT_PROTO		struct task_struct *t, bool group_dead
#else
#define JF_EXIT_PROTO		struct task_struct *t
#endif

/* 6.10: the source of a dynamic string is remembered from __string(). */
#ifdef JF_HAS_ASSIGN_STR_ALONE
#define jf_assign_str(dst, src)	__assign_str(dst)
#else
#define jf_assign_str(dst, src)	__assign_str(dst, src)
#endif

/* hex_asc has moved. */
#if __has_include(<linux/hex.h>)
#include <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

/* Indirect calls compare types: kCFI, and FineIBT. 6.18 gave it the second name. */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#define JF_INDIRECT_TYPED 1
#else
#define JF_INDIRECT_TYPED 0
#endif

/* A function of the type of a tracepoint's probes; 6.5 was the first to have one. */
#include <linux/tracepoint-defs.h>

static inline const void *jf_tracepoint_like(const struct tracepoint *tp)
{
#ifdef JF_HAS_PROBESTUB
	return tp->probestub;
#else
	return NULL;
#endif
}

/* The symbol that makes the "kernel" back end possible. */
#if defined(CONFIG_HAVE_STATIC_CALL_INLINE) && defined(CONFIG_X86_64)
#define JF_HAVE_KERNEL_BACKEND 1
#else
#define JF_HAVE_KERNEL_BACKEND 0
#endif

/* 5.12 began to write "eax = 0" at static calls; exported to modules by 5.19. */
#ifdef JF_HAS_STATIC_CALL_RETURN0
#define JF_HAVE_STATIC_CALL_RETURN0 1
#else
#define JF_HAVE_STATIC_CALL_RETURN0 0
#endif

/* Whether functions can be traced at their entry, and be found by their names. */
#if defined(CONFIG_FUNCTION_TRACER) && defined(CONFIG_DYNAMIC_FTRACE) && \
	defined(CONFIG_KALLSYMS)
#define JF_HAVE_FTRACE 1
#else
#define JF_HAVE_FTRACE 0
#endif

#if JF_HAVE_FTRACE
#include <linux/ftrace.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>

/* 5.11: a callback can get less than all registers; protection is asked for. */
#ifdef JF_HAS_FTRACE_REGS
#define jf_ftrace_regs		ftrace_regs
#define JF_FTRACE_PROTECT	FTRACE_OPS_FL_RECURSION
#else
#define jf_ftrace_regs		pt_regs
#define JF_FTRACE_PROTECT	0
#endif

/* Where arguments are not saved for every callback, all registers are asked for. */
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
#define JF_FTRACE_SAVE		0
#else
#define JF_FTRACE_SAVE		(FTRACE_OPS_FL_SAVE_REGS | \
				 FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)
#endif

#if defined(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS) || \
	defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define JF_FTRACE_HAS_ARGS	1
#else
#define JF_FTRACE_HAS_ARGS	0
#endif

/* Argument @n of a traced function, if it is passed in a register; else 0. */
static inline unsigned long jf_ftrace_arg(struct jf_ftrace_regs *regs,
					  unsigned int n)
{
#if !JF_FTRACE_HAS_ARGS
	return 0;
#elif !defined(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS)
	struct pt_regs *all;

#ifdef JF_HAS_FTRACE_REGS
	all = ftrace_get_regs(regs);
#else
	all = regs;
#endif
	return all ? regs_get_kernel_argument(all, n) : 0;
#elif defined(JF_HAS_FTRACE_ARGUMENT)
	return ftrace_regs_get_argument(regs, n);
#else
	/* The first one to save them was x86, and kept them there. */
	return regs_get_kernel_argument(&regs->regs, n);
#endif
}

/* Let @ops, which is not registered, trace these as well. 5.18 takes all at once. */
static inline int jf_ftrace_add(struct ftrace_ops *ops, unsigned long *ips,
				unsigned int num)
{
#ifdef JF_HAS_FTRACE_FILTER_IPS
	return ftrace_set_filter_ips(ops, ips, num, 0, 0);
#else
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < num; i++)
		err = ftrace_set_filter_ip(ops, ips[i], 0, 0);
	return err;
#endif
}

/*
 * Let @ops no longer trace these, of which there are fewer than it traces. On error it
 * may be some of them that it still traces.
 */
static inline int jf_ftrace_del(struct ftrace_ops *ops, unsigned long *ips,
				unsigned int num)
{
#ifdef JF_HAS_FTRACE_FILTER_IPS
	return ftrace_set_filter_ips(ops, ips, num, 1, 0);
#else
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < num; i++) {
		err = ftrace_set_filter_ip(ops, ips[i], 1, 0);
		/* It went in an earlier attempt. */
		if (err == -ENOENT)
			err = 0;
	}
	return err;
#endif
}

/*
 * Give back what @ops, which is not registered, has as its filter. 6.3 exports what does
 * that, and so do stable kernels that took it. Before, ftrace has to be given an empty
 * filter, which takes memory: a reserve for operations that free more. If that fails as well, the
 * filter is lost.
 */
static inline void jf_ftrace_free(struct ftrace_ops *ops)
{
#ifdef JF_HAS_FTRACE_FREE_FILTER
	ftrace_free_filter(ops);
#else
	unsigned int flags = memalloc_noreclaim_save();
	int err = ftrace_set_filter(ops, NULL, 0, 1);

	memalloc_noreclaim_restore(flags);
	if (err == -ENOMEM)
		pr_warn_ratelimited("no memory: a filter of ftrace is lost\n");
#endif
}
#endif /* JF_HAVE_FTRACE */

#endif /* JF_COMPAT_H */
