// SPDX-License-Identifier: GPL-2.0
/*
 * kprobes beside sites. The kernel's optimiser replaces the breakpoint of a
 * kprobe by a five-byte jump to a copy of the instructions there. If that covered a
 * site, the copy would run, which no update reaches.
 *
 * A function for each kind of site, with one-byte instructions in front of it,
 * so that there is an instruction at each distance. Probes are set at all
 * distances, before changes and in the midst of them, and the kernel is given
 * the time to optimise them; that it would have is shown by a probe in a function
 * without any site.
 *
 * Faults that were tried, by the case that they broke:
 *   before, after	no entries in the exception table: wrong results, -EILSEQ
 *   cold		no __JF_LANDING(): the machine oopses in in_cold.cold
 *   came		no record in __bug_table for trampolines, no symbol in front
 */
#include "jf_test.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/sched/signal.h>

#include <jumpfunc/branch.h>
#include <jumpfunc/tracepoint.h>

#include "../callers.h"

static unsigned int seconds = 4;
module_param(seconds, uint, 0644);
MODULE_PARM_DESC(seconds, "how long the storm lasts");

static bool optimises = true;
module_param(optimises, bool, 0644);
MODULE_PARM_DESC(optimises, "this kernel optimises kprobes: the control must become so");

/* --- places ------------------------------------------------------------------ */

/* An instruction at each of the four bytes in front. */
#define NOPS()	asm volatile("nop; nop; nop; nop" : : : "memory")

static DEFINE_JF_KEY_FALSE(beside_unlikely);
static DEFINE_JF_KEY_FALSE(beside_likely);
static DEFINE_JF_KEY_FALSE(beside_plain);
static DEFINE_JF_KEY_FALSE(beside_cold);

static noinline long one(long x)
{
	return x + 1;
}

static noinline long two(long x)
{
	return x + 2;
}

static noinline void hook(long *x)
{
	WRITE_ONCE(*x, *x + 1);
}

static noinline void count(void *data, long *x)
{
	WRITE_ONCE(*x, *x + 1);
}

DEFINE_DYNFUNC(beside_op, one);
DEFINE_DYNFUNC_NULL(beside_hook, hook);
DEFINE_DYNFUNC_RET0(beside_ret0, two);
DECLARE_JF_TRACE(beside_tp, JF_PROTO(long *x), JF_ARGS(x));
DEFINE_JF_TRACE(beside_tp);

static noinline long in_unlikely(long x)
{
	NOPS();
	if (jf_branch_unlikely(&beside_unlikely))
		return x + 2;
	return x + 1;
}

static noinline long in_likely(long x)
{
	NOPS();
	if (jf_branch_likely(&beside_likely))
		return x + 2;
	return x + 1;
}

/* Right after the function's first instructions. */
static noinline long in_plain(long x)
{
	if (jf_branch_unlikely(&beside_plain))
		return x + 2;
	return x + 1;
}

static noinline long in_call(long x)
{
	NOPS();
	x = dynfunc_call(beside_op, x);
	NOPS();
	return x;
}

static noinline long in_hook(long x)
{
	long y = x + 1, *p = &y;

	/* So that nothing stands between the instructions and the site. */
	asm volatile("" : "+D" (p));
	NOPS();
	dynfunc_call(beside_hook, p);
	NOPS();
	return READ_ONCE(y);
}

static noinline long in_ret0(long x)
{
	long y;

	NOPS();
	y = dynfunc_call(beside_ret0, x);
	NOPS();
	return y ?: x + 1;
}

static noinline long in_trace(long x)
{
	long y = x + 1;

	NOPS();
	jf_trace_beside_tp(&y);
	return READ_ONCE(y);
}

static long rarely;

static noinline __cold void rare(long x)
{
	WRITE_ONCE(rarely, x);
}

/* The other side is cold code, another symbol, and something leads to it there. */
static noinline long in_cold(long x)
{
	long y = READ_ONCE(rarely);

	if (y < 0) {
		rare(1);
		NOPS();
		goto out;
	}
	if (jf_branch_unlikely(&beside_cold)) {
out:
		rare(x);
		return x + 2;
	}
	return x + 1;
}

