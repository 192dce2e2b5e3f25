/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The common part of the stack scans of architectures. It is included by the source of
 * an architecture that can scan stacks (stack.c), after
 *
 *   jf_plain(addr)	a return address without the CPU's signature
 *   JF_HAVE_CALLED	defined if there are frames, and jf_called(ret): the target of the
 *			call that returns to an address
 */
#ifndef JF_SEEN_H
#define JF_SEEN_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#include <linux/rethook.h>
#endif

static bool jf_lead_into(struct jf_scan *scan, unsigned long addr)
{
	if (!jf_spans_has(&scan->in, addr))
		return false;
	scan->where = addr;
	return true;
}

/*
 * A scan of @t begins. False: it executes no part of the text that is searched for, now or later.
 */
static bool jf_scan_begin(struct jf_scan *scan, struct task_struct *t)
{
	scan->where = 0;
	/* Freed, or about to be: it will never run again. */
	if (!task_stack_page(t) || !jf_task_has_stack(t))
		return false;
	/* Only the threads that keep the CPUs stopped are running. */
	return !jf_task_runs(t);
}

/* --- return addresses that are not where they belong --------------------- */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * An array of structs, of which curr_ret_stack is the last one in use; since 6.10
 * an array of words, of which it is the first one that is not. The words after that are left over
 * from earlier use.
 */
static unsigned int jf_graph_used(const struct task_struct *t)
{
	if (__builtin_types_compatible_p(typeof(t->ret_stack), unsigned long *))
		return max(t->curr_ret_stack, 0);
	return max(t->curr_ret_stack + 1, 0);
}

/* Some have the frame's place as well, in front of the return address's place, or alone. */
#if defined(HAVE_FUNCTION_GRAPH_FP_TEST) || \
	defined(CONFIG_HAVE_FUNCTION_GRAPH_FP_TEST)
#define JF_GRAPH_PLACE	fp
#else
#define JF_GRAPH_PLACE	retp
#endif

static bool jf_is_on_stack(struct task_struct *t, unsigned long addr)
{
	return addr - (unsigned long)task_stack_page(t) < THREAD_SIZE;
}

/*
 * After a return address comes the beginning of the function that the tracer took it
 * from. That word says nothing: a task in that function has other addresses of it on
 * its stack. It is known by the word that comes some places after it (retp, or fp): the
 * place on the stack that the return address was at. Each other word counts, whatever a
 * tracer has put there.
 */
static bool jf_graph_has(struct task_struct *t, struct jf_scan *scan)
{
	const unsigned int place = offsetof(struct ftrace_ret_stack,
					    JF_GRAPH_PLACE) / sizeof(long);
	const unsigned long *word = (void *)t->ret_stack;
	unsigned int i, n;

	if (!word)
		return false;
	n = (const unsigned long *)&t->ret_stack[jf_graph_used(t)] - word;
	for (i = 0; i < n; i++) {
		if (i && i - 1 + place < n &&
		    jf_is_on_stack(t, READ_ONCE_NOCHECK(word[i - 1 + place])))
			continue;
		if (jf_lead_into(scan,
				 jf_plain(READ_ONCE_NOCHECK(word[i])) - 1))
			return true;
	}
	return false;
}
#else
static bool jf_graph_has(struct task_struct *t, struct jf_scan *scan)
{
	return false;
}

static unsigned int __maybe_unused jf_graph_used(const struct task_struct *t)
{
	return 0;
}
#endif

/*
 * The return addresses that return probes of a task have taken, the last one first: a list, and of
 * each the return address, and the place that it was taken from.
 */
#if defined(CONFIG_KRETPROBE_ON_RETHOOK)
#define jf_hooks_of(t)	READ_ONCE((t)->rethooks.first)
#define jf_hook_fp(l)	llist_entry(l, struct rethook_node, llist)->frame
#define jf_hook_ret(l)	\
	jf_plain(llist_entry(l, struct rethook_node, llist)->ret_addr)
#elif defined(JF_HAVE_KRETPROBE_LIST)
#define jf_hooks_of(t)	READ_ONCE((t)->kretprobe_instances.first)
#define jf_hook_fp(l)	\
	((unsigned long)llist_entry(l, struct kretprobe_instance, llist)->fp)
#define jf_hook_ret(l)	\
	jf_plain((unsigned long)llist_entry(l, struct kretprobe_instance,	\
					    llist)->ret_addr)
#else
/* 5.10 keeps them in a table that modules cannot read. */
#define jf_hooks_of(t)	((struct llist_node *)NULL)
#define jf_hook_fp(l)	0UL
#define jf_hook_ret(l)	0UL
#endif
#define jf_for_each_hook(l, t)	\
	for (l = jf_hooks_of(t); l; l = READ_ONCE((l)->next))

static bool jf_rethook_has(struct task_struct *t, struct jf_scan *scan)
{
	const struct llist_node *l;

	jf_for_each_hook(l, t)
		if (jf_lead_into(scan, jf_hook_ret(l) - 1))
			return true;
	return false;
}

#if JF_HAVE_CALLED
/* --- calls --------------------------------------------------------------- */

/*
 * A function that is searched for, and that others may call, returns to @ret. True if it has been
 * called by its name.
 */
static bool jf_is_called(const struct jf_scan *scan, unsigned long tag,
			 unsigned long ret)
{
	const struct jf_span *s = jf_spans_find(&scan->in, jf_called(ret));

	return s && s->tag == tag;
}
#endif

#endif /* JF_SEEN_H */
