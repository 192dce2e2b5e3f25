// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks on arm64: the search of a task that does not run for a return address, or a register, that
 * leads into certain text.
 *
 * All CPUs are stopped in threads of their own while this runs. So each running task has been
 * switched out like any task that was preempted, and its state is its stack above the saved SP, and
 * the registers that the switch saved in thread.cpu_context.
 *
 * The scan has two steps, and both err on the side of "inside":
 *
 *  1. Each of these words is compared, and each return address that a tracer took off the
 *     stack and keeps elsewhere. A return address may be signed (PAC): XPACLRI makes the
 *     address of it, and is a NOP where there is no PAC. Each function that calls another
 *     one has its return address on the stack, with a shadow call stack as well, which
 *     only has a copy. That of a function which was interrupted before it saved it, or
 *     never does, is in the link register, which the interrupt's entry saved on the stack.
 *     Most tasks are done with here.
 *  2. A word may be a leftover. So where one was found the frame records are followed, from the
 *     one that x29 pointed to when the task was switched out. If they lead to the very end,
 *     their return addresses count, and all registers at each place where the task was interrupted
 *     in the kernel: it may have been about to call the address in a register, and the link
 *     register may be the one return address of a function without a record.
 *
 * The entry code of an exception in the kernel leaves a record inside of struct pt_regs, which
 * is how the place of an interrupt is known: the record holds x29 and the PC that are in
 * the pt_regs, too, or since 6.13 nothing at all. Where it is taken for one that it is not, words
 * count that need not.
 *
 * The end is the record inside of task_pt_regs(), or up to 5.10 a record without a next
 * one; then the words of the rest of the stack decide, and so they do where a
 * record leads off the stack, or back.
 *
 * A return probe puts the address of a trampoline into the link register, and keeps the return
 * address beside x29, which is the place of the caller's record. So the record that
 * leads there has a return address that the probe knows. Before 5.11, and for return addresses that
 * the function graph tracer has taken, this is not known here: where one of these addresses leads
 * into the text, the task counts as inside. For functions that others call, too, this keeps a task
 * inside that need not be, until it has returned. So does a kprobe on the instruction that called
 * such a function.
 */
#include "arch/arm64/arm64.h"
#include "arch/stack.h"

#include <linux/ptrace.h>
#include <linux/refcount.h>
#include <linux/uaccess.h>
#include <asm/processor.h>

#include "common/arm64/flow.h"

/* A return address without its signature. */
static unsigned long jf_plain(unsigned long addr)
{
	register unsigned long x30 asm("x30") = addr;

	asm("hint #7" : "+r" (x30));	/* xpaclri */
	return x30;
}

/* The function called by the instruction that returns to @ret. 0: it names none. */
static unsigned long jf_called(unsigned long ret)
{
	u32 insn, veneer[3];
	uint64_t to, target, at;

	if (copy_from_kernel_nofault(&insn, (void *)ret - JF_INSN_SIZE, sizeof(insn)) ||
	    jf_insn_decode(insn, ret - JF_INSN_SIZE, &to) != JF_INSN_CALL)
		return 0;
	if (copy_from_kernel_nofault(veneer, (void *)(unsigned long)to, sizeof(veneer)))
		return to;
	if (jf_insn_veneer(veneer, to, &target))
		return target;
	/* An image's. */
	if (jf_insn_is_load_x16(veneer, to, &at) &&
	    !copy_from_kernel_nofault(&target, (void *)(unsigned long)at, sizeof(target)))
		return target;
	return to;
}

#define JF_HAVE_CALLED	1
#include "arch/seen.h"

bool jf_arch_can_scan(void)
{
	return true;
}

const char *jf_arch_unwind_lacks(void)
{
	return NULL;
}

