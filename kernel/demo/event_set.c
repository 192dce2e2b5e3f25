// SPDX-License-Identifier: GPL-2.0
/*
 * The event set: kernel tracepoints that hackbench hits hard, and 0 to 16
 * subscribers, dispatched in a way that can be chosen at run time, to see what
 * each costs.
 *
 *   mode	what the kernel's tracepoint calls	and that
 *   kernel	each subscriber
 *   indirect	a dispatcher	walks an array of function pointers
 *   dynfunc	a dispatcher	calls one subscriber: a patched call
 *   chain	a dispatcher	hits a jumpfunc tracepoint with a probe for each
 *
 * The subscribers do the same work in all modes: they count, and write a record
 * to a ring (kernel/demo/ring.c). Each is a function of its own, as subscribers are in
 * real life. So two modes differ in the dispatch alone.
 *
 * "kernel" and "indirect" are ways to call subscribers here; back ends of the same
 * names are ways to write text. "indirect" is plain C that calls through pointers:
 * it measures the code that the compiler and the kernel make of that, retpolines mostly.
 *
 * Everything here can be changed while the tracepoints fire. A task that changes the
 * mode or the number holds jf_events_mutex, which is outermost: no other task needs it,
 * and those that change the two can be killed while they wait for it.
 */
#include "arch/image.h"
#include "index/state.h"
#include "demo/demo.h"
#include "demo/ring.h"

#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

enum jf_dispatch {
	JF_DISPATCH_OFF,
	JF_DISPATCH_KERNEL,
	JF_DISPATCH_INDIRECT,
	JF_DISPATCH_DYNFUNC,
	JF_DISPATCH_CHAIN,
	JF_MODES,
};

/* Records that reading `ring` shows. */
#define JF_RING_SHOW	1024

/**
 * struct jf_slot - one event in one mode
 * @hits:  how often a subscriber ran for it, per CPU
 * @event: index of the event
 * @mode:  the mode
 * @second: record the tracepoint's second argument, not its first
 */
struct jf_slot {
	u64 __percpu	*hits;
	u8		event;
	u8		mode;
	bool		second;
};

/* A subscriber's record of an event: one argument of its tracepoint. */
enum jf_arg {
	JF_INT1, JF_INT2,	/* the first, the second: an integer */
	JF_PTR1, JF_PTR2,	/* ... a pointer */
};

/**
 * struct jf_event - one kernel tracepoint of the set
 * @name: its name
 * @arg:  the recorded argument
 * @tp:   the tracepoint, NULL if this kernel has none of that name
 * @hits: counters of all modes
 * @slot: for each mode
 */
static struct jf_event {
	const char		*name;
	enum jf_arg		arg;
	struct tracepoint	*tp;
	u64 __percpu		*hits;
	struct jf_slot		slot[JF_MODES];
} jf_events[] = {
	{ "sched_switch", JF_PTR2 },		/* the previous task */
	{ "sched_waking", JF_PTR1 },		/* the task */
	{ "sched_wakeup", JF_PTR1 },
	{ "sched_migrate_task", JF_INT2 },	/* to which CPU */
	{ "rcu_utilization", JF_PTR1 },		/* where RCU looks */
	{ "sys_enter", JF_INT2 },		/* number of the call */
	{ "sys_exit", JF_INT2 },		/* its result */
	{ "kmem_cache_alloc", JF_PTR2 },	/* the object */
	{ "kmem_cache_alloc_node", JF_PTR2 },	/* up to 6.0 */
	{ "kmem_cache_free", JF_PTR2 },
	{ "kmalloc", JF_PTR2 },
	{ "kmalloc_node", JF_PTR2 },		/* up to 6.0 */
	{ "kfree", JF_PTR2 },
	{ "mm_page_alloc", JF_INT2 },		/* the order */
	{ "mm_page_free", JF_INT2 },
	{ "consume_skb", JF_PTR1 },		/* the buffer */
	{ "softirq_entry", JF_INT1 },		/* its number */
	{ "softirq_exit", JF_INT1 },
	{ "hrtimer_expire_entry", JF_PTR1 },	/* the timer */
	{ "hrtimer_start", JF_PTR1 },
	{ "tlb_flush", JF_INT1 },		/* the reason */
	{ "contention_begin", JF_PTR1 },	/* the lock; since 5.19 */
};

