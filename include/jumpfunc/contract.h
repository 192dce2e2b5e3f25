/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Contracts: what protects targets and probes while they are called. In the
 * kernel only.
 *
 * API:
 *   JF_BARE, JF_RCU, JF_SLEEPABLE	the last argument, which may be left out, of
 *					DECLARE_JF_TRACE(), DECLARE_DYNFUNC(),
 *					DEFINE_DYNFUNC() and so on
 *   jf_trace_synchronize(name)		wait until no probe that was removed runs
 *   dynfunc_synchronize(name)		wait until no target that was replaced runs
 *
 * Example:
 *   DECLARE_JF_TRACE(rx, JF_PROTO(struct packet *p), JF_ARGS(p),
 *                    JF_SLEEPABLE);
 *
 *   err = unregister_jf_trace_rx(probe, data);
 *   jf_trace_synchronize(rx);
 *   kfree(data);
 *
 * How it works:
 *
 *                  | JF_BARE      | JF_RCU           | JF_SLEEPABLE
 *   ---------------+--------------+------------------+-----------------
 *   around         | nothing      | preemption is    | an SRCU reader
 *   the call       |              | off              |
 *   the function   | do what the  | not sleep; use   | sleep and fault
 *   may            | caller may   | per-CPU data and |
 *                  |              | RCU              |
 *   the caller may | any context  | any context that | process context,
 *   be in          |              | RCU watches      | may sleep
 *   what it used   | jf_quiesce() | kfree_rcu(),     | jf_quiesce(),
 *   may be freed   |              | jf_quiesce(),    | ..._synchronize()
 *   after          |              | synchronize_rcu()|
 *   default of     | dynamic      | tracepoints      | –
 *                  | functions    |                  |
 *
 *   The contract is part of the call, not of what is called: it costs nothing while
 *   a tracepoint is off. A declaration and a definition that disagree do not
 *   compile if one source file sees both. Otherwise they are not compared, and each
 *   call has the contract of the declaration that it sees: let there be one, in a
 *   header. debugfs functions shows each contract that is not JF_BARE, as defined.
 *
 * Caveats: a contract is about data. The text of a function whose module is
 * unloaded is waited for under any contract. Arguments of a call are evaluated
 * before its protection begins (where text is not patched: inside it). Where stacks
 * cannot be read, which is on anything but x86-64 and arm64, nothing waits for a JF_BARE
 * function that sleeps or is preempted; nowhere does anything wait for one whose
 * last act is to call what sleeps, if the compiler makes that a jump (see
 * jf_quiesce()).
 */
#ifndef JUMPFUNC_CONTRACT_H
#define JUMPFUNC_CONTRACT_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/srcu.h>

#include <jumpfunc/batch.h>

/**
 * enum jf_contract - what protects a function while it is called
 * @JF_BARE:      nothing but jf_quiesce()
 * @JF_RCU:       preemption is off, which is a section of RCU as well
 * @JF_SLEEPABLE: a section of SRCU
 */
enum jf_contract {
	JF_BARE,
	JF_RCU,
	JF_SLEEPABLE,
};

/* Readers of all JF_SLEEPABLE calls. */
extern struct srcu_struct jf_sleepable_srcu;

static __always_inline int __jf_enter(const enum jf_contract contract)
{
	if (contract == JF_RCU) {
		preempt_disable_notrace();
		RCU_LOCKDEP_WARN(!rcu_is_watching(),
				 "a JF_RCU call where RCU does not watch");
	}
	if (contract == JF_SLEEPABLE) {
		might_sleep();
		return srcu_read_lock(&jf_sleepable_srcu);
	}
	return 0;
}

static __always_inline void __jf_leave(const enum jf_contract contract, int idx)
{
	if (contract == JF_RCU)
		preempt_enable_notrace();
	if (contract == JF_SLEEPABLE)
		srcu_read_unlock(&jf_sleepable_srcu, idx);
}

static inline void __jf_synchronize(const enum jf_contract contract)
{
	if (contract == JF_RCU)
		synchronize_rcu();
	else if (contract == JF_SLEEPABLE)
		synchronize_srcu(&jf_sleepable_srcu);
	else
		jf_quiesce();
}

/* jf_ent.flags of a contract. */
#define __JF_CONTRACT_SHIFT	6
#define __JF_CONTRACT_FLAGS(contract)	((contract) << __JF_CONTRACT_SHIFT)

/* The second argument, or where there is none the first one. */
#define __JF_OPT(def, opt...)		__JF_OPT_(0, ##opt, def)
#define __JF_OPT_(_0, opt, ...)		opt

/*
 * A dynamic function's contract as a constant. Unlike an enumerator it can be
 * declared more than once, as the same.
 */
#define __JF_DECLARE_CONTRACT(name, contract...)			\
	extern char __jf_contract_##name[1 + __JF_OPT(JF_BARE, ##contract)]
#define __JF_CONTRACT(name)						\
	((enum jf_contract)(sizeof(__jf_contract_##name) - 1))

#endif /* __KERNEL__ */
#endif /* JUMPFUNC_CONTRACT_H */
