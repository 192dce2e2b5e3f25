/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts that selftests/driver/probe.py puts into a driver: a probe, and beside it a
 * counter, which knows nothing of jumpfunc, of the passes and of the calls of
 * the subscriber.
 */
#ifndef JF_PROBED_H
#define JF_PROBED_H

#include <linux/atomic.h>
#include <linux/types.h>

#include <jumpfunc/calls.h>

/**
 * struct jf_pass - one time that a task comes to a probe
 * @stage: the state of the probes when it came
 * @told:  1 + the number of the probe that the subscriber was told, or 0
 */
struct jf_pass {
	unsigned int	stage;
	unsigned int	told;
};

/* For each probe: passes, those that the subscriber was told, and its count. */
enum { JF_PASSES, JF_TOLD, JF_HITS, JF_PROBED_COUNTS };

extern const unsigned int jf_probed_num;
extern atomic_long_t jf_probed_counts[][JF_PROBED_COUNTS];

void jf_pass_begins(unsigned int probe, struct jf_pass *pass);
void jf_pass_ends(unsigned int probe, struct jf_pass *pass);
void jf_probed_hit(unsigned int probe, struct jf_pass *pass);

#define JF_PROBED_DECLARE(name)						\
	void name(unsigned int probe, struct jf_pass *pass)

#define JF_PROBED_TARGET(name)						\
	DECLARE_DYNFUNC(name, name);					\
	DYNFUNC_TARGETS(name, jf_probed_hit)

#ifdef JF_PROBED_BARE
#define JF_PROBED(probe, name)	name(probe, NULL)
#else
#define JF_PROBED(probe, name)						\
	do {								\
		struct jf_pass __pass;					\
									\
		jf_pass_begins(probe, &__pass);				\
		name(probe, &__pass);					\
		jf_pass_ends(probe, &__pass);				\
	} while (0)
#endif

#endif /* JF_PROBED_H */