#define JF_EVENTS	ARRAY_SIZE(jf_events)

static DEFINE_MUTEX(jf_events_mutex);
static enum jf_dispatch jf_events_mode;
static unsigned int jf_events_subs = 1;
/*
 * The present parts of this mode: its subscribers, and its dispatcher. All,
 * unless a change has failed and could not be undone. Then the next one goes on
 * from here.
 */
static unsigned int jf_events_running;
static bool jf_events_dispatched;
/* Its probes can be called as probes of the kernel's tracepoints are. */
static bool jf_events_typed;

/* --- subscribers ------------------------------------------------------- */

typedef void jf_sub_fn(void *data, const struct jf_slot *slot,
		       unsigned long arg);

/**
 * struct jf_sub - a subscriber
 * @func:   its function
 * @number: which one it is; its function checks that
 */
static struct jf_sub {
	jf_sub_fn	*func;
	unsigned int	number;
} jf_subs[JF_SUBSCRIBERS_MAX];

/* For mode "kernel": the data of a subscriber at one tracepoint. */
static struct jf_kernel_sub {
	const struct jf_slot	*slot;
	const struct jf_sub	*sub;
} jf_kernel_subs[JF_EVENTS][JF_SUBSCRIBERS_MAX];

/* How often a subscriber was called with another one's data. */
static atomic_t jf_events_mixed_up = ATOMIC_INIT(0);

/* Runs in any context that the kernel has tracepoints in. */
static __always_inline void jf_subscriber(const struct jf_sub *sub,
					  const struct jf_slot *slot,
					  unsigned long arg, unsigned int self)
{
	if (unlikely(sub->number != self))
		atomic_inc(&jf_events_mixed_up);
	this_cpu_inc(*slot->hits);
	jf_ring_write(slot->event, slot->mode, sub->number, arg);
}

static __always_inline unsigned long jf_pick(const struct jf_slot *slot,
					     unsigned long a, unsigned long b)
{
	return slot->second ? b : a;
}

/*
 * A kernel tracepoint's probe gets its data and then the tracepoint's arguments,
 * in registers. So one that takes the first two as bare register contents
 * serves tracepoints of any prototype; with fewer, the second one is garbage,
 * which no event of the set selects.
 */
#define JF_SUB(n)							\
static notrace void jf_sub_##n(void *data, const struct jf_slot *slot,	\
			       unsigned long arg)			\
{									\
	jf_subscriber(data, slot, arg, n);				\
}									\
static notrace void jf_kernel_probe_##n(void *data, unsigned long a,	\
					unsigned long b)		\
{									\
	const struct jf_kernel_sub *k = data;				\
									\
	jf_subscriber(k->sub, k->slot, jf_pick(k->slot, a, b), n);	\
}

JF_SUB(0)
JF_SUB(1)
JF_SUB(2)
JF_SUB(3)
JF_SUB(4)
JF_SUB(5)
JF_SUB(6)
JF_SUB(7)
JF_SUB(8)
JF_SUB(9)
JF_SUB(10)
JF_SUB(11)
JF_SUB(12)
JF_SUB(13)
JF_SUB(14)
JF_SUB(15)

#define JF_ALL(prefix)							\
	prefix##0, prefix##1, prefix##2, prefix##3, prefix##4, prefix##5, \
	prefix##6, prefix##7, prefix##8, prefix##9, prefix##10,		\
	prefix##11, prefix##12, prefix##13, prefix##14, prefix##15

