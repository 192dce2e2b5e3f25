/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The records of a thread that comes by (record.c, entry.S). */
#ifndef JF_AGENT_RECORD_H
#define JF_AGENT_RECORD_H

#include "agent.h"

struct jf_spot;

/* By the number that a place's code has: the first of those that are there. */
extern struct jf_spot **jf_spots JF_HIDDEN;
/* Probes' code calls this. */
JF_HIDDEN void jf_agent_enter(void);
/* Once, before any of them is executed. 0 or -ENOMEM. */
JF_HIDDEN int jf_record_begin(void);
/* Another one will have this thread's variables, and run beside it. */
JF_HIDDEN void jf_record_share(void);
/* Objects are to be looked for by the next thread that may. */
extern bool jf_look_again JF_HIDDEN;
/* The number that the next probe has. */
#define JF_SPOTS_MAX	(1U << 20)

#endif /* JF_AGENT_RECORD_H */
