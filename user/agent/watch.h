/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Calls of the program by which it installs filters and handlers (watch.c). */
#ifndef JF_AGENT_WATCH_H
#define JF_AGENT_WATCH_H

#include "agent.h"

struct jf_spot;

/* @own: the thread has the C library's variables. */
JF_HIDDEN void jf_watch_call(const struct jf_spot *spot, const uint64_t *reg, bool own);
/* True: the calling thread may not read the time. */
JF_HIDDEN bool jf_watch_is_blind(void);
JF_HIDDEN void jf_watch_handler(uint64_t *reg);

#endif /* JF_AGENT_WATCH_H */