static jf_sub_fn * const jf_sub_funcs[] = { JF_ALL(jf_sub_) };
static void (* const jf_kernel_probes[])(void *, unsigned long, unsigned long) = {
	JF_ALL(jf_kernel_probe_)
};

static_assert(ARRAY_SIZE(jf_sub_funcs) == JF_SUBSCRIBERS_MAX);
static_assert(ARRAY_SIZE(jf_kernel_probes) == JF_SUBSCRIBERS_MAX);

/* --- dispatchers, which a kernel tracepoint calls ---------------------- */

/* One past the last subscriber of mode "indirect". */
static struct jf_sub *jf_indirect_end = jf_subs;

static notrace void jf_dispatch_indirect(void *data, unsigned long a,
					 unsigned long b)
{
	const struct jf_slot *slot = data;
	unsigned long arg = jf_pick(slot, a, b);
	struct jf_sub *sub, *end = READ_ONCE(jf_indirect_end);

	for (sub = jf_subs; sub < end; sub++)
		READ_ONCE(sub->func)(sub, slot, arg);
}

DEFINE_DYNFUNC_NULL(jf_event_sub, jf_sub_0);

static notrace void jf_dispatch_dynfunc(void *data, unsigned long a,
					unsigned long b)
{
	const struct jf_slot *slot = data;

	dynfunc_call(jf_event_sub, (void *)jf_subs, slot, jf_pick(slot, a, b));
}

DECLARE_JF_TRACE(jf_event_hit,
		 JF_PROTO(const struct jf_slot *slot, unsigned long arg),
		 JF_ARGS(slot, arg));
DEFINE_JF_TRACE(jf_event_hit);

static notrace void jf_dispatch_chain(void *data, unsigned long a,
				      unsigned long b)
{
	const struct jf_slot *slot = data;

	jf_trace(jf_event_hit, slot, jf_pick(slot, a, b));
}

/* --- modes: from one number of subscribers to another ------------------ */

/*
 * The function for the tracepoint to call for @probe. Our probes have generic prototypes,
 * which are those of no tracepoint.
 */
static int jf_probe_for(const struct jf_event *e, void *probe, void **func)
{
	return jf_arch_typed(probe, jf_tracepoint_like(e->tp), func);
}

static void jf_detach(void *probe, unsigned int num, int sub)
{
	void *func;

	while (num--) {
		struct jf_event *e = &jf_events[num];

		/* It has been asked for before, and is the same again. */
		if (e->tp && !jf_probe_for(e, probe, &func))
			tracepoint_probe_unregister(e->tp, func, sub < 0 ?
				(void *)&e->slot[jf_events_mode] :
				(void *)&jf_kernel_subs[num][sub]);
	}
}

/* @sub: the subscriber whose probe it is, -1: it is a dispatcher. All or none. */
static int jf_attach(void *probe, int sub)
{
	unsigned int i;
	void *func;
	int err;

	for (i = 0; i < JF_EVENTS; i++) {
		struct jf_event *e = &jf_events[i];

		if (!e->tp)
			continue;
		err = jf_probe_for(e, probe, &func);
		if (!err)
			err = tracepoint_probe_register(e->tp, func, sub < 0 ?
				(void *)&e->slot[jf_events_mode] :
				(void *)&jf_kernel_subs[i][sub]);
		if (err) {
			pr_warn("cannot attach to tracepoint %s (%d)\n",
				e->name, err);
			jf_detach(probe, i, sub);
			return err;
		}
	}
	return 0;
}

static int jf_kernel_add(unsigned int sub)
{
	return jf_attach(jf_kernel_probes[sub], sub);
}

static int jf_kernel_del(unsigned int sub)
{
	jf_detach(jf_kernel_probes[sub], JF_EVENTS, sub);
	return 0;
}

static int jf_indirect_add(unsigned int sub)
{
	WRITE_ONCE(jf_indirect_end, &jf_subs[sub + 1]);
	return 0;
}