/* One byte each, that does not occur in the nop that the function begins with. */
#define CMC	0xf5

static noinline long control(long x)
{
	asm volatile("cmc; cmc; cmc; cmc; cmc" : : : "memory", "cc");
	return x + 1;
}

#define PLACES	9
#define SITES	8	/* those that are sites themselves */

static struct place {
	const char	*name;
	long		(*call)(long x);
	struct jf_ent	*ent;
	bool		nops;	/* an instruction at each byte in front */
	bool		other;	/* not at the site, but where its jump leads */
	unsigned long	addr;
	struct kprobe	p;
	atomic_t	hits;
	bool		set;
} places[PLACES] = {
	{ "unlikely", in_unlikely, &beside_unlikely.ent, true },
	{ "likely", in_likely, &beside_likely.ent, true },
	{ "plain", in_plain, &beside_plain.ent },
	{ "call", in_call, &__jf_func_beside_op.ent, true },
	{ "hook", in_hook, &__jf_func_beside_hook.ent, true },
	{ "ret0", in_ret0, &__jf_func_beside_ret0.ent, true },
	{ "trace branch", in_trace, &__jf_on_beside_tp.ent, true },
	{ "trace call", in_trace, &__jf_func___jf_tp_beside_tp.ent },
	{ "cold", in_cold, &beside_cold.ent, .other = true },
};

/* Where to set probes: places[from] to places[to - 1]. */
static unsigned int from, to = SITES;

#define FOR_PROBED(p)	for (p = places + from; p < places + to; p++)

static unsigned long control_addr;

static int set(bool on)
{
	struct jf_batch b;
	int err;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &beside_unlikely, on);
	jf_key_batch_set(&b, &beside_likely, on);
	jf_key_batch_set(&b, &beside_cold, on);
	dynfunc_batch_set(&b, beside_op, on ? two : one);
	dynfunc_batch_set(&b, beside_hook, on ? hook : NULL);
	err = jf_batch_commit(&b);
	/* And some of them by themselves: by the kernel's protocol, it may be. */
	if (!err)
		err = on ? jf_key_enable(&beside_plain) : jf_key_disable(&beside_plain);
	if (!err)
		err = dynfunc_update(beside_ret0, on ? two : NULL);
	if (!err)
		err = on ? register_jf_trace_beside_tp(count, NULL) :
			   unregister_jf_trace_beside_tp(count, NULL);
	return err;
}

static int find_places(void)
{
	const struct jf_site_rec *r;
	struct place *p;

	for (p = places; p < places + PLACES; p++) {
		p->addr = 0;
		for (r = __jf_tu_sites; r < __jf_tu_sites_end; r++)
			if (r->ent == p->ent)
				p->addr = jft_site_addr(r);
		if (!p->addr)
			return -ENOENT;
		/* Clang may put something of its own between them and the site. */
		if (p->nops && IS_ENABLED(CONFIG_CC_IS_CLANG))
			p->nops = !memcmp((void *)(p->addr - 4), "\x90\x90\x90\x90", 4);
		if (p->other) {
			/* It leads there while it is on. */
			if (*(u8 *)p->addr != 0xe9)
				return -EINVAL;
			p->addr += 5 + *(s32 *)(p->addr + 1);
		}
	}
	/* After each function's first instructions. */
	if (!control_addr) {
		const u8 *c = (void *)control;

		OPTIMIZER_HIDE_VAR(c);
		while (*c != CMC)
			c++;
		control_addr = (unsigned long)c;
	}
	return 0;
}

/* --- probes ------------------------------------------------------------------ */

static int on_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct place *p = container_of(kp, struct place, p);

	atomic_inc(&p->hits);
	return 0;
}

static atomic_t control_hits;

static int on_control(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_inc(&control_hits);
	return 0;
}

static struct kprobe control_probe;

static int probe(struct place *p, int distance, bool disabled)
{
	int err;

	memset(&p->p, 0, sizeof(p->p));
	p->p.addr = (kprobe_opcode_t *)(p->addr + distance);
	p->p.pre_handler = on_hit;
	p->p.flags = disabled ? KPROBE_FLAG_DISABLED : 0;
	atomic_set(&p->hits, 0);
	err = register_kprobe(&p->p);
	p->set = !err;
	return err;
}

