/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A provider as LTTng-UST has it, in its old words and in its new ones. */
#ifndef LTTNG_PROVIDER_TYPES_H
#define LTTNG_PROVIDER_TYPES_H
struct jflttng_pair {
	int		a;
	double		b;
};

struct jflttng_large {
	char		text[40];
};
#endif

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER jflttng

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"

#if !defined(LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(jflttng, all,
	LTTNG_UST_TP_ARGS(int, a, const char *, text, const uint16_t *, list, size_t, len, const double *, real),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_string(text, text)
		lttng_ust_field_integer_hex(uint64_t, twice, (uint64_t)a * 2)
		lttng_ust_field_float(double, real, *real)
		lttng_ust_field_array(uint16_t, two, list, 2)
		lttng_ust_field_array_text(char, head, text, 3)
		lttng_ust_field_sequence(uint16_t, list, list, size_t, len)
		lttng_ust_field_sequence_text(char, chars, text, size_t, len)
		lttng_ust_field_integer_nowrite(int, hidden, a)
		lttng_ust_field_integer(bool, yes, a)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(jflttng, states,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("minus", -2)
		lttng_ust_field_enum_value("zero", 0)
		lttng_ust_field_enum_auto("one")
		lttng_ust_field_enum_range("some \"quoted\\ones\"", 2, 9)
		lttng_ust_field_enum_auto("ten")
	)
)

TRACEPOINT_ENUM(jflttng, old, TP_ENUM_VALUES(
	ctf_enum_value("a", 1)
	ctf_enum_range("b", 2, 200)
	ctf_enum_auto("c")
))

LTTNG_UST_TRACEPOINT_EVENT(jflttng, state,
	LTTNG_UST_TP_ARGS(int, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_enum(jflttng, states, int, state, v)
		lttng_ust_field_enum(jflttng, states, int64_t, wide, v)
		lttng_ust_field_enum(jflttng, old, unsigned char, old, v)
		ctf_enum(jflttng, old, unsigned int, again, v)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(jflttng, state, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)

LTTNG_UST_TRACEPOINT_EVENT(jflttng, shown,
	LTTNG_UST_TP_ARGS(uint32_t, v, const uint16_t *, list, const char *, text, size_t, len),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(int, hex, -1)
		lttng_ust_field_integer_network(uint32_t, net, v)
		lttng_ust_field_integer_network_hex(uint32_t, nethex, v)
		lttng_ust_field_array_hex(uint16_t, array_hex, list, 2)
		lttng_ust_field_array_network(uint16_t, array_net, list, 2)
		lttng_ust_field_array_network_hex(uint16_t, array_nethex, list, 2)
		lttng_ust_field_sequence_hex(uint16_t, seq_hex, list, size_t, len)
		lttng_ust_field_sequence_network(uint16_t, seq_net, list, unsigned char, len)
		lttng_ust_field_sequence_network_hex(uint16_t, seq_nethex, list, uint32_t, len)
		lttng_ust_field_array(char, numbers, text, 2)
		lttng_ust_field_sequence(char, more, text, size_t, len)
		lttng_ust_field_array_text(char, cut, text, 9)
		lttng_ust_field_unused(v)
		lttng_ust_field_enum_nowrite(jflttng, states, int, hidden, v)
		lttng_ust_field_array_nowrite_hex(uint16_t, hidden2, list, 2)
		lttng_ust_field_sequence_network_nowrite(uint16_t, hidden3, list, size_t, len)
		ctf_unused(v)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(jflttng, old_words,
	TP_ARGS(int, v, const uint16_t *, list, size_t, len),
	TP_FIELDS(
		ctf_integer_network(int, net, v)
		ctf_integer_network_hex(int, nethex, v)
		ctf_array_hex(uint16_t, array_hex, list, 2)
		ctf_array_network(uint16_t, array_net, list, 2)
		ctf_array_network_hex(uint16_t, array_nethex, list, 2)
		ctf_sequence_hex(uint16_t, seq_hex, list, size_t, len)
		ctf_sequence_network(uint16_t, seq_net, list, size_t, len)
		ctf_sequence_network_hex(uint16_t, seq_nethex, list, size_t, len)
	)
)
TRACEPOINT_LOGLEVEL(jflttng, old_words, TRACE_DEBUG_UNIT)

LTTNG_UST_TRACEPOINT_EVENT(jflttng, reals,
	LTTNG_UST_TP_ARGS(float, f, int, i, double, d),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_float(float, f, f)
		lttng_ust_field_integer(int, i, i)
		lttng_ust_field_float(double, d, d)
		lttng_ust_field_float(double, sum, d + f)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(jflttng, structures,
	LTTNG_UST_TP_ARGS(struct jflttng_pair, pair, struct jflttng_large, large, const struct jflttng_pair *, where),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, pair.a)
		lttng_ust_field_float(double, b, pair.b)
		lttng_ust_field_string(text, large.text)
		lttng_ust_field_integer(int, where_a, where->a)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(jflttng, ten,
	LTTNG_UST_TP_ARGS(int, a, double, b, long, c, float, d, struct jflttng_pair, e, short, f, double, g, char, h, double, i,
			  struct jflttng_large, j),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_float(double, b, b)
		lttng_ust_field_integer(long, c, c)
		lttng_ust_field_float(float, d, d)
		lttng_ust_field_float(double, e, e.b)
		lttng_ust_field_integer(short, f, f)
		lttng_ust_field_float(double, g, g)
		lttng_ust_field_integer(char, h, h)
		lttng_ust_field_float(double, i, i)
		lttng_ust_field_string(j, j.text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(jflttng, nothing, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_LOGLEVEL(jflttng, nothing, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)

TRACEPOINT_EVENT_CLASS(jflttng, cls, TP_ARGS(int, v), TP_FIELDS(ctf_integer(int, v, v)))
TRACEPOINT_EVENT_INSTANCE(jflttng, cls, one, TP_ARGS(int, v))
/* The provider as a macro. */
TRACEPOINT_EVENT_INSTANCE(LTTNG_UST_TRACEPOINT_PROVIDER, cls, two, TP_ARGS(int, v))

#endif /* LTTNG_PROVIDER_H */

#include <lttng/tracepoint-event.h>
