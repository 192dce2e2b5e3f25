/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Probes: their records, on and off (probe.c). */
#ifndef JF_AGENT_PROBE_H
#define JF_AGENT_PROBE_H

#include "agent.h"
#include "event.h"
#include "seccomp.h"

struct jf_module;

static inline struct jf_agent_probe *jf_probe_of(struct jf_spot *spot)
{
	return (struct jf_agent_probe *)(void *)((char *)spot - offsetof(struct jf_agent_probe, spot));
}

JF_HIDDEN struct jf_agent_probe *jf_probe_new(struct jf_module *module, const char *group, const char *name,
					uintptr_t at, size_t avail);
JF_HIDDEN void jf_probe_note(struct jf_agent_probe *p, const char *args, uint16_t *semaphore);
JF_HIDDEN void jf_probe_function(struct jf_agent_probe *p);
JF_HIDDEN void jf_probe_call(struct jf_agent_probe *p);
JF_HIDDEN int jf_probe_strings(struct jf_agent_probe *p, uint16_t strings);
JF_HIDDEN void jf_module_add(struct jf_module *module, struct jf_agent_probe *p);
JF_HIDDEN void jf_probe_forget(struct jf_agent_probe *p);
JF_HIDDEN size_t jf_probes_on(struct jf_agent_probe **probes, size_t num, int *err);
JF_HIDDEN int jf_probes_off(struct jf_agent_probe **probes, size_t num);
JF_HIDDEN int jf_probe_watch(struct jf_agent_probe *p, enum jf_watch watch);
JF_HIDDEN int jf_probe_hook(struct jf_agent_probe **p, uintptr_t at, size_t avail, void (*hook)(void));

#endif /* JF_AGENT_PROBE_H */
