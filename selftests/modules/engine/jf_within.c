// SPDX-License-Identifier: GPL-2.0
/*
 * Sites in callbacks that a breakpoint itself leads to: in an ftrace callback,
 * which the functions that handle a breakpoint call as all others do, in a die
 * notifier, which stands beside jumpfunc's own, and in the handler of a kprobe.
 * Each is called all the time while the entities change.
 *
 * Two forms cannot work, and are not tried here. A callback of all functions
 * without ftrace's protection against recursion hangs the machine, as a breakpoint
 * leads to functions that call it. A die notifier that is asked before jumpfunc's
 * (one of a priority of INT_MAX) is asked again for the breakpoint at its own
 * site, until the stack is full.
 */
#include "jf_test.h"

#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/jiffies.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>

#include <jumpfunc/branch.h>

#include "../callers.h"

static unsigned int seconds = 2;
module_param(seconds, uint, 0644);
MODULE_PARM_DESC(seconds, "how long each of the callbacks is tried");

static DEFINE_JF_KEY_FALSE(within_key);

static notrace noinline long one(long x)
{
	return x + 1;
}

static notrace noinline long two(long x)
{
	return x + 2;
}

DEFINE_DYNFUNC(within_op, one);

/* Half of it is the number of changes made; odd while one is under way. */
static unsigned long phase;
static DEFINE_PER_CPU(unsigned long, runs);
static DEFINE_PER_CPU(unsigned long, bad);

/* All three kinds of sites; the effect of each callback. */
static notrace __always_inline void sites(void)
{
	unsigned long before = READ_ONCE(phase);
	bool on = false;
	long x, y;

	/* Pairs with the barriers in change(). */
	smp_rmb();
	if (jf_branch_unlikely(&within_key))
		on = true;
	x = dynfunc_call(within_op, 100L);
	y = dynfunc_within_op(100L);
	smp_rmb();
	this_cpu_inc(runs);
	if (before & 1 || READ_ONCE(phase) != before) {
		if ((x != 101 && x != 102) || (y != 101 && y != 102))
			this_cpu_inc(bad);
	} else if (on != !!(before & 2) || x != (on ? 102 : 101) || y != x) {
		this_cpu_inc(bad);
	}
}

static int set(bool on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &within_key, on);
	dynfunc_batch_set(&b, within_op, on ? two : one);
	return jf_batch_commit(&b);
}

/*
 * The places of the callbacks: two instructions for breakpoints, of a byte each, and not one that
 * occurs in the nop that the function begins with.
 */
#define CMC	0xf5

static noinline void called(void)
{
	asm volatile("cmc; cmc" : : : "memory", "cc");
}

/* After each function's first instructions. */
static unsigned long place(void)
{
	const u8 *p = (void *)called;

	OPTIMIZER_HIDE_VAR(p);
	while (*p != CMC)
		p++;
	return (unsigned long)p;
}

static unsigned long break_at;

static int call(void *unused)
{
	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 50; i++)
			called();
		usleep_range(50, 200);
	}
	return 0;
}

static struct callers callers = { .name = "jf_within", .thread = call };

/* Changes while the callback runs, at least so many. */
static void change(unsigned int least)
{
	unsigned long end = jiffies + seconds * HZ, nruns = 0, nbad = 0;
	unsigned int changes = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(runs, cpu) = 0;
		per_cpu(bad, cpu) = 0;
	}
	if (!CHECK_EQ(callers_start(&callers), 0))
		return;
	while (time_before(jiffies, end) || changes < least) {
		WRITE_ONCE(phase, phase + 1);
		smp_mb();
		if (!CHECK_EQ(set((phase + 1) & 2), 0))
			break;
		smp_mb();
		WRITE_ONCE(phase, phase + 1);
		changes++;
		usleep_range(500, 2000);
	}
	callers_stop(&callers);
	for_each_possible_cpu(cpu) {
		nruns += per_cpu(runs, cpu);
		nbad += per_cpu(bad, cpu);
	}
	CHECK_EQ(nbad, 0);
	CHECK(nruns >= 1000);
	pr_info("jf_within: runs %lu changes %u\n", nruns, changes);
}