/* With or without a condition. */
bool jf_arch_leads_into(unsigned long start, unsigned long end,
			unsigned long to_start, unsigned long to_end)
{
	enum jf_insn_flow flow;
	unsigned long addr;
	u8 bytes[JF_INSN_SIZE];
	uint64_t to;

	for (addr = ALIGN(start, JF_INSN_SIZE); addr + JF_INSN_SIZE <= end;
	     addr += JF_INSN_SIZE) {
		if (copy_from_kernel_nofault(bytes, (void *)addr, sizeof(bytes)))
			continue;
		flow = jf_insn_flow(bytes, addr, &to);
		if ((flow == JF_FLOW_JUMP || flow == JF_FLOW_BRANCH) &&
		    to - to_start < to_end - to_start)
			return true;
	}
	return false;
}

/* --- words --------------------------------------------------------------- */

/* A register, or a return address. */
static bool jf_word_leads(struct jf_scan *scan, unsigned long word)
{
	unsigned long addr = jf_plain(word);

	return jf_lead_into(scan, addr) || jf_lead_into(scan, addr - 1);
}

/* True if some word from @from to the top of the stack might lead into the text. */
static bool jf_words_have(struct task_struct *t, unsigned long from,
			  struct jf_scan *scan)
{
	unsigned long *bottom = task_stack_page(t);
	unsigned long *top = (void *)bottom + THREAD_SIZE;
	unsigned long *word = (unsigned long *)from;

	/* That would be no stack of this task. */
	if (word < bottom || word >= top)
		return true;
	for (; word < top; word++)
		if (jf_word_leads(scan, READ_ONCE_NOCHECK(*word)))
			return true;
	return false;
}

/* The registers that the switch saved: x19 to x28, where x30 led, and x29. */
static bool jf_context_has(struct task_struct *t, struct jf_scan *scan)
{
	const struct cpu_context *c = &t->thread.cpu_context;
	const unsigned long r[] = {
		c->x19, c->x20, c->x21, c->x22, c->x23, c->x24, c->x25, c->x26,
		c->x27, c->x28, c->fp, c->pc,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r); i++)
		if (jf_word_leads(scan, r[i]))
			return true;
	return false;
}

/* --- return probes ------------------------------------------------------- */

/*
 * The number of return probes of the function that was called by the one whose record is at @fp.
 * *@ret: the address that the first of them found in the link register, hence the last one in the
 * list; the others have found a trampoline's address.
 */
static unsigned int jf_hooks_at(struct task_struct *t, unsigned long fp,
				unsigned long *ret)
{
	const struct llist_node *l;
	unsigned int n = 0;

	jf_for_each_hook(l, t) {
		if (jf_hook_fp(l) != fp)
			continue;
		*ret = jf_hook_ret(l);
		n++;
	}
	return n;
}

/* True if all return probes have been met, @num of them. */
static bool jf_hooks_are(struct task_struct *t, unsigned int num)
{
	const struct llist_node *l;
	unsigned int n = 0;

	jf_for_each_hook(l, t)
		n++;
	return n == num;
}

/* --- frames -------------------------------------------------------------- */

/**
 * struct jf_frames - the chain of frame records, as far as it has been followed
 * @fp:     the next record
 * @from:   the tag of the function that the last frame was in; or 0
 * @hooks:  return probes that have been met
 */
struct jf_frames {
	unsigned long	fp;
	unsigned long	from;
	unsigned int	hooks;
};

/* A frame returns to @addr. True if the task is inside. */
static bool jf_frame_counts(struct jf_frames *f, struct jf_scan *scan,
			    unsigned long addr)
{
	const struct jf_span *in = jf_spans_find(&scan->in, addr - 1);

	if (f->from && !jf_is_called(scan, f->from, addr))
		return true;
	f->from = in ? in->tag : 0;
	if (in)
		scan->where = addr - 1;
	return in && !in->tag;
}

/*
 * The task was interrupted, and goes on with these registers. True if it is inside. Its
 * function may have no record, so that it does not return to the next one: no
 * function that others call is excused here.
 */
