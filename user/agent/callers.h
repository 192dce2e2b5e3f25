/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Functions that filters name as callers (callers.c). */
#ifndef JF_AGENT_CALLERS_H
#define JF_AGENT_CALLERS_H

#include "agent.h"

struct jf_callers;
struct jf_module;
struct jf_step;

JF_HIDDEN struct jf_callers *jf_callers_get(const struct jf_step *step);
JF_HIDDEN void jf_callers_want(const char *text);
JF_HIDDEN bool jf_callers_begin(bool changed);
JF_HIDDEN int jf_callers_look(struct jf_module *m, void *failed);
JF_HIDDEN bool jf_callers_end(void);

#endif /* JF_AGENT_CALLERS_H */
