/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Children that share the variables of a thread (share.c). */
#ifndef JF_AGENT_SHARE_H
#define JF_AGENT_SHARE_H

#include "agent.h"

JF_HIDDEN void jf_share_begin(void);

#endif /* JF_AGENT_SHARE_H */
