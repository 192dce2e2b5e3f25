// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* LeakSanitizer reports no leak of memory that only a probe's data points to. */
#include <jumpfunc/tracepoint.h>

#include "hostile.h"

/* One for each image and more, for which an array is walked. */
#define PROBES	2000

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static void probe(void *data, int i)
{
	*(int *)data += i;
}

static void add(void)
{
	int i;

	for (i = 0; i < PROBES; i++)
		MUST(!register_jf_trace_rx(probe, calloc(1, sizeof(int))), "probe %d", i);
}

int main(void)
{
	alarm(50);
	add();
	jf_trace_rx(1);
	return 0;
}
