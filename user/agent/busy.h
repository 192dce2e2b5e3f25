/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Threads whose calls are no calls of the program (busy.c). */
#ifndef JF_AGENT_BUSY_H
#define JF_AGENT_BUSY_H

#include "agent.h"

/* This thread is in the agent: its calls are not recorded. */
extern __thread unsigned int jf_agent_busy JF_HIDDEN __attribute__((__tls_model__("initial-exec")));
/* The same of libjumpfunc-trace, see struct jf_provider. */
JF_HIDDEN void jf_agent_own(bool begins);

#endif /* JF_AGENT_BUSY_H */
