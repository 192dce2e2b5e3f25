/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Functions whose calls are recorded, by an entry and all exits (calls.c). */
#ifndef JF_AGENT_CALLS_H
#define JF_AGENT_CALLS_H

#include "agent.h"

struct jf_agent_probe;
struct jf_calls;

JF_HIDDEN int jf_calls_new(struct jf_agent_probe *p, uintptr_t start, size_t size);
JF_HIDDEN const char *jf_calls_sum(struct jf_agent_probe *p, bool sums);
JF_HIDDEN void jf_calls_set_min(struct jf_calls *c, uint64_t min);
JF_HIDDEN void jf_calls_forget(struct jf_agent_probe *p);
JF_HIDDEN const char *jf_calls_refused(struct jf_agent_probe *p);
JF_HIDDEN void jf_calls_make(struct jf_agent_probe *p);
JF_HIDDEN size_t jf_calls_on(struct jf_agent_probe **probes, size_t num, int *err);
JF_HIDDEN int jf_calls_off(struct jf_agent_probe **probes, size_t num);
JF_HIDDEN void jf_calls_end(void);

#endif /* JF_AGENT_CALLS_H */
