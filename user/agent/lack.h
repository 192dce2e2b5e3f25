/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Lacks of memory (lack.c). */
#ifndef JF_AGENT_LACK_H
#define JF_AGENT_LACK_H

#include "agent.h"

/* How often there was no memory, for any part. With agent_lock. */
extern unsigned int jf_lacks JF_HIDDEN;
/* As a reason. */
extern const char jf_no_memory[] JF_HIDDEN;

/* Of malloc() and the like. */
static inline void *jf_have(void *memory)
{
	jf_lacks += !memory;
	return memory;
}

#endif /* JF_AGENT_LACK_H */
