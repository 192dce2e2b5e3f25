/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A provider as LTTng-UST has it, in its old words and in its new ones. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER jflttng

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"

#if !defined(LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_PROVIDER_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(jflttng, all,
	LTTNG_UST_TP_ARGS(int, a, const char *, text, const uint16_t *, list, size_t, len, const double *, real),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer_hex(uint64_t, twice, (uint64_t)a * 2)
		lttng_ust_field_float(double, real, *real)
		lttng_ust_field_string(text, text)
		lttng_ust_field_array(uint16_t, two, list, 2)
		lttng_ust_field_array_text(char, head, text, 3)
		lttng_ust_field_sequence(uint16_t, list, list, size_t, len)
		lttng_ust_field_sequence_text(char, chars, text, size_t, len)
		lttng_ust_field_integer_nowrite(int, hidden, a)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(jflttng, nothing, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_LOGLEVEL(jflttng, nothing, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

TRACEPOINT_EVENT_CLASS(jflttng, cls, TP_ARGS(int, v), TP_FIELDS(ctf_integer(int, v, v)))
TRACEPOINT_EVENT_INSTANCE(jflttng, cls, one, TP_ARGS(int, v))
TRACEPOINT_EVENT_INSTANCE(jflttng, cls, two, TP_ARGS(int, v))

#endif /* LTTNG_PROVIDER_H */

#include <lttng/tracepoint-event.h>
