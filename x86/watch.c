// SPDX-License-Identifier: GPL-2.0
/*
 * Has a task left what is searched for, although each scan finds it inside?
 *
 * A key that was on, off and on again leads to code that it had led to before, and so
 * does a dynamic function that was set again. A task that is found there may have been
 * there all the time, or have come anew. A thread whose main loop sleeps there is found
 * there by each scan, and would be waited for without end.
 *
 * So for as long as such a quiesce lasts, kprobes are set on instructions outside of what
 * is searched for, from which the task goes there. When the task executes one, it is
 * noted up to where the stack reached that its function has: from there on lies the
 * function's return address, and what its callers have. At that time
 *
 *	the function with the instruction is not in what is searched for, and
 *	the functions that it called before have returned: nothing is below.
 *
 * So whatever a later scan finds up to that place has been entered since, by a call or
 * from the function itself, hence after the change. What callers have still counts: a
 * task may execute such an instruction in a call from code that it has never left. (An
 * address that the task loads in order to call it is called by the next instruction. A
 * task is watched after it was found inside in several rounds, and has run in between; so
 * it does not hold one that it loaded before the change.)
 *
 *   the task, in the kprobe		the scan
 *   writes its own entry		reads it, with all CPUs stopped
 *
 * That stop_machine() makes each CPU execute in a thread of its own orders them. Only the
 * task itself writes its entry, and a kprobe that is met in the handler of another one
 * calls no handler.
 *
 * Where a kprobe cannot be set, or no instruction is found, the quiesce waits as it would
 * without all this.
 */
#include "x86/x86.h"

#include "arch/stack.h"

#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#if defined(CONFIG_KPROBES) && defined(CONFIG_UNWINDER_ORC)

/* Tasks and places, at most. More are waited for as long as they are found inside. */
#define JF_WATCH_TASKS	256U
#define JF_WATCH_BITS	const_ilog2(JF_WATCH_TASKS)
#define JF_WATCH_PLACES	32
/* So many of the places from which one task comes. It may come by another of them. */
#define JF_WATCH_EACH	3
/* The length of an endbr, and of what the kernel makes of it. */
#define JF_ENDBR	4

/**
 * struct jf_passed - a task that is watched
 * @task: the task, which may have ended since; NULL: none
 * @top:  the stack that functions have which it has called since reaches up to here;
 *        0: it has met no kprobe
 */
struct jf_passed {
	struct task_struct	*task;
	unsigned long		top;
};

/**
 * struct jf_place - an instruction with a kprobe of ours
 * @probe: the kprobe
 * @watch: of which it is
 * @asked: where it was to be; at an endbr, kprobes moves it
 */
struct jf_place {
	struct kprobe		probe;
	struct jf_watch		*watch;
	unsigned long		asked;
};

/**
 * struct jf_watch - tasks that a quiesce watches
 * @passed: they, by a hash of the task. None is removed, or what its task is just
 *          writing would be another one's
 * @num_tasks: how many there are
 * @place:  where kprobes are set
 * @num_places: how many there are
 */
struct jf_watch {
	struct jf_passed	passed[JF_WATCH_TASKS];
	unsigned int		num_tasks;
	struct jf_place		place[JF_WATCH_PLACES];
	unsigned int		num_places;
};

/* The entry of @t, or the one that is free for it. Some are always free. */
static struct jf_passed *jf_passed_find(struct jf_watch *w, const struct task_struct *t)
{
	unsigned int i = hash_ptr(t, JF_WATCH_BITS);
	const struct task_struct *is;

	for (;; i = (i + 1) % JF_WATCH_TASKS) {
		is = READ_ONCE(w->passed[i].task);
		if (!is || is == t)
			return &w->passed[i];
	}
}
NOKPROBE_SYMBOL(jf_passed_find);

/* Up to where the stack of the interrupted function reaches; 0: that cannot be told. */
static unsigned long jf_stack_top(const struct kprobe *p, const struct pt_regs *regs)
{
	struct pt_regs at = *regs;
	struct unwind_state state;

	at.ip = (unsigned long)p->addr;
	/* It begins with the caller. */
	unwind_start(&state, current, &at, NULL);
	if (unwind_done(&state) || unwind_error(&state) ||
	    state.stack_info.type != STACK_TYPE_TASK || state.sp <= at.sp ||
	    state.sp - (unsigned long)task_stack_page(current) > THREAD_SIZE)
		return 0;
	return state.sp;
}
NOKPROBE_SYMBOL(jf_stack_top);