static int probe_control(void)
{
	memset(&control_probe, 0, sizeof(control_probe));
	control_probe.addr = (kprobe_opcode_t *)control_addr;
	control_probe.pre_handler = on_control;
	atomic_set(&control_hits, 0);
	return register_kprobe(&control_probe);
}

static u8 byte_at(const void *addr)
{
	return READ_ONCE(*(const u8 *)addr);
}

/* True if the kernel has optimised the probes that were registered before. */
static bool control_optimised(void)
{
	unsigned long end = jiffies + 20 * HZ;

	if (!optimises)
		return true;
	while (byte_at(control_probe.addr) != 0xe9) {
		if (time_after(jiffies, end))
			return false;
		msleep(20);
	}
	return true;
}

static unsigned int optimised(void)
{
	unsigned int n = 0;
	struct place *p;

	FOR_PROBED(p)
		if (p->set && byte_at(p->p.addr) == 0xe9) {
			jft_print("# optimised: %s%+ld\n", p->name, (long)p->p.addr - (long)p->addr);
			n++;
		}
	return n;
}

/* True if everything follows its entities. */
static void check_all(bool on, int distance)
{
	struct place *p;

	for (p = places; p < places + PLACES; p++) {
		long got = p->call(100);

		if (!CHECK_EQ(got, on ? 102 : 101))
			jft_print("# at %s, with a probe at %+d, %s\n", p->name, distance, on ? "on" : "off");
	}
	CHECK_EQ(control(100), 101);
}

/*
 * @first: the state of the entities when the probes are registered
 * @late: registered as disabled, and enabled after a change
 */
static void one_round(int distance, bool first, bool late)
{
	struct place *p;
	bool on = first;
	int err;

	FOR_PROBED(p) {
		err = probe(p, distance, late);
		/* Elsewhere it may be in the midst of an instruction. */
		if (p->nops && distance >= -4 && distance < 0)
			CHECK_EQ(err, 0);
	}
	if (!CHECK_EQ(probe_control(), 0))
		goto out;
	if (late) {
		on = !first;
		CHECK_EQ(set(on), 0);
		FOR_PROBED(p)
			if (p->set)
				CHECK_EQ(enable_kprobe(&p->p), 0);
		unregister_kprobe(&control_probe);
		CHECK_EQ(probe_control(), 0);
	}
	CHECK(control_optimised());
	CHECK_EQ(optimised(), 0);
	check_all(on, distance);
	CHECK_EQ(set(!on), 0);
	check_all(!on, distance);
	CHECK_EQ(set(on), 0);
	check_all(on, distance);
	FOR_PROBED(p)
		if (p->nops && p->set && distance >= -4 && distance < 0)
			CHECK_EQ(atomic_read(&p->hits), p->call == in_trace ? 6 : 3);
	CHECK_EQ(atomic_read(&control_hits), 3);
	unregister_kprobe(&control_probe);
out:
	FOR_PROBED(p)
		if (p->set)
			unregister_kprobe(&p->p);
	check_all(on, distance);
	if (on != first)
		CHECK_EQ(set(first), 0);
	check_all(first, distance);
}

static int prepare(void)
{
	int err = set(true) ?: find_places();

	return err ?: set(false);
}

static int rounds(bool late)
{
	static const int distances[] = { -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5 };
	unsigned int i;

	if (!CHECK_EQ(prepare(), 0))
		return 0;
	for (i = 0; i < ARRAY_SIZE(distances); i++)
		one_round(distances[i], false, late);
	CHECK_EQ(set(true), 0);
	for (i = 0; i < ARRAY_SIZE(distances); i++)
		one_round(distances[i], true, late);
	CHECK_EQ(set(false), 0);
	return 0;
}

/* Not where a site is, but where the jump leads that stands there. */
static int test_cold(void)
{
	from = SITES;
	to = PLACES;
	rounds(false);
	rounds(true);
	from = 0;
	to = SITES;
	return 0;
}

static int test_before(void)
{
	return rounds(false);
}

static int test_after(void)
{
	return rounds(true);
}

