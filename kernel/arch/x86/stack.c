// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks on x86-64: the search of a task that does not run for a return address, or a register,
 * that leads into certain text.
 *
 * All CPUs are stopped in threads of their own while this runs. So each running task has been
 * switched out like any task that was preempted: an interrupt, a softirq or an NMI has come to its
 * end first, and the state of each task is the stack above thread.sp.
 *
 * The scan has two steps, and both err on the side of "inside":
 *
 *  1. Each word from thread.sp to the top of the stack is compared, and each
 *     return address that a tracer took off the stack and keeps elsewhere. A
 *     return address cannot hide from that, whatever stands beside it, nor can a
 *     register of an interrupted task, since those are on the stack, too. Most
 *     tasks are done with here.
 *  2. A word may be a leftover. So where one was found the stack is unwound. If
 *     it is unwound to its very end, the return addresses on the way count, and the registers at
 *     each place where the task was interrupted: it may have been about to call the address in a
 *     register.
 *
 * A task that can run is unwound in any case. It may have been interrupted in a
 * copy of an instruction that an optimised kprobe has made, which jumps back into
 * the text, with no trace of that on the stack; the unwinder does not know such a
 * place, and says so. Then the code there is searched for that jump.
 *
 * A stack that cannot be unwound to its end keeps no one waiting by that alone:
 * user programs can have their tasks interrupted in filters (BPF), and tracers put
 * trampolines on stacks, and neither ends by itself. Then the words of the whole
 * stack decide: where none leads into the text, the task is outside.
 *
 * A function that is searched for may be called by others as well, see kernel/quiesce/scan.c.
 * A frame of it counts by its return address. This needs an unwind: where there is
 * none, the word counts.
 *
 * A return address belongs to the function that holds the byte before it: the call
 * of a function that does not return may be the last instruction of its caller, and
 * then the address is that of the next function, which has nothing to do with it.
 * Where a task was interrupted, the address is the one that it goes on at. A word
 * may be either. (A retpoline returns to the beginning of a function; a task that is
 * interrupted before that has the address in a register, too.)
 *
 * An unwind that ends early is not always reported as an error. On 6.1 it just
 * stops for a task that was interrupted inside a retpoline. So the end is only
 * taken for the end where the task came from user mode, or where the unwinder has
 * arrived at the top of the stack. After an error nothing more is taken from it:
 * where it knows nothing, it goes on by frame pointers, which may not be any.
 */
#include "arch/x86/x86.h"

#include "arch/stack.h"

#include <linux/ctype.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
#include "common/x86/flow.h"
#endif

/* Bytes that may stand in front of the call that a function begins with. */
#define JF_ENDBR_MAX	4

/* Where struct unwind_state tells how far it has come. */
#ifdef CONFIG_UNWINDER_ORC
#define JF_CAN_UNWIND	1
#else
#define JF_CAN_UNWIND	0
#endif

bool jf_arch_can_scan(void)
{
	return true;
}

const char *jf_arch_unwind_lacks(void)
{
	return JF_CAN_UNWIND ? NULL : "CONFIG_UNWINDER_ORC";
}

#if JF_CAN_UNWIND
/* The function called by the instruction that returns to @ret. 0: it names none. */
static unsigned long jf_called(unsigned long ret)
{
	unsigned long call = ret - JF_INSN_SIZE;
	u8 bytes[JF_INSN_SIZE];
	uint64_t target;

	if (copy_from_kernel_nofault(bytes, (void *)call, sizeof(bytes)))
		return 0;
	/* A breakpoint may stand on it. */
	if (bytes[0] == JF_OPCODE_INT3)
		bytes[0] = JF_OPCODE_CALL;
	if (jf_insn_decode(jf_insn_load(bytes), call, &target) != JF_INSN_CALL)
		return 0;
	return target;
}
#endif

/* Return addresses are as they are. */
#define jf_plain(addr)	(addr)
#define JF_HAVE_CALLED	JF_CAN_UNWIND
#include "arch/seen.h"

