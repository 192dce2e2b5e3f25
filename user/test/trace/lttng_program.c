// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A program with events of LTTng-UST, which it records with LTTng's headers and with ours. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

/* With it two probes are on a tracepoint while it is recorded, and both get all arguments. */
#ifdef JF_LTTNG_TRACEPOINT_H
static void seen(void *data, struct jflttng_pair pair, struct jflttng_large large, const struct jflttng_pair *where)
{
	(void)data;
	if (pair.a != 5 || pair.b != 1.5 || strcmp(large.text, "large") || where->b != 1.5)
		abort();
}

static void seen_reals(void *data, float f, int i, double d)
{
	(void)data;
	if (f != 0.5f || i != 3 || d != 0.25)
		abort();
}

static void another_probe(void)
{
	if (register_jf_trace_jflttng___structures(seen, NULL) || register_jf_trace_jflttng___reals(seen_reals, NULL))
		abort();
}
#else
static void another_probe(void)
{
}
#endif

int main(void)
{
	const uint16_t list[] = { 7, 8, 0x1234 };
	const double real = 2.5;
	const int states[] = { -3, -2, 0, 1, 2, 9, 10, 200, 201 };
	const struct jflttng_pair pair = { 5, 1.5 };
	struct jflttng_large large = { "large" };
	size_t i;

	another_probe();

	lttng_ust_tracepoint(jflttng, all, -3, "text", list, 3, &real);
	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		lttng_ust_tracepoint(jflttng, state, states[i]);
	lttng_ust_tracepoint(jflttng, shown, 0x12345678, list, "text\0more", 3);
	lttng_ust_tracepoint(jflttng, shown, 0xfffffff0U, list, "text\0more", 0);
	lttng_ust_tracepoint(jflttng, old_words, -2, list, 3);
	lttng_ust_tracepoint(jflttng, reals, 0.5f, 3, 0.25);
	lttng_ust_tracepoint(jflttng, structures, pair, large, &pair);
	lttng_ust_tracepoint(jflttng, ten, 1, 2.5, 3, 4.5f, pair, -6, 7.5, 8, 9.5, large);
	lttng_ust_tracepoint(jflttng, nothing);
	tracepoint(jflttng, one, 1);
	if (tracepoint_enabled(jflttng, two))
		do_tracepoint(jflttng, two, 2);
	return 0;
}
