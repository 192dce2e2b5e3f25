/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints (jf_tracepoint.c), for the rooms above. */
#ifndef JF_CORE_TRACEPOINT_H
#define JF_CORE_TRACEPOINT_H

#include <linux/types.h>

struct module;

/**
 * struct jf_trace_stats - what `stats` shows of tracepoints
 * @transitions:    changes of a tracepoint's probes
 * @iter_many:      of these, to the iterator because a chain has too few slots
 * @iter_exhausted: of these, to the iterator because all images were taken
 */
struct jf_trace_stats {
	u64 transitions, iter_many, iter_exhausted;
};

extern struct jf_trace_stats jf_trace_stats;

/* A module goes: take off its probes. -errno: not yet, try again. */
int jf_trace_module_going(struct module *mod);
/* When the last tracepoint has gone. */
void jf_trace_exit(void);

#endif /* JF_CORE_TRACEPOINT_H */
