/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Members that arguments lead to, in records (shown.c). */
#ifndef JF_AGENT_SHOWN_H
#define JF_AGENT_SHOWN_H

#include "agent.h"

struct jf_agent_probe;

JF_HIDDEN const char *jf_show(struct jf_agent_probe *p, const char *members);

#endif /* JF_AGENT_SHOWN_H */
