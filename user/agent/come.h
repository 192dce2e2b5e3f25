/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The lock of the agent, and objects that come (come.c). */
#ifndef JF_AGENT_COME_H
#define JF_AGENT_COME_H

#include "agent.h"

JF_HIDDEN void jf_agent_lock(void);
JF_HIDDEN void jf_agent_unlock(void);
/* With the lock: objects that have come get their probes. */
JF_HIDDEN void jf_look(void);
JF_HIDDEN void jf_find_callers(bool changed);
JF_HIDDEN void jf_name_elsewhere(void);
JF_HIDDEN void jf_name_lack(void);
JF_HIDDEN void jf_begin_hook(void);
JF_HIDDEN void jf_look_for_filters(void);
JF_HIDDEN void jf_look_for_handlers(void);
JF_HIDDEN void jf_fork_begins(void);
JF_HIDDEN void jf_fork_ends(bool child);

#endif /* JF_AGENT_COME_H */
