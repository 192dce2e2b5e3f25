// SPDX-License-Identifier: GPL-2.0
/*
 * The targets of the benchmarks. In an object file of their own, so that the compiler
 * knows no more of them than of any function.
 */
#include "bench.h"
#include "bulk.h"
#include "targets.h"

#include <jumpfunc/entry.h>

#define TARGET(i)							\
	notrace unsigned long jfb_target_##i(unsigned long x)		\
	{								\
		return x + 1;						\
	}
JFB_REP64(TARGET, t)

#define POINTER(i)	jfb_target_##i,
jfb_fn * const jfb_targets[JFB_SITES] = { JFB_REP64(POINTER, t) };

#define PROBE(i)							\
	notrace void jfb_probe_##i(void *data, unsigned long arg)	\
	{								\
		struct jfb_slot *slot = data;				\
									\
		WRITE_ONCE(slot->last, arg + slot->id);			\
	}
JFB_REP8(PROBE, p)

#define PROBE_POINTER(i) jfb_probe_##i,
jfb_probe_fn * const jfb_probes[JFB_PROBES] = { JFB_REP8(PROBE_POINTER, p) };

/* The only functions here that ftrace can enter; it enters the first one. */
noinline void jfb_entered(unsigned long arg)
{
	asm volatile("" : : "r" (arg) : "memory");
}

noinline void jfb_not_entered(unsigned long arg)
{
	asm volatile("" : : "r" (arg) : "memory");
}

notrace void jfb_entry_probe(void *data, const struct jf_entry *e,
			     unsigned long caller, const void *args)
{
	struct jfb_slot *slot = data;

	WRITE_ONCE(slot->last, jf_entry_arg(args, 0) + slot->id);
}

notrace unsigned long jfb_specimen(jfb_fn *f, unsigned long x)
{
	return f(x) + 1;
}

notrace unsigned int jfb_bulk_0(void)
{
	return 0;
}

notrace unsigned int jfb_bulk_1(void)
{
	return 1;
}
