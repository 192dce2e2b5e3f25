// SPDX-License-Identifier: GPL-2.0
/*
 * Breakpoints. The test plants INT3s on sites itself, so that every call is sure
 * to run into one, as calls may while a batch is under way.
 *
 * Faults that were tried, by the case that they broke:
 *   emulate	the handler without "ax = 0"
 *   foreign	the handler returns NOTIFY_STOP for addresses that are not in the map
 *   kprobes	__JF_SITE_REC() without its bug-table entry
 */
#include "jf_test.h"

#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>

#include "../nmi.h"

static const u8 int3 = 0xcc;

static noinline long add(long a, long b, long c, long d, long e, long f)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

static noinline long subtract(long a, long b, long c, long d, long e, long f)
{
	return a - 2 * b - 3 * c - 4 * d - 5 * e - 6 * f;
}

static atomic_t hooked;

static noinline void hook(long a)
{
	atomic_add(a, &hooked);
}

DEFINE_DYNFUNC(int3_op, add);
DEFINE_DYNFUNC_NULL(int3_hook, hook);
DEFINE_DYNFUNC_RET0(int3_ret0, add);

static noinline long site_op(long a, long b)
{
	long keep = a * 77;

	OPTIMIZER_HIDE_VAR(keep);
	a = dynfunc_call(int3_op, a, b, 3L, 4L, 5L, 6L);
	return a + keep;
}

static noinline long tramp_op(long a, long b)
{
	long keep = a * 77;

	OPTIMIZER_HIDE_VAR(keep);
	a = dynfunc_int3_op(a, b, 3, 4, 5, 6);
	return a + keep;
}

static noinline void site_hook(long a)
{
	dynfunc_call(int3_hook, a);
}

static noinline long site_ret0(long a)
{
	return dynfunc_call(int3_ret0, a, 2L, 3L, 4L, 5L, 6L);
}

/* Where the trampoline's jump stands. */
static unsigned long jump_of(const void *tramp)
{
	const u8 *p = tramp;

	OPTIMIZER_HIDE_VAR(p);
	return (unsigned long)(*p == 0xe9 ? p : p + 4);
}

#define NPLANTS	5

static unsigned long planted[NPLANTS];
static u8 planted_byte[NPLANTS];

static int plant(bool on)
{
	unsigned int i;
	int err = 0;

	if (on) {
		planted[0] = jft_site_of(&__jf_func_int3_op, site_op);
		planted[1] = jump_of(&dynfunc_int3_op);
		planted[2] = jft_site_of(&__jf_func_int3_hook, site_hook);
		planted[3] = jump_of(&dynfunc_int3_hook);
		planted[4] = jft_site_of(&__jf_func_int3_ret0, site_ret0);
	}
	for (i = 0; i < NPLANTS; i++) {
		if (on)
			planted_byte[i] = *(u8 *)planted[i];
		err |= jft_poke(planted[i], on ? &int3 : &planted_byte[i], 1);
	}
	return err;
}

/* --- in every context --------------------------------------------------------- */

struct calls {
	long site, tramp, ret0, tramp_ret0;
	int hooks;
};

static void make_calls(void *arg)
{
	struct calls *c = arg;
	int before = atomic_read(&hooked);

	c->site = site_op(100, 2);
	c->tramp = tramp_op(100, 2);
	c->ret0 = site_ret0(1);
	c->tramp_ret0 = dynfunc_int3_ret0(1, 2, 3, 4, 5, 6);
	site_hook(3);
	dynfunc_int3_hook(4);
	c->hooks = atomic_read(&hooked) - before;
}

static struct calls nmi_calls;
static bool nmi_done;

static void call_from_nmi(void)
{
	make_calls(&nmi_calls);
	/* Pairs with the load of the waiting task. */
	smp_store_release(&nmi_done, true);
}

static void check_calls(const struct calls *c, bool changed)
{
	CHECK_EQ(c->site, 7700 + (changed ? 100 - 86 - 4 - 0 : 100 + 86 + 4));
	CHECK_EQ(c->tramp, c->site);
	CHECK_EQ(c->ret0, changed ? 1 + 4 + 9 + 16 + 25 + 36 : 0);
	CHECK_EQ(c->tramp_ret0, c->ret0);
	CHECK_EQ(c->hooks, changed ? 7 : 0);
}

