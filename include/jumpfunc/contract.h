/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Contracts: the protection of targets and probes while they are called. In the
 * kernel; the text below the table is about programs.
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
 *                | JF_BARE       | JF_RCU           | JF_SLEEPABLE
 *   -------------+---------------+------------------+------------------
 *   around       | nothing       | preemption is    | an SRCU reader
 *   the call     |               | off              |
 *   the function | as the caller | not sleep; use   | sleep and fault
 *   can          |               | per-CPU data and |
 *                |               | RCU              |
 *   the caller   | in any        | in any context   | in process
 *   can be       | context       | that RCU watches | context, and can
 *                |               |                  | sleep
 *   its text is  | jf_quiesce(), | jf_quiesce(),    | jf_quiesce(),
 *   waited for   | the module's  | the module's     | the module's
 *   by           | unload        | unload           | unload
 *   its data is  | nothing       | jf_quiesce(),    | ..._synchronize()
 *   waited for   |               | ..._synchronize()|
 *   by           |               | synchronize_rcu()|
 *                |               | kfree_rcu(), the |
 *                |               | module's unload  |
 *   default of   | dynamic       | tracepoints      | –
 *                | functions     |                  |
 *
 *   In a program probes are called in a section of jf_read_lock(), and other functions in
 *   one if the caller makes it; their context is the caller's. Text is waited for by
 *   jf_quiesce() and dlclose(), data by jf_quiesce(), if it is used in a section.
 *
 *   "Its data" is all that the function uses until the call returns to its caller: also the data of
 *   a function that it calls as its last act, which the compiler makes a jump. A function without a
 *   contract is not on the stack any more then, so nothing can wait for that. JF_SLEEPABLE calls
 *   share one domain: ..._synchronize() waits for the calls of others, too.
 *
 *   The contract is part of the call, not of the target: it costs nothing while
 *   a tracepoint is off. A declaration and a definition that disagree do not
 *   compile if one source file sees both. Otherwise they are not compared, and each
 *   call has the contract of the declaration that it sees: let there be one, in a
 *   header. debugfs functions shows each contract that is not JF_BARE, as defined.
 *
 * Caveats: a call of dynfunc_name(), through the trampoline, has no contract. Arguments of
 * a call are evaluated before its protection begins (where text is not patched: inside it).
 * A module with data of JF_SLEEPABLE functions calls ..._synchronize() in its exit function.
 * Where stacks cannot be read, which is on anything but x86-64 and arm64, nothing waits
 * for the text of a function that sleeps or is preempted.
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
 * enum jf_contract - the protection of a function while it is called
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

/* The second argument, or the first one if there is no second. */
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
