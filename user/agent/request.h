/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Requests: patterns that are switched on and off, and the list of probes (request.c). */
#ifndef JF_AGENT_REQUEST_H
#define JF_AGENT_REQUEST_H

#include "agent.h"

/* A shadow stack would have to hear of the calls that copies push. */
JF_HIDDEN bool jf_shadow_stack(void);
JF_HIDDEN void jf_ask_for(const char *text);
JF_HIDDEN int jf_providers_register(void);

#endif /* JF_AGENT_REQUEST_H */
