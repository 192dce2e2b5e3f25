/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The filter of a probe: which records are made (choose.c). */
#ifndef JF_AGENT_CHOOSE_H
#define JF_AGENT_CHOOSE_H

#include "agent.h"

struct jf_agent_probe;

JF_HIDDEN const char *jf_choose(struct jf_agent_probe *p, const char *text);

#endif /* JF_AGENT_CHOOSE_H */
