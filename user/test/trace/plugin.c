// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A shared object with events of its own, which a program loads late. */
#define CREATE_TRACE_POINTS
#include "events.h"

void plugin_records(int num);

void plugin_records(int num)
{
	int i;

	for (i = 0; i < num; i++)
		jf_trace_small(9, (u64)i);
}