static int jf_indirect_del(unsigned int sub)
{
	WRITE_ONCE(jf_indirect_end, &jf_subs[sub]);
	return 0;
}

static int jf_dynfunc_add(unsigned int sub)
{
	return sub ? 0 : dynfunc_update(jf_event_sub, jf_sub_0);
}

static int jf_dynfunc_del(unsigned int sub)
{
	/* When the module is being unloaded, nothing calls it any more. */
	if (sub || READ_ONCE(THIS_MODULE->state) == MODULE_STATE_GOING)
		return 0;
	return dynfunc_update(jf_event_sub, NULL);
}

static int jf_chain_add(unsigned int sub)
{
	return register_jf_trace_jf_event_hit(jf_subs[sub].func, &jf_subs[sub]);
}

static int jf_chain_del(unsigned int sub)
{
	return unregister_jf_trace_jf_event_hit(jf_subs[sub].func,
						 &jf_subs[sub]);
}

static const struct jf_mode_ops {
	const char	*name;
	void		*dispatcher;
	int		(*add)(unsigned int sub);
	int		(*del)(unsigned int sub);
} jf_modes[JF_MODES] = {
	[JF_DISPATCH_OFF]	   = { "off" },
	[JF_DISPATCH_KERNEL]   = { "kernel", NULL, jf_kernel_add, jf_kernel_del },
	[JF_DISPATCH_INDIRECT] = { "indirect", jf_dispatch_indirect,
			       jf_indirect_add, jf_indirect_del },
	[JF_DISPATCH_DYNFUNC]  = { "dynfunc", jf_dispatch_dynfunc, jf_dynfunc_add,
			       jf_dynfunc_del },
	[JF_DISPATCH_CHAIN]	   = { "chain", jf_dispatch_chain, jf_chain_add,
			       jf_chain_del },
};

/*
 * From as many subscribers as there are to @to, in the present mode. On error back
 * again; if that fails as well, jf_events_running says how far it came.
 */
static int jf_resize(unsigned int to)
{
	const struct jf_mode_ops *ops = &jf_modes[jf_events_mode];
	unsigned int from = jf_events_running;
	int err = 0;

	if (jf_events_mode == JF_DISPATCH_OFF)
		return 0;
	while (!err && jf_events_running < to) {
		err = ops->add(jf_events_running);
		jf_events_running += !err;
	}
	while (!err && jf_events_running > to) {
		err = ops->del(jf_events_running - 1);
		jf_events_running -= !err;
	}
	if (!err)
		return 0;
	pr_warn("cannot change the number of subscribers from %u to %u (%d)\n",
		from, to, err);
	while (jf_events_running < from && !ops->add(jf_events_running))
		jf_events_running++;
	while (jf_events_running > from && !ops->del(jf_events_running - 1))
		jf_events_running--;
	return err;
}

static int jf_dispatch_on(void)
{
	void *dispatcher = jf_modes[jf_events_mode].dispatcher;
	int err;

	if (!dispatcher)
		return 0;
	err = jf_attach(dispatcher, -1);
	jf_events_dispatched = !err;
	return err;
}

static void jf_dispatch_off(void)
{
	if (!jf_events_dispatched)
		return;
	jf_detach(jf_modes[jf_events_mode].dispatcher, JF_EVENTS, -1);
	tracepoint_synchronize_unregister();
	jf_events_dispatched = false;
}

/* True if every part of the mode is there. */
static bool jf_mode_complete(void)
{
	if (jf_events_mode == JF_DISPATCH_OFF)
		return true;
	return jf_events_running == jf_events_subs &&
	       jf_events_dispatched == !!jf_modes[jf_events_mode].dispatcher;
}

/*
 * The dispatcher goes first and comes last: so each event that it sees finds all
 * subscribers there, and hits are a multiple of their number.
 */
