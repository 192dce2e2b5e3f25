// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of N probes of an event, by the kind of their call: the dispatch of tracepoints. Each
 * probe writes the event's argument, mixed with a number of its own, to the memory that is its
 * data. So a probe left out or one that ran with another one's data does not go unnoticed.
 *
 * To add a way of dispatch, add its four rows.
 */
#include "bench.h"
#include "targets.h"

#include <jumpfunc/entry.h>
#include <jumpfunc/tracepoint.h>

#include <linux/srcu.h>
#include <linux/tracepoint.h>
#if JFB_X86
#include <asm/nospec-branch.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#endif

/* One line each: no false sharing, whatever wrote to them last. */
static struct {
	struct jfb_slot slot ____cacheline_aligned;
} slots[JFB_PROBES] = {
#define SLOT(i)	[i] = { { .id = 100 + i } }
	SLOT(0), SLOT(1), SLOT(2), SLOT(3), SLOT(4), SLOT(5), SLOT(6), SLOT(7),
};

/* --- arrays of function pointers ----------------------------------------- */

/* As the kernel keeps probes: an array that ends with a NULL function. */
struct entry {
	jfb_probe_fn	*func;
	void		*data;
};

#define E(i)	{ jfb_probe_p##i, &slots[i].slot }
static struct entry array_1[] = { E(0), { } };
static struct entry array_2[] = { E(0), E(1), { } };
static struct entry array_4[] = { E(0), E(1), E(2), E(3), { } };
static struct entry array_8[] = { E(0), E(1), E(2), E(3), E(4), E(5), E(6),
				  E(7), { } };

static struct entry *arrays[JFB_PROBES + 1] = {
	[1] = array_1, [2] = array_2, [4] = array_4, [8] = array_8,
};

