/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Arguments of functions, as debug information describes them (types.c). */
#ifndef JF_AGENT_TYPES_H
#define JF_AGENT_TYPES_H

#include "agent.h"
#include "elf.h"

struct jf_agent_probe;
struct jf_member;
struct jf_module;

JF_HIDDEN void jf_types_begin(const char *path);
JF_HIDDEN int jf_types_names(const struct jf_module *m, jf_symbol_fn *fn, void *arg);
JF_HIDDEN bool jf_types_strings(void);
JF_HIDDEN void jf_types_apply(struct jf_agent_probe *p, const struct jf_module *m, uintptr_t start);
JF_HIDDEN void jf_types_forget(struct jf_agent_probe *p);
JF_HIDDEN const struct jf_member *jf_member_find(const struct jf_agent_probe *p, const char *name, size_t len);
JF_HIDDEN const char *jf_member_missing(const struct jf_agent_probe *p);

#endif /* JF_AGENT_TYPES_H */
