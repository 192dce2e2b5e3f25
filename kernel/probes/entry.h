/* SPDX-License-Identifier: GPL-2.0 */
/* A traced function's data for the callback of ftrace (kernel/probes/hit.c). */
#ifndef JF_PROBES_ENTRY_H
#define JF_PROBES_ENTRY_H

#include "index/state.h"

#if JF_HAVE_FTRACE
#include <jumpfunc/entry.h>

#include <linux/list.h>

/**
 * struct jf_traced - a function that is traced, or will be
 * @hash:   by @ip, for the callback
 * @by_addr: by @entry.addr
 * @list:   on its set's list
 * @ops:    ftrace's registration; another set's one may call back for it as well, in vain
 * @entry:  the argument of probes
 * @ip:     ftrace's address of it
 * @hits:   how often it was entered while it was on, per CPU
 * @on:     it is on; if not, it is about to be, or about to be forgotten
 * @wanted: the wish of the present command
 * @asked:  there is such a command
 * @ends:   it is to be removed from its set
 * @names:  of its module, and its own
 */
struct jf_traced {
	struct hlist_node	hash, by_addr;
	struct list_head	list;
	const struct ftrace_ops	*ops;
	struct jf_entry		entry;
	unsigned long		ip;
	u64 __percpu		*hits;
	bool			on, wanted, asked, ends;
	char			names[];
};

/* The callback finds it from now on, if @on; with the mutex of kernel/probes/file.c held. */
void jf_traced_add(struct jf_traced *t);
/* No longer. After a grace period the callback is not at work on it either. */
void jf_traced_del(struct jf_traced *t);

/* Call @fn, in a read section of RCU, with each that the callback finds. Needs no lock. */
void jf_traced_each(void (*fn)(const struct jf_traced *t, void *arg), void *arg);

/* The callback. */
void jf_entry_hit(unsigned long ip, unsigned long parent,
		  struct ftrace_ops *ops, struct jf_ftrace_regs *regs);
#endif

#endif /* JF_PROBES_ENTRY_H */