static int jf_watch_hit(struct kprobe *p, struct pt_regs *regs)
{
	struct jf_watch *w = container_of(p, struct jf_place, probe)->watch;
	struct jf_passed *t = jf_passed_find(w, current);
	unsigned long top;

	if (READ_ONCE(t->task) != current ||
	    regs->sp - (unsigned long)task_stack_page(current) >= THREAD_SIZE)
		return 0;
	top = jf_stack_top(p, regs);
	if (top > t->top)
		WRITE_ONCE(t->top, top);
	return 0;
}
NOKPROBE_SYMBOL(jf_watch_hit);

/*
 * With this, kprobes makes no copy of the instruction that is jumped to. Where ftrace calls
 * a function's tracers none is made anyway, and there it must not be: with and without it
 * are two kinds of tracers there, and kprobes mistakes one for the other once a kprobe
 * without it, as those of tools are, stood there first (6.1, 7.2).
 */
static void jf_watch_after(struct kprobe *p, struct pt_regs *regs,
			   unsigned long flags)
{
}
NOKPROBE_SYMBOL(jf_watch_after);

static int jf_watch_task(struct jf_watch *w, struct task_struct *t)
{
	struct jf_passed *p = jf_passed_find(w, t);

	if (p->task)
		return 0;
	if (w->num_tasks >= JF_WATCH_TASKS / 4 * 3)
		return -ENOSPC;
	w->num_tasks++;
	/* Read by the task itself: from now on, or a bit later. */
	WRITE_ONCE(p->task, t);
	return 0;
}

/*
 * May ftrace have its call here, or after an endbr? It is a nop of five bytes, or a call.
 * An instruction like that elsewhere does without @post_handler as well: of a call no copy
 * is made.
 */
static bool jf_is_traced(unsigned long addr)
{
	u8 b[JF_ENDBR + JF_INSN_SIZE];
	unsigned int i;

	if (copy_from_kernel_nofault(b, (void *)addr, sizeof(b)))
		return true;
	for (i = 0; i <= JF_ENDBR; i += JF_ENDBR)
		if (b[i] == JF_OPCODE_CALL ||
		    (b[i] == 0x0f && b[i + 1] == 0x1f && b[i + 2] == 0x44))
			return true;
	return false;
}

static int jf_watch_place(struct jf_watch *w, unsigned long addr)
{
	struct jf_place *p;
	unsigned int i;
	int err;

	for (i = 0; i < w->num_places; i++)
		if (w->place[i].asked == addr ||
		    (unsigned long)w->place[i].probe.addr == addr)
			return 0;
	if (i == JF_WATCH_PLACES)
		return -ENOSPC;
	p = &w->place[i];
	memset(p, 0, sizeof(*p));
	p->watch = w;
	p->asked = addr;
	p->probe.addr = (kprobe_opcode_t *)addr;
	p->probe.pre_handler = jf_watch_hit;
	if (!jf_is_traced(addr))
		p->probe.post_handler = jf_watch_after;
	err = register_kprobe(&p->probe);
	if (!err)
		w->num_places++;
	return err;
}

int jf_arch_watch(struct jf_watch **watch, struct task_struct *t,
		  const unsigned long *place, unsigned int num)
{
	struct jf_watch *w = *watch;
	unsigned int i, set = 0;
	int err;

	if (!w) {
		w = kvzalloc(sizeof(*w), GFP_KERNEL);
		if (!w)
			return -ENOMEM;
		*watch = w;
	}
	err = jf_watch_task(w, t);
	if (err)
		return err;
	for (i = 0; set < JF_WATCH_EACH && i < num; i++) {
		err = jf_watch_place(w, place[i]);
		set += !err;
	}
	return set ? 0 : err;
}

unsigned long jf_arch_watch_top(struct jf_watch *w, const struct task_struct *t)
{
	return w ? READ_ONCE(jf_passed_find(w, t)->top) : 0;
}

void jf_arch_watch_end(struct jf_watch *w)
{
	struct kprobe *probes[JF_WATCH_PLACES];
	unsigned int i;

	if (!w)
		return;
	for (i = 0; i < w->num_places; i++)
		probes[i] = &w->place[i].probe;
	/* Waits until no handler runs. */
	if (i)
		unregister_kprobes(probes, i);
	kvfree(w);
}
#else
/* Nothing tells there. */
int jf_arch_watch(struct jf_watch **watch, struct task_struct *t,
		  const unsigned long *place, unsigned int num)
{
	return -EOPNOTSUPP;
}

unsigned long jf_arch_watch_top(struct jf_watch *w, const struct task_struct *t)
{
	return 0;
}

void jf_arch_watch_end(struct jf_watch *w)
{
}
#endif
