// SPDX-License-Identifier: GPL-2.0
/*
 * The callback of ftrace at the entry of a function that is traced. It is all of the
 * provider that runs while functions are traced; the rest is in kernel/probes/entry.c.
 *
 * ftrace's part of the bargain (see the flags in kernel/probes/entry.c): it calls
 * jf_entry_hit() only where RCU watches, and not again for functions that it calls.
 */
#include "probes/entry.h"

#include <jumpfunc/entry.h>

#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

/* As many as are in registers on x86-64. */
#define JF_ENTRY_ARGS	6

#if JF_HAVE_FTRACE

DEFINE_JF_TRACE(jf_entry);
EXPORT_JF_TRACE_GPL(jf_entry);

static DEFINE_HASHTABLE(jf_traced, 10);

void jf_traced_add(struct jf_traced *t)
{
	hash_add_rcu(jf_traced, &t->hash, t->ip);
}

void jf_traced_del(struct jf_traced *t)
{
	hash_del_rcu(&t->hash);
}

void jf_traced_each(void (*fn)(const struct jf_traced *t, void *arg), void *arg)
{
	const struct jf_traced *t;
	unsigned int i;

	for (i = 0; i < HASH_SIZE(jf_traced); i++) {
		/* Pairs with synchronize_rcu() before one is freed. */
		rcu_read_lock();
		hlist_for_each_entry_rcu(t, &jf_traced[i], hash)
			fn(t, arg);
		rcu_read_unlock();
		cond_resched();
	}
}

static notrace struct jf_traced *jf_traced_find(unsigned long ip)
{
	struct jf_traced *t;

	hash_for_each_possible_rcu_notrace(jf_traced, t, hash, ip)
		if (t->ip == ip)
			return t;
	return NULL;
}

notrace void jf_entry_hit(unsigned long ip, unsigned long parent,
			  struct ftrace_ops *ops, struct jf_ftrace_regs *regs)
{
	struct jf_traced *t;

	/* The read section of RCU in which an entry is found, and told to probes. */
	preempt_disable_notrace();
	t = jf_traced_find(ip);
	/* No order is needed: all its other data was there before it. */
	if (t && t->ops == ops && READ_ONCE(t->on)) {
		this_cpu_inc(*t->hits);
		jf_trace_jf_entry(&t->entry, parent, regs);
	}
	preempt_enable_notrace();
}

unsigned long jf_entry_arg(const void *args, unsigned int n)
{
	return n < JF_ENTRY_ARGS ? jf_ftrace_arg((void *)args, n) : 0;
}

#else

/* There is nothing that hits it. */
DEFINE_JF_TRACE(jf_entry);
EXPORT_JF_TRACE_GPL(jf_entry);

unsigned long jf_entry_arg(const void *args, unsigned int n)
{
	return 0;
}

#endif
EXPORT_SYMBOL_GPL(jf_entry_arg);