static void call_everywhere(bool changed)
{
	struct calls c = { };
	unsigned int cpu;
	int i;

	make_calls(&c);
	check_calls(&c, changed);

	/* Interrupts: here, and on another CPU. */
	cpu = get_cpu();
	memset(&c, 0, sizeof(c));
	smp_call_function_single(cpu, make_calls, &c, 1);
	put_cpu();
	check_calls(&c, changed);
	cpu = cpumask_any_but(cpu_online_mask, cpu);
	if (cpu >= nr_cpu_ids)
		return;
	memset(&c, 0, sizeof(c));
	smp_call_function_single(cpu, make_calls, &c, 1);
	check_calls(&c, changed);

	/* An NMI on another CPU. */
	memset(&nmi_calls, 0, sizeof(nmi_calls));
	WRITE_ONCE(nmi_done, false);
	nmi_send(cpu);
	/* Pair with the store of the NMI. */
	for (i = 0; i < 5000 && !smp_load_acquire(&nmi_done); i++)
		usleep_range(1000, 2000);
	if (CHECK(smp_load_acquire(&nmi_done)))
		check_calls(&nmi_calls, changed);
}

static int test_emulate(void)
{
	struct jf_batch b;

	if (!CHECK_EQ(nmi_start(call_from_nmi), 0))
		return 0;
	/* The initial state: call, nop, "eax = 0", jumps. */
	call_everywhere(false);
	CHECK_EQ(plant(true), 0);
	call_everywhere(false);
	/* The engine does not know our breakpoints: it keeps off. */
	CHECK_EQ(dynfunc_update(int3_op, subtract), -EBUSY);
	CHECK_EQ(dynfunc_update(int3_hook, hook), -EBUSY);
	call_everywhere(false);
	CHECK_EQ(plant(false), 0);

	jf_batch_init(&b);
	dynfunc_batch_set(&b, int3_op, subtract);
	dynfunc_batch_set(&b, int3_hook, hook);
	dynfunc_batch_set(&b, int3_ret0, add);
	CHECK_EQ(jf_batch_commit(&b), 0);
	CHECK_EQ(site_op(100, 2), 7700 + 100 - 4 - 9 - 16 - 25 - 36);
	CHECK_EQ(plant(true), 0);
	CHECK_EQ(site_op(100, 2), 7700 + 100 - 4 - 9 - 16 - 25 - 36);
	call_everywhere(true);
	CHECK_EQ(plant(false), 0);
	call_everywhere(true);

	dynfunc_batch_set(&b, int3_op, add);
	dynfunc_batch_set(&b, int3_hook, NULL);
	dynfunc_batch_set(&b, int3_ret0, NULL);
	CHECK_EQ(jf_batch_commit(&b), 0);
	call_everywhere(false);
	nmi_stop();
	return 0;
}

/* --- stack traces ----------------------------------------------------------------- */

#define DEPTH	24

static unsigned long trace[DEPTH];
static unsigned int depth;

static noinline long traced(long a)
{
	depth = stack_trace_save(trace, DEPTH, 0);
	return a + 1;
}

DEFINE_DYNFUNC(int3_trace, traced);

static noinline long trace_site(long a)
{
	a = dynfunc_call(int3_trace, a);
	OPTIMIZER_HIDE_VAR(a);
	return a + 1;
}

static noinline long trace_tramp(long a)
{
	a = dynfunc_int3_trace(a);
	OPTIMIZER_HIDE_VAR(a);
	return a + 1;
}

/* The number of the entry in [from, from + 64), or -1. */
static int entry_in(const void *from)
{
	unsigned int i;

	for (i = 0; i < depth; i++)
		if (trace[i] - (unsigned long)from < 64)
			return i;
	return -1;
}

static void check_trace(long (*caller)(long), unsigned long patch)
{
	unsigned long plain[DEPTH];
	unsigned int plain_depth = 0;
	u8 byte = *(u8 *)patch;
	int round, i;

	/* The second time with a breakpoint; the call stands here only once. */
	for (round = 0; round < 2; round++) {
		OPTIMIZER_HIDE_VAR(caller);
		if (round)
			CHECK_EQ(jft_poke(patch, &int3, 1), 0);
		CHECK_EQ(caller(5), 7);
		if (round)
			CHECK_EQ(jft_poke(patch, &byte, 1), 0);
		/* The target, its caller, us, and so on up to the system call. */
		CHECK(depth > 5);
		CHECK_EQ(entry_in(caller), entry_in(traced) + 1);
		CHECK(entry_in(traced) >= 0);
		if (!round) {
			memcpy(plain, trace, sizeof(plain));
			plain_depth = depth;
		} else {
			CHECK_EQ(depth, plain_depth);
			/* But for the line above that called. */
			for (i = 0; i < depth; i++)
				if (i != entry_in(caller) + 1)
					CHECK_EQ(trace[i], plain[i]);
		}
	}
	if (patch == jft_site_of(&__jf_func_int3_trace, trace_site))
		CHECK_EQ(trace[entry_in(caller)], patch + 5);
}

static int test_stack(void)
{
	check_trace(trace_site, jft_site_of(&__jf_func_int3_trace, trace_site));
	check_trace(trace_tramp, jump_of(&dynfunc_int3_trace));
	return 0;
}

