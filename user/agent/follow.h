/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Rights that change for one thread (follow.c). */
#ifndef JF_AGENT_FOLLOW_H
#define JF_AGENT_FOLLOW_H

#include "agent.h"

JF_HIDDEN void jf_follow_begin(void);

#endif /* JF_AGENT_FOLLOW_H */
