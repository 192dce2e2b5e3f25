/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Messages (say.c). */
#ifndef JF_AGENT_SAY_H
#define JF_AGENT_SAY_H

#include "agent.h"

/* JUMPFUNC=verbose. */
extern bool jf_verbose JF_HIDDEN;
/* One line on standard error. */
__attribute__((__format__(__printf__, 1, 2)))
JF_HIDDEN void jf_say(const char *format, ...);

#endif /* JF_AGENT_SAY_H */