/* --- a foreign breakpoint ------------------------------------------------------------ */

static int foreign_hits;
extern u8 jft_foreign_int3[];

static int foreign_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	unsigned long ip = (unsigned long)jft_foreign_int3;

	/* objtool would take the sum for the address of a function. */
	OPTIMIZER_HIDE_VAR(ip);
	if (val != DIE_INT3 || regs->ip != ip + 1)
		return NOTIFY_DONE;
	foreign_hits++;
	return NOTIFY_STOP;
}

static struct notifier_block foreign_nb = {
	.notifier_call = foreign_notify,
	/* After jumpfunc. */
	.priority = 0,
};

static noinline long hit_foreign(long a)
{
	asm volatile("jft_foreign_int3:\n\t" __JF_NOENDBR "int3" : "+r" (a));
	return a + 1;
}

static int test_foreign(void)
{
	int i;

	if (!CHECK_EQ(register_die_notifier(&foreign_nb), 0))
		return 0;
	for (i = 1; i <= 10; i++) {
		CHECK_EQ(hit_foreign(i), i + 1);
		CHECK_EQ(foreign_hits, i);
	}
	unregister_die_notifier(&foreign_nb);
	return 0;
}

/* --- kprobes ---------------------------------------------------------------------------- */

static int probe_hits;

static int probe_handler(struct kprobe *p, struct pt_regs *regs)
{
	probe_hits++;
	return 0;
}
NOKPROBE_SYMBOL(probe_handler);

static int try_probe(unsigned long addr)
{
	struct kprobe p = { .addr = (kprobe_opcode_t *)addr, .pre_handler = probe_handler };
	int err = register_kprobe(&p);

	if (!err)
		unregister_kprobe(&p);
	return err;
}

static int test_kprobes(void)
{
	struct kprobe p = { .addr = (kprobe_opcode_t *)add, .pre_handler = probe_handler };
	struct kprobe q = { .addr = (kprobe_opcode_t *)subtract, .pre_handler = probe_handler };
	struct kprobe r = { .addr = (kprobe_opcode_t *)site_op, .pre_handler = probe_handler };
	unsigned long s, tramp = (unsigned long)&dynfunc_int3_op;
	int i, err;

	/* Sites and trampolines refuse, whatever stands there now. */
	CHECK_EQ(try_probe(jft_site_of(&__jf_func_int3_op, site_op)), -EINVAL);
	CHECK_EQ(try_probe(jft_site_of(&__jf_func_int3_hook, site_hook)), -EINVAL);
	CHECK_EQ(try_probe(jft_site_of(&__jf_func_int3_ret0, site_ret0)), -EINVAL);
	CHECK_EQ(try_probe(tramp), -EINVAL);
	CHECK_EQ(try_probe(jump_of(&dynfunc_int3_op)), -EINVAL);
	CHECK_EQ(dynfunc_update(int3_hook, hook), 0);
	CHECK_EQ(try_probe(jft_site_of(&__jf_func_int3_hook, site_hook)), -EINVAL);
	CHECK_EQ(dynfunc_update(int3_hook, NULL), 0);
	/* Bytes within a site are no instruction's beginning. */
	for (s = 1; s < 5; s++)
		CHECK(try_probe(jft_site_of(&__jf_func_int3_op, site_op) + s) < 0);

	/* Targets, and functions with sites in them, are like any other function. */
	err = register_kprobe(&p);
	CHECK_EQ(err, 0);
	CHECK_EQ(register_kprobe(&q), 0);
	CHECK_EQ(register_kprobe(&r), 0);
	if (err)
		return 0;
	for (i = 0; i < 8; i++) {
		probe_hits = 0;
		CHECK_EQ(site_op(100, 2), 7700 + (i & 1 ? 100 - 90 : 100 + 90));
		CHECK_EQ(probe_hits, 2);
		CHECK_EQ(tramp_op(100, 2), 7700 + (i & 1 ? 100 - 90 : 100 + 90));
		CHECK_EQ(probe_hits, 3);
		err = i & 1 ? dynfunc_update(int3_op, add) : dynfunc_update(int3_op, subtract);
		CHECK_EQ(err, 0);
	}
	unregister_kprobe(&p);
	unregister_kprobe(&q);
	unregister_kprobe(&r);
	probe_hits = 0;
	CHECK_EQ(site_op(100, 2), 7890);
	CHECK_EQ(probe_hits, 0);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "emulate", test_emulate },
	{ "stack", test_stack },
	{ "foreign", test_foreign },
	{ "kprobes", test_kprobes },
	{ }
};

module_init(jft_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Breakpoints of jumpfunc and of others, and stack traces through them");
