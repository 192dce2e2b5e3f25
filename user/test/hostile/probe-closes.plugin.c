// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object with a probe of a tracepoint of the program's. */
#include <jumpfunc/tracepoint.h>

DECLARE_JF_TRACE(event, JF_PROTO(int i), JF_ARGS(i));
IMPORT_JF_TRACE(event);

static void count(void *data, int i)
{
	*(volatile int *)data += i;
}

int plugin_start(int *seen);
int plugin_start(int *seen)
{
	return register_jf_trace_prio_event(count, seen, 1);
}
