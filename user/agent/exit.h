/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Where a function is left (exit.c). */
#ifndef JF_AGENT_EXIT_H
#define JF_AGENT_EXIT_H

#include "agent.h"
#include "pair.h"

struct jf_module;

/* Bytes from where the jump of an exit's probe can be to the exit itself. */
#define JF_LATE_MAX	24

JF_HIDDEN const char *jf_exits_find(struct jf_module *m, uintptr_t start, uintptr_t probe, size_t size, struct jf_exits *e);
JF_HIDDEN void jf_exits_free(struct jf_exits *e);

#endif /* JF_AGENT_EXIT_H */