static bool jf_regs_count(struct jf_frames *f, struct task_struct *t,
			  const struct pt_regs *regs, struct jf_scan *scan)
{
	unsigned long lr = jf_plain(regs->regs[30]);
	unsigned int i;

	if (f->from)
		return true;
	for (i = 0; i < ARRAY_SIZE(regs->regs); i++)
		if (jf_word_leads(scan, regs->regs[i]))
			return true;
	if (jf_lead_into(scan, regs->pc))
		return true;
	/* Before the function has made its record. */
	f->hooks += jf_hooks_at(t, regs->regs[29], &lr);
	return jf_word_leads(scan, lr);
}

/* The registers that the record at @fp is in, if it is such a one; or NULL. */
static const struct pt_regs *jf_regs_at(struct task_struct *t, unsigned long fp,
					unsigned long next, unsigned long lr)
{
	const struct pt_regs *regs = (void *)fp - offsetof(struct pt_regs, stackframe);

	if ((void *)regs < task_stack_page(t) ||
	    (void *)(regs + 1) > task_stack_page(t) + THREAD_SIZE)
		return NULL;
	if (!next && !lr)
		return regs;
	return lr == READ_ONCE_NOCHECK(regs->pc) &&
	       next == READ_ONCE_NOCHECK(regs->regs[29]) ? regs : NULL;
}

/*
 * Judge each frame, as long as records lead up the stack. True: the task is inside.
 * *@whole: the end has been reached.
 */
static bool jf_follow(struct jf_frames *f, struct task_struct *t,
		      struct jf_scan *scan, bool *whole)
{
	unsigned long last = (unsigned long)&task_pt_regs(t)->stackframe;
	unsigned long next, lr, *record;
	const struct pt_regs *regs;

	*whole = false;
	if (jf_frame_counts(f, scan, jf_plain(t->thread.cpu_context.pc)))
		return true;
	while (f->fp != last) {
		record = (unsigned long *)f->fp;
		if (!IS_ALIGNED(f->fp, 8) || (void *)record < task_stack_page(t) ||
		    (void *)(record + 2) > task_stack_page(t) + THREAD_SIZE)
			return false;
		next = READ_ONCE_NOCHECK(record[0]);
		lr = READ_ONCE_NOCHECK(record[1]);
		regs = jf_regs_at(t, f->fp, next, lr);
		if (regs) {
			if (jf_regs_count(f, t, regs, scan))
				return true;
			next = READ_ONCE_NOCHECK(regs->regs[29]);
		} else {
			lr = jf_plain(lr);
			f->hooks += jf_hooks_at(t, next, &lr);
			if (jf_frame_counts(f, scan, lr))
				return true;
		}
		if (next <= f->fp)
			return false;
		f->fp = next;
	}
	*whole = true;
	/* A target that nothing has called. */
	return f->from;
}

static bool jf_frames_scan(struct task_struct *t, struct jf_scan *scan)
{
	struct jf_frames f = { .fp = t->thread.cpu_context.fp };
	unsigned long where, from;
	bool whole;

	if (jf_follow(&f, t, scan, &whole))
		return true;
	where = scan->where;
	scan->where = 0;
	if (jf_graph_has(t, scan) ||
	    (!jf_hooks_are(t, f.hooks) && jf_rethook_has(t, scan)))
		return true;
	if (!whole) {
		if (f.from)
			return true;
		/* The rest can only be told by words: after the last record. */
		from = f.fp;
		if (from < t->thread.cpu_context.sp ||
		    (void *)from >= task_stack_page(t) + THREAD_SIZE)
			from = t->thread.cpu_context.sp;
		if (jf_words_have(t, from, scan))
			return true;
	}
	scan->where = where;
	return false;
}

bool jf_arch_scan(struct task_struct *t, struct jf_scan *scan, bool strict)
{
	bool lead;

	if (!jf_scan_begin(scan, t))
		return false;
	lead = jf_words_have(t, t->thread.cpu_context.sp, scan) ||
	       jf_context_has(t, scan) || jf_graph_has(t, scan) ||
	       jf_rethook_has(t, scan);
	if (!lead && !strict)
		return false;
	scan->where = 0;
	return jf_frames_scan(t, scan);
}
