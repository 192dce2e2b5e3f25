/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Entries of functions: probes in modules that know nothing of jumpfunc.
 *
 * API:
 *   register_jf_trace_jf_entry(probe, data)	and all else that tracepoint.h has
 *   jf_probes_set("+ftrace:MODULE:FUNCTION:entry")	trace these
 *   jf_probes_set("-ftrace:MODULE:FUNCTION:entry")	and no longer
 *   jf_entry_arg(args, n)		an argument of the function
 *
 * Example:
 *   static void sent(void *data, const struct jf_entry *e,
 *                    unsigned long caller, const void *args)
 *   {
 *           struct sk_buff *skb = (void *)jf_entry_arg(args, 0);
 *           ...
 *   }
 *
 *   err = register_jf_trace_jf_entry(sent, NULL);
 *   err = jf_probes_set("+ftrace:dummy:dummy_xmit:entry");
 *
 * How it works: the tracepoint jf_entry is in the kernel only. Patterns are those of
 * the file "probes" of debugfs. Nothing of ours stands in such a function. The site is the nop at
 * its beginning that the compiler made for the kernel's tracer. That calls a function of jumpfunc,
 * which finds out which function it is, counts, and hits the tracepoint. So it calls its
 * probes as any other tracepoint does: directly, by a chain.
 *
 * Caveats: which functions are traced is decided once, for all probes of jf_entry, as
 * with the kernel's trace events. A probe is told of all of them, and @e says which one
 * it is. It runs in the context of the function's caller, an NMI even, with preemption
 * off. Functions that it calls are not traced, and neither are those that another callback of
 * ftrace calls. @e is freed when its function is disabled, or its module unloaded: a probe must not
 * keep it.
 */
#ifndef JUMPFUNC_ENTRY_H
#define JUMPFUNC_ENTRY_H

#ifndef __KERNEL__
#error "for kernel modules only"
#else
#include <jumpfunc/tracepoint.h>

/**
 * struct jf_entry - a function that is traced at its entry
 * @module:   the name of its module
 * @function: its name
 * @addr:     where it begins
 */
struct jf_entry {
	const char	*module;
	const char	*function;
	unsigned long	addr;
};

DECLARE_JF_TRACE(jf_entry,
		 JF_PROTO(const struct jf_entry *e, unsigned long caller,
			  const void *args),
		 JF_ARGS(e, caller, args));

/**
 * jf_entry_arg() - an argument of a function that is traced at its entry
 * @args: as the probe got them
 * @n:    which one, from 0; the first six can be had
 *
 * It has the width of a register. Of an argument that is narrower the upper part is
 * whatever was there.
 *
 * Context: any, in a probe of jf_entry.
 *
 * Return: the argument, or 0 if it is not in a register, or where the kernel does not
 * keep those.
 */
unsigned long jf_entry_arg(const void *args, unsigned int n);

/**
 * jf_probes_set() - enable and disable probes by patterns
 * @cmd: as it may be written to the file probes of debugfs
 *
 * All of it is done, or nothing.
 *
 * Context: process context, may sleep; not from a CPU hotplug callback, a probe or a
 * module notifier.
 *
 * Return: 0; -EINVAL: @cmd cannot be parsed, or contradicts itself; -ENOENT: a pattern
 * fits nothing; -EPERM: a target is not to be set; -EOPNOTSUPP: this kernel has no
 * function tracer; -EBUSY: it is switched off, or a module is being unloaded; -ENOMEM;
 * -EWOULDBLOCK: not in this context; or an error of jf_batch_commit(). Unless that is
 * -EIO, nothing has changed.
 */
int __JF_MUST_CHECK jf_probes_set(const char *cmd);

#endif /* __KERNEL__ */
#endif /* JUMPFUNC_ENTRY_H */
