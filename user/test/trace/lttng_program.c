// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A program with events of LTTng-UST, which it records with LTTng's headers and with ours. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

int main(void)
{
	const uint16_t list[] = { 7, 8, 9 };
	const double real = 2.5;

	lttng_ust_tracepoint(jflttng, all, -3, "text", list, 3, &real);
	lttng_ust_tracepoint(jflttng, nothing);
	tracepoint(jflttng, one, 1);
	if (tracepoint_enabled(jflttng, two))
		do_tracepoint(jflttng, two, 2);
	return 0;
}