#if JFB_X86
static __always_inline void plain_call(jfb_probe_fn *f, void *data,
				       unsigned long arg)
{
	unsigned long rax = (unsigned long)f, rdi = (unsigned long)data;
	unsigned long rsi = arg;

	asm volatile(ANNOTATE_RETPOLINE_SAFE "\n\t"
		     "call *%%rax\n\t"
		     : "+a" (rax), "+D" (rdi), "+S" (rsi), ASM_CALL_CONSTRAINT
		     : : "rdx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
}
#else
#define plain_call(f, data, arg)	((f)(data, arg))
#endif

/*
 * A function that is called for each event and calls the probes; the loops that
 * measure are all the same but for it.
 */
#define EVENTS(name, call)						\
static noinline notrace __aligned(64) unsigned long			\
name(const struct jfb_row *row, unsigned long n, unsigned long x)	\
{									\
	struct entry *array = arrays[row->probes];			\
									\
	for (; n; n--, x++) {						\
		OPTIMIZER_HIDE_VAR(array);				\
		call;							\
	}								\
	return x;							\
}

static noinline notrace void dispatch_plain(struct entry *e, unsigned long arg)
{
	do {
		plain_call(READ_ONCE(e->func), READ_ONCE(e->data), arg);
	} while ((++e)->func);
}

static noinline notrace void dispatch_pointer(struct entry *e,
					      unsigned long arg)
{
	do {
		READ_ONCE(e->func)(READ_ONCE(e->data), arg);
	} while ((++e)->func);
}

static noinline notrace void dispatch_none(struct entry *e, unsigned long arg)
{
	asm volatile("" : : "r" (e), "r" (arg) : "memory");
}

EVENTS(events_loop, )
EVENTS(events_none, dispatch_none(array, x))
EVENTS(events_plain, dispatch_plain(array, x))
EVENTS(events_pointer, dispatch_pointer(array, x))

/* --- direct calls --------------------------------------------------------- */

/* The compiler's own: no dispatch decided at run time can do better. */
#define D(i)	jfb_probe_p##i(&slots[i].slot, arg);
#define DIRECT(n, calls)						\
static noinline notrace void dispatch_direct_##n(unsigned long arg)	\
{									\
	calls								\
}									\
EVENTS(events_direct_##n, dispatch_direct_##n(x))
DIRECT(1, D(0))
DIRECT(2, D(0) D(1))
DIRECT(4, D(0) D(1) D(2) D(3))
DIRECT(8, D(0) D(1) D(2) D(3) D(4) D(5) D(6) D(7))

/* A dynamic function: one probe, at a site in place. */
DEFINE_DYNFUNC(jfb_probe, jfb_probe_p0);
EVENTS(events_dynfunc,
       dynfunc_call(jfb_probe, (void *)&slots[0].slot, x))
/* The same with the contracts that it does not have by default. */
DEFINE_DYNFUNC(jfb_probe_rcu, jfb_probe_p0, JF_RCU);
EVENTS(events_dynfunc_rcu,
       dynfunc_call(jfb_probe_rcu, (void *)&slots[0].slot, x))
DEFINE_DYNFUNC(jfb_probe_sleepable, jfb_probe_p0, JF_SLEEPABLE);
EVENTS(events_dynfunc_sleepable,
       dynfunc_call(jfb_probe_sleepable, (void *)&slots[0].slot, x))

/* --- jumpfunc's tracepoints ------------------------------------------------ */

#define JF_TRACEPOINT(n, contract...)					\
DECLARE_JF_TRACE(jfb_##n, JF_PROTO(unsigned long arg), JF_ARGS(arg), ##contract); \
DEFINE_JF_TRACE(jfb_##n);						\
EVENTS(events_chain_##n, jf_trace_jfb_##n(x))				\
									\
static int prepare_chain_##n(const struct jfb_row *row)			\
{									\
	unsigned int i;							\
	int err;							\
									\
	for (i = 0; i < row->probes; i++) {				\
		err = register_jf_trace_jfb_##n(jfb_probes[i],		\
						&slots[i].slot);	\
		if (err) {						\
			detach_chain(&__jf_trace_jfb_##n, i);		\
			return err;					\
		}							\
	}								\
	if (__jf_func_query(__jf_trace_jfb_##n.call) ==			\
	    __jf_trace_jfb_##n.iter)					\
		iterates = true;					\
	return 0;							\
}									\
									\
static void finish_chain_##n(const struct jfb_row *row)			\
{									\
	detach_chain(&__jf_trace_jfb_##n, row->probes);			\
}

/* True if one of them had no dispatch image. */
static bool iterates;

static void detach_chain(struct jf_tracepoint *tp, unsigned int num)
{
	while (num--) {
		int err = __jf_trace_unregister(tp, jfb_probes[num],
						&slots[num].slot);

		if (err)
			pr_warn("%s: cannot remove a probe (%d); it stays until the module goes\n",
				tp->name, err);
	}
}

JF_TRACEPOINT(0)
JF_TRACEPOINT(1)
JF_TRACEPOINT(2)
JF_TRACEPOINT(4)
JF_TRACEPOINT(8)
/* The cost of contracts; the default is the one of those above. */
JF_TRACEPOINT(bare, JF_BARE)
JF_TRACEPOINT(sleepable, JF_SLEEPABLE)

const char *jfb_chain(void)
{
	return iterates ? "the iterator: no dispatch image was to be had" :
			  "dispatch images";
}

/* --- the kernel's tracepoints ---------------------------------------------- */

/* Since 6.16 DECLARE_TRACE() changes the name that it is given. */
#ifndef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT	DECLARE_TRACE
#define DECLARE_TRACE_EVENT_SYSCALL	DECLARE_TRACE_SYSCALL
#endif

#define TRACEPOINT(n)							\
DECLARE_TRACE_EVENT(jfb_kernel_##n, TP_PROTO(unsigned long arg), TP_ARGS(arg)); \
DEFINE_TRACE(jfb_kernel_##n, TP_PROTO(unsigned long arg), TP_ARGS(arg));	\
EVENTS(events_kernel_##n, trace_jfb_kernel_##n(x))
TRACEPOINT(0)
TRACEPOINT(1)
TRACEPOINT(2)
TRACEPOINT(4)
TRACEPOINT(8)

/* The one whose probes may fault, of kernels that have it (6.13 and later). */
#ifdef DECLARE_TRACE_SYSCALL
DECLARE_TRACE_EVENT_SYSCALL(jfb_faultable, TP_PROTO(unsigned long arg),
			    TP_ARGS(arg));
DEFINE_TRACE_SYSCALL(jfb_faultable, NULL, NULL, TP_PROTO(unsigned long arg),
		     TP_ARGS(arg));
EVENTS(events_faultable, trace_jfb_faultable(x))
#define FAULTABLE	(&__tracepoint_jfb_faultable)
#else
#define FAULTABLE	NULL
#endif

static struct tracepoint *tracepoint_of(const struct jfb_row *row)
{
	if (row->flags & JFB_SLEEPS)
		return FAULTABLE;
	switch (row->probes) {
	case 1:
		return &__tracepoint_jfb_kernel_1;
	case 2:
		return &__tracepoint_jfb_kernel_2;
	case 4:
		return &__tracepoint_jfb_kernel_4;
	default:
		return &__tracepoint_jfb_kernel_8;
	}
}

static void detach(const struct jfb_row *row, unsigned int num)
{
	while (num--)
		tracepoint_probe_unregister(tracepoint_of(row), jfb_probes[num],
					    &slots[num].slot);
	tracepoint_synchronize_unregister();
}

static int prepare_kernel(const struct jfb_row *row)
{
	unsigned int i;
	int err;

	for (i = 0; i < row->probes; i++) {
		err = tracepoint_probe_register(tracepoint_of(row),
						jfb_probes[i], &slots[i].slot);
		if (err) {
			detach(row, i);
			return err;
		}
	}
	return 0;
}

static void finish_kernel(const struct jfb_row *row)
{
	detach(row, row->probes);
}

/* --- functions that are entered by ftrace ----------------------------------- */

/* Without the function tracer there is nothing to enable. */
#ifdef CONFIG_DYNAMIC_FTRACE
static int prepare_entry(const struct jfb_row *row)
{
	int err = register_jf_trace_jf_entry(jfb_entry_probe, &slots[0].slot);

	if (err)
		return err;
	err = jf_probes_set("+ftrace:" KBUILD_MODNAME ":jfb_entered:entry");
	if (err && unregister_jf_trace_jf_entry(jfb_entry_probe, &slots[0].slot))
		pr_warn("cannot unregister a probe\n");
	return err;
}

static void finish_entry(const struct jfb_row *row)
{
	int err = jf_probes_set("-ftrace:" KBUILD_MODNAME ":jfb_entered:entry");

	if (unregister_jf_trace_jf_entry(jfb_entry_probe, &slots[0].slot))
		pr_warn("cannot unregister a probe\n");
	if (err)
		pr_warn("cannot disable a function (%d)\n", err);
}

EVENTS(events_entry, jfb_entered(x))
EVENTS(events_no_entry, jfb_not_entered(x))
#endif

/* --- rows -------------------------------------------------------------------- */

static bool check(const struct jfb_row *row, unsigned long n, unsigned long x,
		  unsigned long y)
{
	unsigned int i;

	if (y != x + n)
		return false;
	for (i = 0; i < row->probes; i++) {
		struct jfb_slot *slot = &slots[i].slot;

		if (READ_ONCE(slot->last) != y - 1 + slot->id)
			return false;
		/* The next one has to write it itself. */
		WRITE_ONCE(slot->last, 0);
	}
	return true;
}

#define ROWS(n)								\
	{ "direct", "direct calls of the probes", 1, n, 0,		\
	  events_direct_##n, check },					\
	{ "chain", "jf_trace_name()", 1, n, JFB_BASE,			\
	  events_chain_##n, check, prepare_chain_##n, finish_chain_##n }, \
	{ "array-plain", "array of pointers, without a retpoline", 1, n, \
	  0, events_plain, check },					\
	{ "array-pointer", "array of pointers, as this kernel runs it",	\
	  1, n, 0, events_pointer, check },				\
	{ "kernel", "trace_name(), a tracepoint of the kernel's own", 1, \
	  n, 0, events_kernel_##n, check, prepare_kernel, finish_kernel }

static const struct jfb_row rows[] = {
	{ "none", "the loop alone, subtracted below", 1, 0, JFB_LOOP,
	  events_loop, check },
	{ "call", "call of a function that calls nothing", 1, 0, 0,
	  events_none, check },
	{ "chain", "jf_trace_name(), no probe", 1, 0, 0,
	  events_chain_0, check, prepare_chain_0, finish_chain_0 },
	{ "kernel", "trace_name(), no probe", 1, 0, 0,
	  events_kernel_0, check },
#ifdef CONFIG_DYNAMIC_FTRACE
	{ "ftrace", "a function that ftrace could enter, off", 1, 0, 0,
	  events_no_entry, check },
#endif
	ROWS(1),
#ifdef CONFIG_DYNAMIC_FTRACE
	{ "ftrace", "a function that ftrace enters, told to jf_entry", 1, 1,
	  0, events_entry, check, prepare_entry, finish_entry },
#endif
	{ "chain-bare", "jf_trace_name(), nothing around its probe", 1, 1, 0,
	  events_chain_bare, check, prepare_chain_bare, finish_chain_bare },
	{ "chain-sleepable", "jf_trace_name(), its probe may sleep", 1, 1,
	  JFB_SLEEPS, events_chain_sleepable, check, prepare_chain_sleepable,
	  finish_chain_sleepable },
#ifdef DECLARE_TRACE_SYSCALL
	{ "kernel-faultable", "trace_name(), its probe may fault", 1, 1,
	  JFB_SLEEPS, events_faultable, check, prepare_kernel, finish_kernel },
#endif
	{ "inline", "dynfunc_call(), a site patched in place", 1, 1, 0,
	  events_dynfunc, check },
	{ "inline-rcu", "dynfunc_call(), with preemption off", 1, 1, 0,
	  events_dynfunc_rcu, check },
	{ "inline-sleepable", "dynfunc_call(), its target may sleep", 1, 1,
	  JFB_SLEEPS, events_dynfunc_sleepable, check },
	ROWS(2),
	ROWS(4),
	ROWS(8),
};

static int prepare(void)
{
	iterates = false;
	return 0;
}

const struct jfb_suite jfb_arrays = {
	.name	= "arrays",
	.group	= "subscribers",
	.title	= "one event, told to N subscribers",
	.rows	= rows,
	.num	= ARRAY_SIZE(rows),
	.prepare = prepare,
};