static int jf_leave_mode(void)
{
	int err;

	jf_dispatch_off();
	err = jf_resize(0);
	if (err) {
		if (jf_dispatch_on())
			pr_warn("mode %s is left without events\n",
				jf_modes[jf_events_mode].name);
		return err;
	}
	if (!jf_modes[jf_events_mode].dispatcher)
		tracepoint_synchronize_unregister();
	WRITE_ONCE(jf_events_mode, JF_DISPATCH_OFF);
	return 0;
}

static int jf_enter_mode(enum jf_dispatch mode)
{
	int err;

	WRITE_ONCE(jf_events_mode, mode);
	err = jf_resize(jf_events_subs);
	if (!err)
		err = jf_dispatch_on();
	if (!err)
		return 0;
	/* To "off", unless that takes memory that is not there either. */
	if (jf_resize(0)) {
		pr_warn("mode %s is left without events\n",
			jf_modes[mode].name);
		return err;
	}
	tracepoint_synchronize_unregister();
	WRITE_ONCE(jf_events_mode, JF_DISPATCH_OFF);
	return err;
}

int jf_events_set_mode(const char *name)
{
	enum jf_dispatch mode;
	int err = 0;

	for (mode = 0; mode < JF_MODES; mode++)
		if (!strcmp(name, jf_modes[mode].name))
			break;
	if (mode == JF_MODES)
		return -EINVAL;
	if (mode != JF_DISPATCH_OFF && !jf_events_typed)
		return -EOPNOTSUPP;

	if (mutex_lock_killable(&jf_events_mutex))
		return -EINTR;
	if (mode != jf_events_mode || !jf_mode_complete()) {
		err = jf_leave_mode();
		if (!err)
			err = jf_enter_mode(mode);
	}
	mutex_unlock(&jf_events_mutex);
	return err;
}

int jf_events_set_subscribers(unsigned int num)
{
	int err;

	if (num > JF_SUBSCRIBERS_MAX)
		return -EINVAL;
	if (mutex_lock_killable(&jf_events_mutex))
		return -EINTR;
	err = jf_resize(num);
	if (!err)
		WRITE_ONCE(jf_events_subs, num);
	mutex_unlock(&jf_events_mutex);
	return err;
}

/* --- output in debugfs ------------------------------------------------- */

unsigned int jf_events_subscribers(void)
{
	return READ_ONCE(jf_events_subs);
}

void jf_events_show_modes(struct seq_file *m)
{
	enum jf_dispatch mode = READ_ONCE(jf_events_mode);
	unsigned int i;

	for (i = 0; i < JF_MODES; i++)
		seq_printf(m, i == mode ? "%s[%s]" : "%s%s",
			   i ? " " : "", jf_modes[i].name);
	seq_putc(m, '\n');
}

static u64 jf_hits(const struct jf_event *e, enum jf_dispatch mode)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(e->slot[mode].hits, cpu));
	return sum;
}

void jf_events_show_events(struct seq_file *m)
{
	enum jf_dispatch now = READ_ONCE(jf_events_mode);
	bool attached = now && (jf_events_subscribers() || jf_modes[now].dispatcher);
	unsigned int i, mode;

	seq_puts(m, "# event state");
	for (mode = JF_DISPATCH_OFF + 1; mode < JF_MODES; mode++)
		seq_printf(m, " %s", jf_modes[mode].name);
	seq_putc(m, '\n');

	for (i = 0; i < JF_EVENTS; i++) {
		const struct jf_event *e = &jf_events[i];

		seq_printf(m, "%s %s", e->name, !e->tp ? "missing" :
			   attached ? "attached" : "detached");
		for (mode = JF_DISPATCH_OFF + 1; mode < JF_MODES; mode++)
			seq_printf(m, " %llu", jf_hits(e, mode));
		seq_putc(m, '\n');
	}
}

static void jf_show_rec(struct seq_file *m, const struct jf_rec *r)
{
	const struct jf_event *e = &jf_events[r->event];

	seq_printf(m, "%llu %u %s %u %s %d ", r->time, r->cpu, e->name, r->sub,
		   jf_modes[r->mode].name, r->pid);
	/* Hashed: enough to see what is the same. */
	if (e->arg == JF_PTR1 || e->arg == JF_PTR2)
		seq_printf(m, "%p\n", (void *)r->arg);
	else
		seq_printf(m, "%ld\n", (long)r->arg);
}

