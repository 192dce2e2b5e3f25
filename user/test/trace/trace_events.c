// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A program with events, for tests that read them with other tools. usage: trace_events [ROUNDS] */
#include <stdio.h>
#include <stdlib.h>

#define CREATE_TRACE_POINTS
#include "events.h"

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, i;
	u16 list[] = { 10, 20, 30 };

	for (i = 0; i < rounds; i++) {
		jf_trace_kinds("text", list, i % 4, (void *)0x1234);
		jf_trace_counted(1, (u64)i, 3);
		jf_trace_small(2, (u64)i);
		jf_trace_first(i);
		jf_trace_big(i);
		jf_trace_odd(i);
	}
	return 0;
}