#if JF_CAN_UNWIND
/*
 * The unwinder knows the kernel's text, and no other exported function does. It takes
 * __init text for such, too, but that comes after rodata, where _ctype is.
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
/* The image begins with its text, and rodata comes next, with _ctype in it. */
bool jf_is_image_text(unsigned long addr)
{
	return addr < (unsigned long)_ctype;
}
#endif

/*
 * The unwinder asks for the return address that a trampoline stands for. Of a task
 * that can run and is not the current one it is told none, since the kernel does
 * not ask whether the CPUs are stopped; older kernels warn then.
 */
static bool jf_rethook_warns(struct task_struct *t)
{
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	return JF_UNWIND_WARNS_OF_HOOK && READ_ONCE(t->rethooks.first) &&
	       task_is_running(t);
#else
	return false;
#endif
}

/* Where a function begins stands an instruction that tracers use. True if @addr is after it. */
static bool __maybe_unused jf_is_begin_of(const struct jf_span *s, unsigned long addr)
{
	return s && s->tag && addr - s->tag >= JF_INSN_SIZE &&
	       addr - s->tag <= JF_ENDBR_MAX + JF_INSN_SIZE;
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_JMP
/* The same for text that is no single function: a nop, a jump or a call is in front of it. */
static bool jf_may_be_begin(unsigned long addr)
{
	u8 bytes[JF_INSN_SIZE];
	uint64_t target;

	return !copy_from_kernel_nofault(bytes, (void *)addr - JF_INSN_SIZE, sizeof(bytes)) &&
	       jf_insn_decode(jf_insn_load(bytes), addr - JF_INSN_SIZE, &target) != JF_INSN_OTHER;
}

/* No trampoline of BPF is longer. */
#define JF_TRACER_SIZE	PAGE_SIZE

/* The code of one. All CPUs are stopped: there is one scan at a time. */
static u8 jf_tracer[JF_TRACER_SIZE + JF_INSN_LONGEST];

/* How much of it there is, from @addr on. */
static size_t jf_tracer_read(unsigned long addr)
{
	size_t n, part;

	for (n = 0; n < sizeof(jf_tracer); n += part) {
		part = min_t(size_t, sizeof(jf_tracer) - n, PAGE_SIZE - offset_in_page(addr + n));
		if (copy_from_kernel_nofault(jf_tracer + n, (void *)(addr + n), part))
			break;
	}
	return min_t(size_t, n, JF_TRACER_SIZE);
}

/* True if the code at @addr, which has been read, is executed up to byte @at. */
static bool jf_tracer_comes_to(unsigned long addr, size_t at)
{
	enum jf_insn_flow flow;
	uint64_t to;
	size_t n;

	for (n = 0; n < at; n += jf_insn_length(jf_tracer + n)) {
		flow = jf_insn_flow(jf_tracer + n, addr + n, &to);
		if (flow != JF_FLOW_NEXT && flow != JF_FLOW_CALL &&
		    flow != JF_FLOW_BRANCH)
			return false;
	}
	return n == at;
}

/* If byte @at of this code begins a call: the function whose rest that calls; or NULL. */
static const struct jf_span *jf_rest_called(const struct jf_scan *scan, unsigned long addr,
					    size_t at)
{
	const struct jf_span *s;
	uint64_t to;

	if (jf_insn_decode(jf_insn_load(jf_tracer + at), addr + at, &to) != JF_INSN_CALL)
		return NULL;
	s = jf_spans_find(&scan->in, to);
	return s && (s->tag ? jf_is_begin_of(s, to) : jf_may_be_begin(to)) ? s : NULL;
}

/*
 * The first instruction of a function may be a jump to a tracer's trampoline, which calls the rest
 * of the function after its programs (of BPF). A task that is in such a program has no word of the
 * function on its stack. This finds the function whose rest the code at @addr calls, before it
 * returns or jumps elsewhere; or NULL. Nearly always there is no such call, so that is asked first.
 */
static const struct jf_span *jf_traced_by(const struct jf_scan *scan, unsigned long addr)
{
	const struct jf_span *s;
	size_t at, n;

	if (!jf_may_be_module(addr) || !jf_is_executable(addr))
		return NULL;
	n = jf_tracer_read(addr);
	for (at = 0; at + JF_INSN_SIZE <= n; at++) {
		if (jf_tracer[at] != JF_OPCODE_CALL)
			continue;
		s = jf_rest_called(scan, addr, at);
		if (s && jf_tracer_comes_to(addr, at))
			return s;
	}
	return NULL;
}

/* True if a call may be in front of @addr: by a displacement, a register, or memory. */
static bool jf_may_return_to(unsigned long addr)
{
	u8 bytes[JF_INSN_SIZE];

	return jf_may_be_module(addr) &&
	       !copy_from_kernel_nofault(bytes, (void *)addr - JF_INSN_SIZE, sizeof(bytes)) &&
	       (bytes[0] == JF_OPCODE_CALL || bytes[2] == 0xff || bytes[3] == 0xff);
}
#else
static const struct jf_span *jf_traced_by(const struct jf_scan *scan, unsigned long addr)
{
	return NULL;
}

static bool jf_may_return_to(unsigned long addr)
{
	return false;
}
#endif

/* --- words --------------------------------------------------------------- */

/* A register, or a return address. */
static bool jf_word_leads(struct jf_scan *scan, unsigned long word)
{
	return jf_lead_into(scan, word) || jf_lead_into(scan, word - 1);
}

static bool jf_tracer_leads(struct jf_scan *scan, unsigned long addr)
{
	if (!jf_traced_by(scan, addr))
		return false;
	scan->where = addr;
	return true;
}

/* True if some word from @from to the top of the stack might lead into the text. */
static bool jf_words_have(struct task_struct *t, unsigned long from,
			  struct jf_scan *scan)
{
	unsigned long *bottom = task_stack_page(t);
	unsigned long *top = (void *)bottom + THREAD_SIZE;
	unsigned long *word = (unsigned long *)from;
	unsigned long addr;

	/* That would be no stack of this task. */
	if (word < bottom || word >= top)
		return true;
	for (; word < top; word++) {
		addr = READ_ONCE_NOCHECK(*word);
		/* Where a task was interrupted it is unwound in any case. */
		if (jf_word_leads(scan, addr) ||
		    (jf_may_return_to(addr) && jf_tracer_leads(scan, addr)))
			return true;
	}
	return false;
}

#if JF_CAN_UNWIND
/*
 * As jf_words_have(), for the part of the stack that the unwinder has left. The return address of a
 * tracer's call leads into a function, and the next word is the return address of that one.
 */
static bool jf_rest_has(struct task_struct *t, unsigned long from,
			struct jf_scan *scan)
{
	unsigned long *top = task_stack_page(t) + THREAD_SIZE;
	unsigned long *word = (unsigned long *)from;
	const struct jf_span *s;
	unsigned long addr;

	if ((void *)word < task_stack_page(t))
		return true;
	for (; word < top; word++) {
		addr = READ_ONCE_NOCHECK(*word);
		s = jf_spans_find(&scan->in, addr - 1);
		if (jf_is_begin_of(s, addr) && word + 1 < top &&
		    jf_is_called(scan, s->tag, READ_ONCE_NOCHECK(word[1])))
			continue;
		if (jf_word_leads(scan, addr) || jf_tracer_leads(scan, addr))
			return true;
	}
	return false;
}

/* --- frames -------------------------------------------------------------- */

/*
 * True if @addr is where a function begins that others may call, too. A task that came through a
 * trampoline, and is about to enter the function, has that in r11. A task that has it in another
 * register, to compare it or to call it by a pointer of its own, has not come from there.
 */
static bool jf_is_begin(const struct jf_scan *scan, unsigned long addr)
{
	const struct jf_span *s = jf_spans_find(&scan->in, addr);

	return s && s->tag - addr <= JF_ARCH_CALL_PAD;
}

static bool jf_regs_have(const struct pt_regs *regs, struct jf_scan *scan)
{
	const unsigned long r[] = {
		regs->ax, regs->bx, regs->cx, regs->dx, regs->si, regs->di,
		regs->bp, regs->r8, regs->r9, regs->r10, regs->r12, regs->r13,
		regs->r14, regs->r15,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(r); i++)
		if (!jf_is_begin(scan, r[i]) && jf_lead_into(scan, r[i]))
			return true;
	return jf_lead_into(scan, regs->r11);
}

/* The reach of a copy of an instruction and its surroundings. */
#define JF_COPY_SIZE	512

/*
 * Where the unwinder knows nothing of the code at @addr, it was generated. It
 * may be the copy of an instruction, by a kprobe: that ends with a jump back.
 */
static bool jf_copy_leads(struct jf_scan *scan, unsigned long addr)
{
	u8 bytes[JF_INSN_SIZE];
	unsigned int i;
	uint64_t to;

	if (!addr || jf_is_image_text(addr))
		return false;
	for (i = 0; i < JF_COPY_SIZE; i++) {
		if (copy_from_kernel_nofault(bytes, (void *)addr + i,
					     sizeof(bytes)))
			return false;
		/* A conditional jump ends with the same bytes. */
		if (bytes[0] != JF_OPCODE_JMP && (bytes[0] & 0xf0) != 0x80)
			continue;
		bytes[0] = JF_OPCODE_JMP;
		jf_insn_decode(jf_insn_load(bytes), addr + i, &to);
		if (jf_lead_into(scan, to))
			return true;
	}
	return false;
}

/* The same for a task that cannot be unwound: any word may be the place where it goes on. */
static bool jf_copies_lead(struct task_struct *t, struct jf_scan *scan)
{
	unsigned long *top = task_stack_page(t) + THREAD_SIZE;
	unsigned long *word = (unsigned long *)READ_ONCE(t->thread.sp);
	unsigned long addr;

	for (; word < top; word++) {
		addr = READ_ONCE_NOCHECK(*word);
		if (jf_may_be_module(addr) && jf_copy_leads(scan, addr))
			return true;
	}
	return false;
}

/**
 * struct jf_frames - an unwind, as far as it has come
 * @state:  the unwinder's
 * @regs:   the last ones that were seen
 * @addr:   where the last frame goes on
 * @sp:     up to there the stack has been unwound
 * @from:   the tag of the function that the last frame was in; or 0
 * @hook:   the first return address taken that has not been met, NULL: none was
 */
struct jf_frames {
	struct unwind_state	state;
	const struct pt_regs	*regs;
	unsigned long		addr;
	unsigned long		sp;
	unsigned long		from;
	const struct llist_node	*hook;
};

/*
 * The function of the last frame returns to @addr. Finds the return address of the call of it. A
 * tracer's trampoline (a BPF program's at the end of a function) has a frame pointer, and calls the
 * code after the function's first instruction. That was a call of the trampoline, which has left a
 * word, or since 7.x a jump, which has not. 0: it cannot be told.
 */
static unsigned long jf_traced_return(const struct jf_frames *f,
				      const struct jf_scan *scan,
				      unsigned long addr)
{
	const struct jf_span *s = jf_spans_find(&scan->in, jf_called(addr));
	const unsigned long *bp = (unsigned long *)f->state.bp;
	unsigned long ret;

	if (!s || s->tag != f->from || !jf_is_begin_of(s, jf_called(addr)))
		return addr;
	if (f->state.bp < f->state.sp ||
	    (void *)(bp + 3) > (void *)f->state.stack_info.end)
		return 0;
	ret = READ_ONCE_NOCHECK(bp[1]);
	if (jf_is_begin_of(jf_spans_find(&scan->in, ret - 1), ret))
		ret = READ_ONCE_NOCHECK(bp[2]);
	return ret;
}

/* The next frame, at f->state. True if the task is inside. */
static bool jf_frame_counts(struct jf_frames *f, struct jf_scan *scan,
			    unsigned long addr)
{
	/* Where it was interrupted, @addr is the next instruction. */
	unsigned long at = f->state.signal ? addr : addr - 1;
	const struct jf_span *in = jf_spans_find(&scan->in, at) ?: jf_traced_by(scan, addr);

	if (f->from &&
	    (f->state.signal ||
	     !jf_is_called(scan, f->from, jf_traced_return(f, scan, addr))))
		return true;
	f->from = in ? in->tag : 0;
	f->addr = at;
	if (in)
		scan->where = at;
	return in && !in->tag;
}

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
static bool jf_hook_is_at(const struct llist_node *l, unsigned long place)
{
	return jf_hook_fp(l) == place &&
	       jf_hook_ret(l) != READ_ONCE_NOCHECK(*(unsigned long *)place);
}

/*
 * The unwinder has come to a trampoline, and does not know the address that it stands for. The list
 * of return probes has the former word at this place on the stack; another probe of the same
 * function says that it was the trampoline. The list has the same order as the frames: the search
 * goes on where it ended for the last one, and begins anew only where that finds nothing.
 */
static unsigned long jf_hook_return(struct jf_frames *f, struct task_struct *t)
{
	unsigned long place = f->state.sp - sizeof(long);
	const struct llist_node *l, *from = f->hook;

	for (l = from ?: jf_hooks_of(t); l; l = READ_ONCE(l->next)) {
		if (jf_hook_is_at(l, place)) {
			f->hook = READ_ONCE(l->next);
			return jf_hook_ret(l);
		}
	}
	for (l = from ? jf_hooks_of(t) : NULL; l && l != from;
	     l = READ_ONCE(l->next))
		if (jf_hook_is_at(l, place))
			return jf_hook_ret(l);
	return 0;
}
#else
static unsigned long jf_hook_return(struct jf_frames *f, struct task_struct *t)
{
	return 0;
}
#endif

#if defined(CONFIG_KRETPROBE_ON_RETHOOK) && JF_UNWIND_WARNS_OF_HOOK
/*
 * Where the kernel would warn of the unwinder's requests, it is told that the stack
 * belongs to this task, which does not run and has no list. All its other questions about the task
 * itself have been answered before, but for the stack of function graph. (The current task would do
 * as well, but it is one whose unwinds the kernel complains about.)
 */
static struct task_struct jf_nobody = {
	.__state = TASK_DEAD,
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	.curr_ret_stack = -1,
#endif
};

static void jf_unwind_start(struct unwind_state *state, struct task_struct *t)
{
	unwind_start(state, t, NULL, NULL);
	if (jf_rethook_warns(t))
		state->task = &jf_nobody;
}
#else
static void jf_unwind_start(struct unwind_state *state, struct task_struct *t)
{
	unwind_start(state, t, NULL, NULL);
}
#endif

/*
 * Examine each frame, as long as the unwinder is sure. True: the task is inside.
 * *@whole: it has been unwound to its end.
 */
static bool jf_unwind(struct jf_frames *f, struct task_struct *t,
		      struct jf_scan *scan, bool *whole)
{
	struct pt_regs *regs;
	unsigned long addr;
	bool partial;

	*whole = false;
	for (jf_unwind_start(&f->state, t);
	     !unwind_done(&f->state) && !unwind_error(&f->state);
	     unwind_next_frame(&f->state)) {
		regs = unwind_get_entry_regs(&f->state, &partial);
		if (regs && regs != f->regs) {
			if (user_mode(regs)) {
				*whole = true;
				return f->from;
			}
			if (partial)
				return false;
			if (jf_regs_have(regs, scan))
				return true;
			f->regs = regs;
		}
		addr = unwind_get_return_address(&f->state);
		if (!addr) {
			addr = jf_hook_return(f, t);
			/* No text of the kernel's, it says. */
			if (!addr) {
				f->addr = f->state.ip;
				break;
			}
			f->state.ip = addr;
		}
		if (jf_frame_counts(f, scan, addr))
			return true;
		f->sp = f->state.sp;
	}
	*whole = !unwind_error(&f->state) &&
		 f->state.sp >= (unsigned long)task_pt_regs(t);
	/* A target that nothing has called. */
	return *whole && f->from;
}

/*
 * The unwind has ended in a function that others call: if a return probe is why, it
 * returns to one of the addresses that these have taken. True if none of them is one of a call that
 * has changed.
 */
static bool jf_hooks_excuse(struct task_struct *t, struct jf_scan *scan,
			    struct jf_frames *f)
{
	const struct llist_node *l;

	jf_for_each_hook(l, t)
		if (!jf_is_called(scan, f->from, jf_hook_ret(l)))
			return false;
	return jf_hooks_of(t);
}

/* True if the function with this tag returns to a call that has changed, or nowhere. */
static bool jf_hooks_lead(struct task_struct *t, struct jf_scan *scan,
			  unsigned long tag)
{
	const struct llist_node *l;
	bool any = false;

	jf_for_each_hook(l, t) {
		const struct jf_span *s = jf_spans_find(&scan->in,
							jf_hook_ret(l) - 1);

		if (s && s->tag == tag)
			continue;
		if (!jf_is_called(scan, tag, jf_hook_ret(l)))
			return true;
		any = true;
	}
	return !any;
}

/*
 * As jf_rethook_has(), but for a function that others call, and that is traced, too,
 * and so is no frame: its return address is another one of these addresses.
 */
static bool jf_hooks_have(struct task_struct *t, struct jf_scan *scan)
{
	const struct llist_node *l;
	unsigned long done = 0;

	jf_for_each_hook(l, t) {
		const struct jf_span *s = jf_spans_find(&scan->in,
							jf_hook_ret(l) - 1);

		/* A recursion has the same answer each time. */
		if (!s || (s->tag && s->tag == done))
			continue;
		if (!s->tag || jf_hooks_lead(t, scan, s->tag))
			return jf_lead_into(scan, jf_hook_ret(l) - 1);
		done = s->tag;
	}
	return false;
}

static bool jf_frames_scan(struct task_struct *t, struct jf_scan *scan)
{
	struct jf_frames f = { .sp = READ_ONCE(t->thread.sp) };
	unsigned long where;
	bool whole;

	if (jf_unwind(&f, t, scan, &whole))
		return true;
	if (whole)
		return false;
	if ((f.from && !jf_hooks_excuse(t, scan, &f)) || jf_copy_leads(scan, f.addr))
		return true;
	/* The rest can only be told by words. */
	where = scan->where;
	scan->where = 0;
	if (jf_rest_has(t, f.sp, scan) || jf_graph_has(t, scan) || jf_hooks_have(t, scan))
		return true;
	scan->where = where;
	return false;
}
#else
static bool jf_copies_lead(struct task_struct *t, struct jf_scan *scan)
{
	return false;
}

/* A word may be a leftover, but nothing here can tell. */
static bool jf_frames_scan(struct task_struct *t, struct jf_scan *scan)
{
	return true;
}
#endif

bool jf_arch_scan(struct task_struct *t, struct jf_scan *scan, bool strict)
{
	bool lead;

	if (!jf_scan_begin(scan, t))
		return false;
	lead = jf_words_have(t, READ_ONCE(t->thread.sp), scan) || jf_graph_has(t, scan) ||
	       jf_rethook_has(t, scan);
	if (!lead && !(strict && JF_CAN_UNWIND))
		return false;
	if (jf_rethook_warns(t) && jf_graph_used(t))
		return lead || jf_copies_lead(t, scan);
	scan->where = 0;
	return jf_frames_scan(t, scan);
}
