/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The second file of calls_prog.c. */
#include "calls.h"

int second(int x)
{
	__dtrace_calls___shared(-x);
	return in_header(x);
}

int second_guarded(long x)
{
	if (!__dtraceenabled_calls___guarded())
		return 0;
	__dtrace_calls___guarded(x);
	return 1;
}
