// SPDX-License-Identifier: GPL-2.0
/*
 * The INT3 protocol in the kernel (xmc: cross-modifying code): how text is written, how CPUs are
 * synchronised, how the handler answers a breakpoint.
 *
 * common/x86/protocol.h has the protocol's steps, and explains why they are right.
 * This file has the parts that are specific to the kernel.
 *
 * Sync is an IPI that runs a serialising instruction and is waited for. It
 * cannot run on a CPU that is inside the INT3 handler, since that has interrupts
 * off: so after the last one, no handler works on a breakpoint of this transaction
 * any more, and its sites may be forgotten.
 *
 *   updater					INT3 handler
 *   sync, after all INT3s are set		(cannot span a sync)
 *   site->insn = new (WRITE_ONCE)		insn = site->insn (READ_ONCE)
 *   sync, before the first byte of new
 *
 * The handler answers for every site in the map, at any time, not just while a
 * transaction runs, because some emulators deliver breakpoints that have long
 * been removed.
 *
 * Writing goes through a second, writable mapping of the pages (vmap), set up
 * before the first byte is written and unmapped before the commit returns. The text
 * mapping stays read-only and executable, the alias is never executable. No
 * other code knows its address.
 *
 * Preemption is off from the first breakpoint to the last sync. An updater that
 * lost its CPU in between would leave every other CPU trapping until it came
 * back.
 *
 * KGDB may be built to see each INT3 before the die notifiers do
 * (CONFIG_KGDB_LOW_LEVEL_TRAP). As soon as it has a line to its user, through
 * kgdboc, it takes a breakpoint of ours for one of its own, stops all CPUs and waits
 * for its user. So no breakpoint is set while KGDB has a line. The kernel's own
 * protocol is not concerned: its handler runs before KGDB's.
 */
#include "arch/x86/x86.h"

#include <linux/jiffies.h>
#include <linux/kdebug.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/sync_core.h>

static DEFINE_PER_CPU(unsigned long, jf_int3_count);

/* --- the world of the protocol ----------------------------------------- */

static inline jf_insn_t jf_world_load(const struct jf_poke *p)
{
	return jf_insn_load((void *)p->site->addr);
}

static inline void jf_world_store(const struct jf_poke *p, int i, u8 byte)
{
	WRITE_ONCE(p->alias[i], byte);
}

static inline bool jf_world_swap(const struct jf_poke *p, u8 from, u8 to)
{
	return cmpxchg(p->alias, from, to) == from;
}

/* Partner of READ_ONCE() in jf_int3_notify(). */
static inline void jf_world_publish(const struct jf_poke *p)
{
	WRITE_ONCE(p->site->insn, p->new);
}

static inline void jf_world_sync(void)
{
	jf_sync_all();
}

#include "common/x86/protocol.h"
#include "common/x86/trap.h"

/* --- the INT3 side ----------------------------------------------------- */

static notrace int jf_int3_notify(struct notifier_block *nb, unsigned long val,
				  void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	struct jf_site *site;
	struct jf_trap trap;
	unsigned long ip;

	if (val != DIE_INT3 || user_mode(regs))
		return NOTIFY_DONE;
	ip = regs->ip - INT3_INSN_SIZE;
	site = jf_site_find(ip);
	if (!site)
		return NOTIFY_DONE;

	if (!jf_proto_trap(READ_ONCE(site->insn), ip, &trap))
		return NOTIFY_DONE;

	/* The entry code left room for this on the stack. */
	if (trap.push)
		int3_emulate_push(regs, trap.ret);
	if (trap.zero)
		regs->ax = 0;
	int3_emulate_jmp(regs, trap.to);
	this_cpu_inc(jf_int3_count);
	return NOTIFY_STOP;
}
NOKPROBE_SYMBOL(jf_int3_notify);

static struct notifier_block jf_int3_nb = {
	.notifier_call = jf_int3_notify,
	/* Sites are in hot paths: run before the tracers and debuggers. */
	.priority = INT_MAX - 1,
};

u64 jf_int3_hits(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(jf_int3_count, cpu);
	return sum;
}

/* --- how text is written ------------------------------------------------ */

#define jf_serialise()			sync_core()
/* Caches see writes. */
#define jf_clean_text(start, end)	do { } while (0)
#include "arch/write.h"

