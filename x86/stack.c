// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks on x86-64: does a task that does not run have a return address, or a
 * register, that leads into certain text?
 *
 * All CPUs are stopped in threads of their own while this runs. So whatever was
 * running has been switched out like any task that was preempted: an interrupt, a
 * softirq or an NMI has come to its end first, and what is left of everybody is
 * the stack above thread.sp.
 *
 * The look has two steps, and both err on the side of "inside":
 *
 *  1. Each word from thread.sp to the top of the stack is compared, and each
 *     return address that a tracer took off the stack and keeps elsewhere. A
 *     return address cannot hide from that, whatever stands beside it, nor can a
 *     register of an interrupted task, since those are on the stack, too. Most
 *     tasks are done with here.
 *  2. A word may be a leftover. So where one was found the stack is unwound. If
 *     it is unwound to its very end, what counts is the return addresses on the
 *     way, and the registers at each place where the task was interrupted: it may
 *     have been about to call what a register holds.
 *
 * A task that can run is unwound in any case. It may have been interrupted in a
 * copy of an instruction that an optimised kprobe has made, which jumps back into
 * the text, with no trace of that on the stack; the unwinder does not know such a
 * place, and says so.
 *
 * A return address belongs to the function that holds the byte before it: the call
 * of a function that does not return may be the last instruction of its caller, and
 * then the address is that of the next function, which has nothing to do with it.
 * Where a task was interrupted, the address is the one that it goes on at. A word
 * may be either. (A retpoline returns to the beginning of a function; whoever is
 * interrupted before that has the address in a register, too.)
 *
 * An unwind that ends early is not always reported as an error. On 6.1 it just
 * stops for a task that was interrupted inside a retpoline. So the end is only
 * taken for the end where the task came from user mode, or where the unwinder has
 * arrived at the top of the stack.
 */
#include "x86/x86.h"

#include <linux/ctype.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/ptrace.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#include <linux/rethook.h>
#endif

/* Where struct unwind_state tells how far it has come. */
#ifdef CONFIG_UNWINDER_ORC
#define JF_CAN_UNWIND	1
#else
#define JF_CAN_UNWIND	0
#endif

bool jf_arch_can_look(void)
{
	return true;
}

static bool jf_lead_into(struct jf_sight *sight, unsigned long addr)
{
	if (!jf_spans_has(&sight->in, addr))
		return false;
	sight->where = addr;
	return true;
}

#if JF_CAN_UNWIND
/* Is @ret where a changed call returns to? */
static bool jf_is_changed_call(const struct jf_sight *sight, unsigned long ret)
{
	unsigned long call = ret - JF_INSN_SIZE;
	uint64_t target;
	u8 bytes[JF_INSN_SIZE];

	if (jf_spans_has(&sight->calls, ret))
		return true;
	if (!sight->tramps.num ||
	    copy_from_kernel_nofault(bytes, (void *)call, sizeof(bytes)))
		return false;
	/* With a kprobe on it, which keeps the rest: it is held to be a call. */
	if (bytes[0] == JF_OPCODE_INT3)
		bytes[0] = JF_OPCODE_CALL;
	return jf_insn_decode(jf_insn_load(bytes), call, &target) ==
		JF_INSN_CALL && jf_spans_has(&sight->tramps, target);
}

/* @exact: @addr is where it was interrupted, not a return address. */
static bool jf_counts(struct jf_sight *sight, unsigned long addr, bool exact,
		      bool strict)
{
	if (jf_lead_into(sight, exact ? addr : addr - 1))
		return true;
	if (!strict || !jf_is_changed_call(sight, addr))
		return false;
	sight->where = addr;
	return true;
}
#endif

#if JF_CAN_UNWIND
/*
 * The unwinder knows the kernel's text, and no exported function else says so. __init
 * text is some to it, which stands behind rodata, of which this is one.
 */
bool jf_is_image_text(unsigned long addr)
{
	struct unwind_state state = {
		.stack_info.type = STACK_TYPE_TASK,
		.ip = addr,
	};

	return addr < (unsigned long)_ctype &&
	       unwind_get_return_address(&state) == addr;
}
#else
/* It begins with its text, and rodata comes next. Somewhere in that is this. */
bool jf_is_image_text(unsigned long addr)
{
	return addr < (unsigned long)_ctype;
}
#endif

/* --- return addresses that are not where they belong --------------------- */

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/*
 * An array of structs, of which curr_ret_stack is the last one in use; since 6.10
 * an array of words, of which it is the first one that is not. What is behind has
 * been used, and says so for ever.
 */
static unsigned int jf_graph_used(const struct task_struct *t)
{
	if (__builtin_types_compatible_p(typeof(t->ret_stack), unsigned long *))
		return max(t->curr_ret_stack, 0);
	return max(t->curr_ret_stack + 1, 0);
}

static bool jf_is_on_stack(struct task_struct *t, unsigned long addr)
{
	return addr - (unsigned long)task_stack_page(t) < THREAD_SIZE;
}

/*
 * Behind a return address stands where the function begins that it was taken from,
 * which says nothing: whoever is in that one has more to show for it. It is known
 * by the place on the stack that both came from, which stands behind them. Each
 * other word counts, whatever a tracer has put there.
 */