int jf_events_show_ring(struct seq_file *m)
{
	unsigned int i, num;
	struct jf_rec *recs = jf_ring_snapshot(&num);

	if (!recs)
		return -ENOMEM;
	seq_puts(m, "# time_ns cpu event subscriber mode pid arg\n");
	for (i = num > JF_RING_SHOW ? num - JF_RING_SHOW : 0; i < num; i++)
		jf_show_rec(m, &recs[i]);
	kvfree(recs);
	return 0;
}

void jf_events_show_stats(struct seq_file *m)
{
	struct jf_ring_stats s;

	jf_ring_count(&s);
	seq_printf(m, "ring_records %llu\n", s.records);
	seq_printf(m, "ring_overwritten %llu\n", s.overwritten);
	seq_printf(m, "ring_dropped %llu\n", s.dropped);
	seq_printf(m, "sample_mixed_up %d\n", atomic_read(&jf_events_mixed_up));
}

/* --- init and exit ----------------------------------------------------- */

static void jf_find_tracepoint(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < JF_EVENTS; i++)
		if (!strcmp(tp->name, jf_events[i].name))
			jf_events[i].tp = tp;
}

static void jf_free_hits(void)
{
	unsigned int i;

	for (i = 0; i < JF_EVENTS; i++)
		free_percpu(jf_events[i].hits);
}

static int jf_init_event(unsigned int i)
{
	struct jf_event *e = &jf_events[i];
	unsigned int n;

	e->hits = __alloc_percpu(JF_MODES * sizeof(u64), sizeof(u64));
	if (!e->hits)
		return -ENOMEM;
	for (n = 0; n < JF_MODES; n++)
		e->slot[n] = (struct jf_slot){
			.hits = e->hits + n,
			.event = i,
			.mode = n,
			.second = e->arg == JF_INT2 || e->arg == JF_PTR2,
		};
	for (n = 0; n < JF_SUBSCRIBERS_MAX; n++)
		jf_kernel_subs[i][n] = (struct jf_kernel_sub){
			.slot = &e->slot[JF_DISPATCH_KERNEL],
			.sub = &jf_subs[n],
		};
	return 0;
}

static bool jf_probes_fit(void)
{
	unsigned int i;
	void *func;

	for (i = 0; i < JF_EVENTS; i++)
		if (jf_events[i].tp &&
		    jf_probe_for(&jf_events[i], jf_kernel_probes[0],
				 &func) == -EOPNOTSUPP)
			return false;
	return true;
}

int jf_events_init(void)
{
	unsigned int i;
	int err;

	err = jf_ring_init();
	if (err)
		return err;
	for (i = 0; i < JF_SUBSCRIBERS_MAX; i++)
		jf_subs[i] = (struct jf_sub){ jf_sub_funcs[i], i };
	for (i = 0; i < JF_EVENTS; i++) {
		err = jf_init_event(i);
		if (err) {
			jf_free_hits();
			jf_ring_exit();
			return err;
		}
	}
	for_each_kernel_tracepoint(jf_find_tracepoint, NULL);
	jf_events_typed = jf_probes_fit();
	if (!jf_events_typed)
		pr_warn("event set: off: indirect calls compare types in this kernel (CFI), and it does not tell those of its tracepoints\n");
	return 0;
}

void jf_events_exit(void)
{
	mutex_lock(&jf_events_mutex);
	/* A failure can only leave probes on our own tracepoint, which is unloaded, too. */
	if (jf_leave_mode())
		jf_dispatch_off();
	tracepoint_synchronize_unregister();
	mutex_unlock(&jf_events_mutex);
	jf_free_hits();
	jf_ring_exit();
}