/* --- ftrace --------------------------------------------------------------------- */

#ifdef CONFIG_FUNCTION_TRACER
static notrace void on_function(unsigned long ip, unsigned long parent,
				struct ftrace_ops *ops, TEST_FTRACE_REGS *regs)
{
	sites();
}

/*
 * One site alone: each breakpoint leads through some ten functions that are traced,
 * and runs into the next ten times, in the context of an NMI.
 */
static notrace void on_any_function(unsigned long ip, unsigned long parent,
				    struct ftrace_ops *ops, TEST_FTRACE_REGS *regs)
{
	unsigned long before = READ_ONCE(phase);
	bool on = false;

	smp_rmb();
	if (jf_branch_unlikely(&within_key))
		on = true;
	smp_rmb();
	this_cpu_inc(runs);
	if (!(before & 1) && READ_ONCE(phase) == before && on != !!(before & 2))
		this_cpu_inc(bad);
}

static int trace(const char *function)
{
	static struct ftrace_ops ops;
	char name[32];
	int err;

	memset(&ops, 0, sizeof(ops));
	ops.func = function ? on_function : on_any_function;
	ops.flags = TEST_FTRACE_GUARDED;
	if (function) {
		strscpy(name, function, sizeof(name));
		if (!CHECK_EQ(ftrace_set_filter(&ops, name, strlen(name), 1), 0))
			return 0;
	}
	err = register_ftrace_function(&ops);
	if (CHECK_EQ(err, 0)) {
		change(function ? 20 : 3);
		CHECK_EQ(unregister_ftrace_function(&ops), 0);
	}
	/* Frees it. */
	ftrace_set_filter(&ops, NULL, 0, 1);
	return 0;
}

static int test_ftrace_one(void)
{
	return trace("called");
}

/* Those too that handle breakpoints, and those that jumpfunc calls. */
static int test_ftrace_all(void)
{
	return trace(NULL);
}
#endif

/* --- die notifiers ---------------------------------------------------------------- */

static int on_die(struct notifier_block *nb, unsigned long event, void *data)
{
	struct die_args *args = data;

	if (event != DIE_INT3 || user_mode(args->regs))
		return NOTIFY_DONE;
	sites();
	/* The instruction below the breakpoint need not be executed. */
	return args->regs->ip - 1 == break_at ? NOTIFY_STOP : NOTIFY_DONE;
}
NOKPROBE_SYMBOL(on_die);

static int test_die(void)
{
	static struct notifier_block nb = { .notifier_call = on_die };
	static const u8 int3 = 0xcc, cmc = CMC;

	break_at = place();
	if (!CHECK_EQ(register_die_notifier(&nb), 0))
		return 0;
	if (CHECK_EQ(jft_poke(break_at, &int3, 1), 0)) {
		change(20);
		CHECK_EQ(jft_poke(break_at, &cmc, 1), 0);
	}
	unregister_die_notifier(&nb);
	return 0;
}

/* --- kprobes ------------------------------------------------------------------------ */

static int on_probe(struct kprobe *p, struct pt_regs *regs)
{
	sites();
	return 0;
}
NOKPROBE_SYMBOL(on_probe);

static int test_kprobe(void)
{
	/* On the second instruction: a breakpoint. */
	struct kprobe p = {
		.addr = (kprobe_opcode_t *)place() + 1,
		.pre_handler = on_probe,
	};

	if (CHECK_EQ(register_kprobe(&p), 0)) {
		change(20);
		unregister_kprobe(&p);
	}
	return 0;
}

const struct jft_case jft_cases[] = {
#ifdef CONFIG_FUNCTION_TRACER
	{ "ftrace_one", test_ftrace_one },
	{ "ftrace_all", test_ftrace_all },
#endif
	{ "die", test_die },
	{ "kprobe", test_kprobe },
	{ }
};

module_init(jft_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sites in callbacks that a breakpoint leads to");