static bool jf_graph_has(struct task_struct *t, struct jf_sight *sight)
{
	const unsigned int place = offsetof(struct ftrace_ret_stack, retp) /
				   sizeof(long);
	const unsigned long *word = (void *)t->ret_stack;
	unsigned int i, n;

	if (!word)
		return false;
	n = (const unsigned long *)&t->ret_stack[jf_graph_used(t)] - word;
	for (i = 0; i < n; i++) {
		if (i && i - 1 + place < n &&
		    jf_is_on_stack(t, READ_ONCE_NOCHECK(word[i - 1 + place])))
			continue;
		if (jf_lead_into(sight, READ_ONCE_NOCHECK(word[i]) - 1))
			return true;
	}
	return false;
}
#else
static bool jf_graph_has(struct task_struct *t, struct jf_sight *sight)
{
	return false;
}
#endif

#if defined(CONFIG_KRETPROBE_ON_RETHOOK)
static bool jf_rethook_has(struct task_struct *t, struct jf_sight *sight)
{
	struct rethook_node *n;
	struct llist_node *l;

	for (l = READ_ONCE(t->rethooks.first); l; l = READ_ONCE(l->next)) {
		n = llist_entry(l, struct rethook_node, llist);
		if (jf_lead_into(sight, n->ret_addr - 1))
			return true;
	}
	return false;
}
#elif defined(JF_HAVE_KRETPROBE_LIST)
static bool jf_rethook_has(struct task_struct *t, struct jf_sight *sight)
{
	struct kretprobe_instance *ri;
	struct llist_node *l;

	l = READ_ONCE(t->kretprobe_instances.first);
	for (; l; l = READ_ONCE(l->next)) {
		ri = llist_entry(l, struct kretprobe_instance, llist);
		if (jf_lead_into(sight, (unsigned long)ri->ret_addr - 1))
			return true;
	}
	return false;
}
#else
/* 5.10 keeps them in a table that modules cannot read. */
static bool jf_rethook_has(struct task_struct *t, struct jf_sight *sight)
{
	return false;
}
#endif

/*
 * The unwinder asks for the return address that a trampoline stands for. Of a task
 * that can run and is not the current one it is told none, by 6.1 with a warning,
 * by 6.12 without: that the CPUs are stopped, nobody asks.
 */
static bool jf_rethook_ends_unwind(struct task_struct *t)
{
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	return READ_ONCE(t->rethooks.first) && task_is_running(t);
#else
	return false;
#endif
}

/* --- words --------------------------------------------------------------- */

/* Is there a word on the stack that might lead into the text? */
static bool jf_words_have(struct task_struct *t, struct jf_sight *sight)
{
	unsigned long *word = (unsigned long *)READ_ONCE(t->thread.sp);
	unsigned long *bottom = task_stack_page(t);
	unsigned long *top = (void *)bottom + THREAD_SIZE;
	unsigned long addr;

	/* That would be no stack of this task. */
	if (word < bottom || word >= top)
		return true;
	for (; word < top; word++) {
		addr = READ_ONCE_NOCHECK(*word);
		/* A register, or a return address. */
		if (jf_spans_has(&sight->in, addr) ||
		    jf_spans_has(&sight->in, addr - 1))
			return true;
	}
	return false;
}

/* --- frames -------------------------------------------------------------- */

#if JF_CAN_UNWIND
static bool jf_regs_have(const struct pt_regs *regs, struct jf_sight *sight)
{
	const unsigned long r[] = {
		regs->ax, regs->bx, regs->cx, regs->dx, regs->si, regs->di,
		regs->bp, regs->r8, regs->r9, regs->r10, regs->r11, regs->r12,
		regs->r13, regs->r14, regs->r15,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r); i++)
		if (jf_lead_into(sight, r[i]))
			return true;
	return false;
}

static enum jf_seen jf_unwind(struct task_struct *t, struct jf_sight *sight,
			      bool strict)
{
	const struct pt_regs *regs, *last = NULL;
	struct unwind_state state;
	unsigned long addr;
	bool partial;

	for (unwind_start(&state, t, NULL, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		regs = unwind_get_entry_regs(&state, &partial);
		if (regs && regs != last) {
			if (user_mode((struct pt_regs *)regs))
				return unwind_error(&state) ? JF_SEEN_UNKNOWN :
							      JF_SEEN_CLEAN;
			if (partial)
				return JF_SEEN_UNKNOWN;
			if (jf_regs_have(regs, sight))
				return JF_SEEN_INSIDE;
			last = regs;
		}
		addr = unwind_get_return_address(&state);
		if (!addr)
			break;
		if (jf_counts(sight, addr, state.signal, strict))
			return JF_SEEN_INSIDE;
	}
	if (unwind_error(&state) ||
	    state.sp < (unsigned long)task_pt_regs(t))
		return JF_SEEN_UNKNOWN;
	return JF_SEEN_CLEAN;
}
#else
/* A word may be a leftover, but nothing here can tell. */
static enum jf_seen jf_unwind(struct task_struct *t, struct jf_sight *sight,
			      bool strict)
{
	return JF_SEEN_UNKNOWN;
}
#endif

enum jf_seen jf_arch_look(struct task_struct *t, struct jf_sight *sight,
			  bool strict)
{
	sight->where = 0;
	/* Freed, or about to be: it will never run again. */
	if (!task_stack_page(t) || !jf_task_has_stack(t))
		return JF_SEEN_CLEAN;
	/* Only the threads that keep the CPUs stopped are running. */
	if (jf_task_runs(t))
		return JF_SEEN_CLEAN;
	if (jf_graph_has(t, sight) || jf_rethook_has(t, sight))
		return JF_SEEN_INSIDE;
	if (!jf_words_have(t, sight) && !(strict && JF_CAN_UNWIND))
		return JF_SEEN_CLEAN;
	/* Until he has returned or sleeps. */
	if (jf_rethook_ends_unwind(t))
		return JF_SEEN_UNKNOWN;
	return jf_unwind(t, sight, strict);
}
