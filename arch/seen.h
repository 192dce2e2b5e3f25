/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the stack scans of architectures have in common. It is included by the source of
 * an architecture that can scan stacks (stack.c), after
 *
 *   jf_plain(addr)	a return address without what a CPU has signed it with
 *   JF_HAVE_CALLED	are there frames, and jf_called(ret), which tells what is called by the
 *			instruction that returns to an address?
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

/* A scan of @t begins. False: it executes nothing of what is searched for, now or later. */
static bool jf_scan_begin(struct jf_scan *scan, struct task_struct *t)
{
	scan->where = 0;
	scan->back = 0;
	scan->more = false;
	scan->num_ways = 0;
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
 * an array of words, of which it is the first one that is not. What comes after
 * that is left over from earlier use.
 */
static unsigned int jf_graph_used(const struct task_struct *t)
{
	if (__builtin_types_compatible_p(typeof(t->ret_stack), unsigned long *))
		return max(t->curr_ret_stack, 0);
	return max(t->curr_ret_stack + 1, 0);
}

/* Some have the frame's place as well, in front of that of the return address, or alone. */
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
 * What return probes of a task have taken, the last one first: a list, and of each the
 * return address, and the place that it was taken from.
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

/* The changed call that returns to @ret, or the changed trampoline; or NULL. */
static const struct jf_span *jf_changed_call(const struct jf_scan *scan,
					     unsigned long ret)
{
	const struct jf_span *call = jf_spans_find(&scan->calls, ret);

	if (!call && scan->tramps.num)
		call = jf_spans_find(&scan->tramps, jf_called(ret));
	return call;
}

/* A recursion comes by the same way more than once. */
static bool jf_has_way(const struct jf_scan *scan, unsigned long tag,
		       unsigned long to)
{
	unsigned int i;

	for (i = 0; i < scan->num_ways; i++)
		if (scan->way[i].tag == tag && scan->way[i].to == to)
			return true;
	return false;
}

/*
 * A function that is searched for, and that others may call, returns to @ret. Has it
 * been called by what was changed? JF_SEEN_CLEAN: no; _SHARED: by a way that was
 * added to @scan.
 */
static enum jf_seen jf_came(struct jf_scan *scan, unsigned long tag,
			    unsigned long ret)
{
	const struct jf_span *s = jf_changed_call(scan, ret);
	const struct jf_way_memo *m;
	unsigned long to;

	if (s)
		return s->tag == tag ? JF_SEEN_CLEAN : JF_SEEN_INSIDE;
	to = jf_called(ret);
	s = jf_spans_find(&scan->in, to);
	if (s && s->tag == tag)
		return JF_SEEN_CLEAN;
	if (jf_has_way(scan, tag, to))
		return JF_SEEN_SHARED;
	if (!to)
		return JF_SEEN_INSIDE;
	m = &scan->memo[jf_way_hash(tag, to)];
	if (m->way.tag == tag && m->way.to == to)
		return m->other ? JF_SEEN_CLEAN : JF_SEEN_INSIDE;
	if (scan->num_ways == JF_WAYS) {
		scan->more = true;
		return JF_SEEN_SHARED;
	}
	scan->way[scan->num_ways].tag = tag;
	scan->way[scan->num_ways++].to = to;
	return JF_SEEN_SHARED;
}

/*
 * The last call of a changed target may have been a jump to a function elsewhere,
 * which uses the target's data. What is called now, in @callee, is not such a one.
 */
static bool jf_is_stale_call(const struct jf_scan *scan, unsigned long ret,
			     unsigned long callee)
{
	const struct jf_span *call = jf_changed_call(scan, ret), *fresh;

	if (!call)
		return false;
	fresh = jf_spans_find(&scan->fresh, callee);
	return !fresh || fresh->tag != call->tag;
}
#endif

#endif /* JF_SEEN_H */
