// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* LTTng-UST's tracepoint: its provider, and the loop. */
#include "../lttng.c"
#include "ust.h"

void loop(long n)
{
	lttng_loop(n);
}