/* --- all at once ----------------------------------------------------------------- */

/* Half of it is the number of changes made; odd while one is under way. */
static unsigned long phase;
static DEFINE_PER_CPU(unsigned long, calls);
static DEFINE_PER_CPU(unsigned long, bad);

/* Calls must see the entities that are on while nothing changes. */
static int call_all(void *cpu)
{
	while (!kthread_should_stop()) {
		struct place *p;

		for (p = places; p < places + SITES; p++) {
			unsigned long before = smp_load_acquire(&phase);
			long got = p->call(100);
			bool ok;

			/* Pairs with the barriers of the writer, below. */
			smp_rmb();
			if ((before & 1) || READ_ONCE(phase) != before)
				ok = got == 101 || got == 102;
			else
				ok = got == (before & 2 ? 102 : 101);
			this_cpu_inc(calls);
			if (!ok) {
				this_cpu_inc(bad);
				pr_err("jf_beside: %s gave %ld in phase %lu\n", p->name, got, before);
			}
		}
		/* The optimiser waits for all tasks, and wants to run. */
		if (this_cpu_read(calls) % 64 == 0)
			usleep_range(50, 500);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static struct callers callers = { .name = "jf_beside", .thread = call_all };
static unsigned int changes;
static int change_err;

static int change(void *unused)
{
	bool on = false;

	while (!kthread_should_stop() && !change_err) {
		on = !on;
		WRITE_ONCE(phase, phase + 1);
		smp_mb();
		change_err = set(on);
		smp_store_release(&phase, phase + 1);
		changes++;
		/* Not all the time: the optimiser has to have its chance, too. */
		usleep_range(200, 4000);
	}
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static struct {
	unsigned int rounds, probes, refused, opt;
} storm;

static void storm_reset(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(calls, cpu) = 0;
		per_cpu(bad, cpu) = 0;
	}
	phase = 0;
	changes = 0;
	change_err = 0;
	memset(&storm, 0, sizeof(storm));
}

/*
 * While a site holds a breakpoint, the kernel cannot tell where instructions
 * begin after it, and may refuse a probe there with -EILSEQ. That is counted.
 */
static void storm_round(unsigned int i)
{
	int distance = i % 5 == 4 ? 5 : -1 - (int)(i % 5), err;
	struct place *p;

	FOR_PROBED(p) {
		err = probe(p, distance, false);
		/* Else it may be in the midst of an instruction. */
		if (!err)
			storm.probes++;
		else if (CHECK_EQ(err, -EILSEQ) && p->nops && distance < 0)
			storm.refused++;
	}
	if (CHECK_EQ(probe_control(), 0)) {
		if (i % 3 == 0)
			storm.opt += CHECK(control_optimised());
		CHECK_EQ(optimised(), 0);
		unregister_kprobe(&control_probe);
	}
	FOR_PROBED(p)
		if (p->set)
			unregister_kprobe(&p->p);
}

static void storm_check(void)
{
	unsigned long n = 0, nbad = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		n += per_cpu(calls, cpu);
		nbad += per_cpu(bad, cpu);
	}
	CHECK_EQ(change_err, 0);
	CHECK_EQ(nbad, 0);
	CHECK(n);
	CHECK(changes > 1);
	CHECK(storm.probes);
	check_all(phase & 2, 0);
	CHECK_EQ(set(!(phase & 2)), 0);
	check_all(!(phase & 2), 0);
	if (!(phase & 2))
		CHECK_EQ(set(false), 0);
	check_all(false, 0);
	pr_info("jf_beside: storm: calls %lu changes %u rounds %u probes %u refused %u optimised %u\n",
		n, changes, storm.rounds, storm.probes, storm.refused, storm.opt);
}

static int test_storm(void)
{
	unsigned long end = jiffies + seconds * HZ;
	struct task_struct *changer;

	if (!CHECK_EQ(prepare(), 0))
		return 0;
	storm_reset();
	if (!CHECK_EQ(callers_start(&callers), 0))
		return 0;
	changer = kthread_run(change, NULL, "jf_beside_changes");
	if (CHECK(!IS_ERR(changer))) {
		/* At least once with all that it takes for the control to be optimised. */
		do
			storm_round(storm.rounds++);
		while (time_before(jiffies, end) && !fatal_signal_pending(current));
		kthread_stop(changer);
	}
	callers_stop(&callers);
	storm_check();
	return 0;
}

/* --- trampolines -------------------------------------------------------------------- */

static int nothing(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static int try_probe(unsigned long addr, const char *symbol)
{
	struct kprobe p = {
		.addr = (kprobe_opcode_t *)addr,
		.symbol_name = symbol,
		.pre_handler = nothing,
	};
	int err = register_kprobe(&p);

	if (!err)
		unregister_kprobe(&p);
	return err;
}

/* From the nops in front to the last byte, each address. */
static void refused(const void *tramp)
{
	unsigned long addr = (unsigned long)tramp, i;

	OPTIMIZER_HIDE_VAR(addr);
	for (i = addr - 16; i < addr + 20; i++)
		if (!CHECK(try_probe(i, NULL) < 0))
			jft_print("# %+ld\n", (long)(i - addr));
}

static int test_tramps(void)
{
	unsigned long begin = (unsigned long)&dynfunc_beside_op, addr;
	static const u8 nops[16] = { [0 ... 15] = 0x90 };
	u8 front[16];

	OPTIMIZER_HIDE_VAR(begin);
	if (!CHECK_EQ(prepare(), 0))
		return 0;
	refused(&dynfunc_beside_op);
	refused(&dynfunc_beside_hook);
	refused(&dynfunc_beside_ret0);

	/* It is the first one. The bytes in front of it that can be probed are another function. */
	begin -= 16;
	memcpy(front, (void *)begin, sizeof(front));
	/* With kCFI the type of the function is there. */
	if (!IS_ENABLED(CONFIG_CFI_CLANG))
		CHECK(!memcmp(front, nops, sizeof(nops)));
	for (addr = begin - 16; addr < begin; addr++) {
		struct kprobe p = {
			.addr = (kprobe_opcode_t *)addr,
			.pre_handler = nothing,
		};

		if (register_kprobe(&p))
			continue;
		CHECK_EQ(probe_control(), 0);
		CHECK(control_optimised());
		CHECK(!memcmp((void *)begin, front, sizeof(front)));
		CHECK_EQ(dynfunc_beside_op(1), 2);
		CHECK_EQ(set(true), 0);
		CHECK_EQ(dynfunc_beside_op(1), 3);
		CHECK_EQ(set(false), 0);
		CHECK_EQ(dynfunc_beside_op(1), 2);
		unregister_kprobe(&control_probe);
		unregister_kprobe(&p);
	}
	return 0;
}

/*
 * While a module is being loaded, the kernel does not yet know where in it kprobes
 * are not allowed.
 */
static int coming, came[2];

static int on_module(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	if (event != MODULE_STATE_COMING || strcmp(mod->name, "jf_onlytramp"))
		return NOTIFY_DONE;
	coming++;
	came[0] = try_probe(0, "jf_onlytramp:dynfunc_onlytramp");
	came[1] = try_probe(0, "jf_onlytramp:dynfunc_onlytramp_2");
	return NOTIFY_DONE;
}

/* After jumpfunc, before kprobes. */
static struct notifier_block module_nb = { .notifier_call = on_module, .priority = 100 };

static int test_coming(void)
{
	coming = 0;
	CHECK_EQ(register_module_notifier(&module_nb), 0);
	return 0;
}

static int test_came(void)
{
	unregister_module_notifier(&module_nb);
	CHECK_EQ(coming, 1);
	CHECK_EQ(came[0], -EINVAL);
	CHECK_EQ(came[1], -EINVAL);
	CHECK_EQ(try_probe(0, "jf_onlytramp:dynfunc_onlytramp"), -EINVAL);
	CHECK_EQ(try_probe(0, "jf_onlytramp:dynfunc_onlytramp_2"), -EINVAL);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "before", test_before },
	{ "after", test_after },
	{ "cold", test_cold },
	{ "storm", test_storm },
	{ "tramps", test_tramps },
	{ "coming", test_coming },
	{ "came", test_came },
	{ }
};

module_init(jft_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kprobes beside sites");
