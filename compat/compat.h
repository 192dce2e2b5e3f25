/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernel versions, and what jumpfunc needs of all of them.
 * The only file that tests LINUX_VERSION_CODE.
 */
#ifndef JF_COMPAT_H
#define JF_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "jumpfunc needs Linux 5.10 or newer"
#endif
#ifndef CONFIG_MODULE_UNLOAD
#error "jumpfunc needs CONFIG_MODULE_UNLOAD"
#endif
#ifndef CONFIG_DEBUG_FS
#error "jumpfunc needs CONFIG_DEBUG_FS"
#endif
#ifndef CONFIG_TRACEPOINTS
#error "jumpfunc needs CONFIG_TRACEPOINTS"
#endif

/* Without, nothing waits for a task that was preempted inside a target. */
#if defined(CONFIG_PREEMPTION) && !defined(CONFIG_TASKS_RCU)
#error "jumpfunc needs CONFIG_TASKS_RCU on a preemptible kernel: CONFIG_KPROBES or CONFIG_FUNCTION_TRACER brings it"
#endif

#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
/* 6.13 gave the emulation helpers' header a generic name as well. */
#include <asm/text-patching.h>
#endif

#ifdef CONFIG_ARM64
#include <asm/cacheflush.h>

/*
 * Make what was written to text reach all instruction caches: by the address where it is
 * executed. It sends no broadcast. 5.14 renamed it.
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
 * Kernels without function tracing may lack it. What it means is that each CPU
 * has switched context, and to stop them takes just that.
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

/* 5.11 to where return hooks have a list of their own: with its task. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0) && defined(CONFIG_KRETPROBES)
#define JF_HAVE_KRETPROBE_LIST 1
#endif

/* Until 6.12 the kernel warned when the unwinder reached the return hook of a task that can run. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define JF_UNWIND_WARNS_OF_HOOK 1
#else
#define JF_UNWIND_WARNS_OF_HOOK 0
#endif

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate_wait.h>

/* Since 6.4 a module is more than two pieces of memory. */
static inline bool jf_module_text(const struct module *mod, unsigned int i,
				  unsigned long *start, unsigned long *end)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
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

/* May that be in the memory of a module? There is no function that says so. */
static inline bool jf_may_be_module(unsigned long addr)
{
#ifdef MODULES_VADDR
	return addr >= MODULES_VADDR && addr < MODULES_END;
#else
	return is_vmalloc_addr((void *)addr);
#endif
}

/* Since 6.14 the callback of a grace period checks that there was one. */
static inline void jf_rcu_sync_init(struct rcu_synchronize *rs)
{
	init_completion(&rs->completion);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	get_completed_synchronize_rcu_full(&rs->oldstate);
#endif
}

/* 6.12 leaves sleeping tasks in the run queue for a while. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define jf_sched_delayed(t)	READ_ONCE((t)->se.sched_delayed)
#else
#define jf_sched_delayed(t)	false
#endif

/*
 * Does it wait for what is a spinlock elsewhere? The last RT patches before that
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
#if defined(CONFIG_PREEMPT_RT) && LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
#define jf_task_has_stack(t)	(READ_ONCE((t)->state) != TASK_DEAD)
#elif defined(CONFIG_THREAD_INFO_IN_TASK)
#define jf_task_has_stack(t)	refcount_read(&(t)->stack_refcount)
#else
#define jf_task_has_stack(t)	true
#endif

/* 6.17: sched_process_exit tells whether it is the last thread of its process. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define JF_EXIT_PROTO		struct task_struct *t, bool group_dead
#else
#define JF_EXIT_PROTO		struct task_struct *t
#endif

/* 6.10: the source of a dynamic string is remembered from __string(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define jf_assign_str(dst, src)	__assign_str(dst)
#else
#define jf_assign_str(dst, src)	__assign_str(dst, src)
#endif

/* hex_asc has moved, and this is one of those that have both. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
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
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
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
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
#define JF_HAVE_STATIC_CALL_RETURN0 1
#else
#define JF_HAVE_STATIC_CALL_RETURN0 0
#endif

/* Can functions be traced at their entry, and be found by their names? */
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

/* 5.11: what a callback gets may be less than all registers; protection is asked for. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
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

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
	all = ftrace_get_regs(regs);
#else
	all = regs;
#endif
	return all ? regs_get_kernel_argument(all, n) : 0;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
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
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
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
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
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
 * filter, which takes memory: some that is kept for what frees more. Where there is none
 * of that either, the filter is lost.
 */
static inline void jf_ftrace_free(struct ftrace_ops *ops)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0) || \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 20) && \
	 LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))
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
