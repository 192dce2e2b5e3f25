// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Threads in the agent, or in libjumpfunc-trace: their calls are no calls of the program. */
#include "busy.h"

__thread unsigned int jf_agent_busy __attribute__((__tls_model__("initial-exec")));

void jf_agent_own(bool begins)
{
	static __thread unsigned int depth __attribute__((__tls_model__("initial-exec")));

	/* One that began before the agent was there has no end. */
	if (!begins && !depth)
		return;
	depth += begins ? 1 : -1U;
	jf_agent_busy += begins ? 1 : -1U;
}
