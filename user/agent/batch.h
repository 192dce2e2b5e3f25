/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Probes that are switched on together (batch.c). */
#ifndef JF_AGENT_BATCH_H
#define JF_AGENT_BATCH_H

#include "agent.h"

struct jf_agent_probe;

/* So many functions are switched on in one transaction. */
#define JF_BATCH_MAX	256

/**
 * struct how - probes are recorded
 * @strings:   arguments that are recorded as strings, too: bit 0 is the first
 * @min:       of calls: shorter ones are not recorded; in nanoseconds
 * @sums:      of calls: sums of them, and no records
 * @choice:    which records are made, as in a pattern
 * @members:   that are recorded, as in a pattern
 */
struct how {
	uint16_t	strings;
	uint64_t	min;
	bool		sums;
	const char	*choice;
	const char	*members;
};

struct batch {
	struct jf_agent_probe	*probe[JF_BATCH_MAX];
	size_t		num;
	int		on;
	int		tried;
	int		err;
};

extern unsigned int jf_breakpoints JF_HIDDEN;
extern bool jf_recording JF_HIDDEN;
JF_HIDDEN void jf_ask_add(struct batch *b, struct jf_agent_probe *p, const struct how *how);
JF_HIDDEN void jf_ask_commit(struct batch *b);
JF_HIDDEN void jf_ask_lacks(const char *object, int err);

#endif /* JF_AGENT_BATCH_H */