/* --- the protocol ------------------------------------------------------ */

static int jf_write_live(struct jf_poke *pokes, unsigned int num)
{
	u64 start, ns;
	int err;

	preempt_disable();
	start = ktime_get_ns();

	err = jf_proto_live(pokes, num);
	if (err)
		goto out;

	ns = ktime_get_ns() - start;
	jf_stats.window_last = ns;
	if (ns > jf_stats.window_max)
		jf_stats.window_max = ns;
out:
	preempt_enable();
	return err;
}

#ifdef CONFIG_KGDB_LOW_LEVEL_TRAP
/* So long a debugger is taken to be still there; the kernel's log gets a line each time. */
#define JF_DEBUGGER_STAYS	(10 * HZ)

/* All under jf_mutex. The request, and the result. */
static struct jf_poke *jf_live_pokes;
static unsigned int jf_live_num;
static int jf_live_err;
static bool jf_debugger;
static unsigned long jf_debugger_seen;

static int jf_live_run(void)
{
	jf_live_err = jf_live_num ? jf_write_live(jf_live_pokes, jf_live_num) : 0;
	return -ECANCELED;
}

static struct kgdb_io jf_debugger_io = {
	.name	= KBUILD_MODNAME,
	.init	= jf_live_run,
};

/*
 * KGDB does not say whether it has a line, but it takes only one. If it has one, it
 * refuses ours; else it calls our init function, under the lock that every offer of a
 * line takes. So our init function carries out the transaction, and then says that we
 * have no line to offer. A task that waits for this lock has interrupts on, and so
 * does not hold up a broadcast.
 *
 * kgdboc_earlycon is one that would be replaced by ours, so this does not see it;
 * it stays only where no kgdboc follows.
 */
static int jf_write_undebugged(struct jf_poke *pokes, unsigned int num)
{
	int err;

	if (jf_debugger &&
	    time_before(jiffies, jf_debugger_seen + JF_DEBUGGER_STAYS))
		return -EOPNOTSUPP;
	jf_live_pokes = pokes;
	jf_live_num = num;
	err = kgdb_register_io_module(&jf_debugger_io);
	if (err == -ECANCELED) {
		jf_debugger = false;
		return jf_live_err;
	}
	if (!jf_debugger)
		pr_warn("KGDB is attached, and this kernel shows it each breakpoint first (CONFIG_KGDB_LOW_LEVEL_TRAP): sites are only changed as the kernel's protocol can, or not at all\n");
	jf_debugger = true;
	jf_debugger_seen = jiffies;
	return -EOPNOTSUPP;
}
#else
static int jf_write_undebugged(struct jf_poke *pokes, unsigned int num)
{
	return num ? jf_write_live(pokes, num) : 0;
}
#endif

/* 0 if breakpoints can be set, or -EOPNOTSUPP. As jumpfunc is loaded. */
int jf_xmc_init(void)
{
	return jf_write_undebugged(NULL, 0);
}

/* -EOPNOTSUPP: a debugger would take the breakpoints. */
int jf_xmc_patch(struct jf_poke *pokes, unsigned int num, bool live)
{
	void *map = jf_map_alias(pokes, num);
	int err = 0;

	if (IS_ERR(map))
		return PTR_ERR(map);
	if (live)
		err = jf_write_undebugged(pokes, num);
	else
		jf_proto_early(pokes, num);
	vunmap(map);
	if (!err)
		jf_stats.by_xmc++;
	return err;
}

int jf_arch_verify(const struct jf_poke *pokes, unsigned int num, size_t *bad)
{
	return jf_proto_verify(pokes, num, bad);
}

int jf_text_check(const struct jf_site *site)
{
	return jf_proto_compare(jf_insn_load((void *)site->addr), site->insn);
}

/* --- init and exit ----------------------------------------------------- */

int jf_int3_init(void)
{
	return register_die_notifier(&jf_int3_nb);
}

void jf_int3_exit(void)
{
	/*
	 * All sites are deleted and a grace period has passed, so no breakpoint
	 * needs an answer any more. Unregistering waits for the chain's readers.
	 */
	unregister_die_notifier(&jf_int3_nb);
}
