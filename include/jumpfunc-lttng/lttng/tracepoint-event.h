/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The end of a provider's header: see <lttng/tracepoint.h>, of this folder. Where the probes are to
 * be made, in one source file, it reads the header again, four times. No include guard.
 */
#if (defined(LTTNG_UST_TRACEPOINT_CREATE_PROBES) || defined(TRACEPOINT_CREATE_PROBES)) && !defined(__JF_LTTNG_PASS)
#define __JF_LTTNG_PASS
/* Each of the functions below uses some of an event's arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define TRACEPOINT_HEADER_MULTI_READ
#undef __jf_lttng_class
#undef __jf_lttng_instance
#undef __jf_lttng_enum
#undef __jf_lttng_level

#ifdef LTTNG_UST_TRACEPOINT_INCLUDE
#define __JF_LTTNG_HEADER	LTTNG_UST_TRACEPOINT_INCLUDE
#else
#define __JF_LTTNG_HEADER	TRACEPOINT_INCLUDE
#endif

/* Words that stay: of fields, of which each pass below makes something else. */
#ifndef __JF_LTTNG_DECIMAL
#define __JF_LTTNG_DECIMAL		__JF_SHOW_DECIMAL
#define __JF_LTTNG_HEX			__JF_SHOW_HEX
#define __JF_LTTNG_TEXT			__JF_SHOW_TEXT
#define __JF_LTTNG_NETWORK		(__JF_SHOW_DECIMAL | __JF_SHOW_NETWORK)
#define __JF_LTTNG_NETWORK_HEX		(__JF_SHOW_HEX | __JF_SHOW_NETWORK)
#define __JF_LTTNG_LABELS(provider, name)	__JF_LTTNG_LABELS_1(provider, name)
#define __JF_LTTNG_LABELS_1(provider, name)	__jf_labels_##provider##___##name
#define lttng_ust_field_integer(type, item, src)	\
	__jf_lttng_number(type, item, src, __JF_LTTNG_DECIMAL, NULL)
#define lttng_ust_field_integer_hex(type, item, src)	\
	__jf_lttng_number(type, item, src, __JF_LTTNG_HEX, NULL)
#define lttng_ust_field_integer_network(type, item, src)	\
	__jf_lttng_number(type, item, src, __JF_LTTNG_NETWORK, NULL)
#define lttng_ust_field_integer_network_hex(type, item, src)	\
	__jf_lttng_number(type, item, src, __JF_LTTNG_NETWORK_HEX, NULL)
#define lttng_ust_field_float(type, item, src)	\
	__jf_lttng_number(type, item, src, __JF_LTTNG_DECIMAL, NULL)
#define lttng_ust_field_enum(provider, name, type, item, src)	\
	__jf_lttng_number(type, item, src, __JF_LTTNG_DECIMAL, __JF_LTTNG_LABELS(provider, name))
#define lttng_ust_field_string(item, src)	__jf_lttng_string(item, src)
#define lttng_ust_field_array(type, item, src, len)	\
	__jf_lttng_array(type, item, src, len, __JF_LTTNG_DECIMAL)
#define lttng_ust_field_array_hex(type, item, src, len)	\
	__jf_lttng_array(type, item, src, len, __JF_LTTNG_HEX)
#define lttng_ust_field_array_network(type, item, src, len)	\
	__jf_lttng_array(type, item, src, len, __JF_LTTNG_NETWORK)
#define lttng_ust_field_array_network_hex(type, item, src, len)	\
	__jf_lttng_array(type, item, src, len, __JF_LTTNG_NETWORK_HEX)
#define lttng_ust_field_array_text(type, item, src, len)	\
	__jf_lttng_array(type, item, src, len, __JF_LTTNG_TEXT)
#define lttng_ust_field_sequence(type, item, src, len_type, len)	\
	__jf_lttng_sequence(type, item, src, len, __JF_LTTNG_DECIMAL)
#define lttng_ust_field_sequence_hex(type, item, src, len_type, len)	\
	__jf_lttng_sequence(type, item, src, len, __JF_LTTNG_HEX)
#define lttng_ust_field_sequence_network(type, item, src, len_type, len)	\
	__jf_lttng_sequence(type, item, src, len, __JF_LTTNG_NETWORK)
#define lttng_ust_field_sequence_network_hex(type, item, src, len_type, len)	\
	__jf_lttng_sequence(type, item, src, len, __JF_LTTNG_NETWORK_HEX)
#define lttng_ust_field_sequence_text(type, item, src, len_type, len)	\
	__jf_lttng_sequence(type, item, src, len, __JF_LTTNG_TEXT)
/* From 2.14 on; as bytes. */
#define lttng_ust_field_fixed_length_blob(item, src, len, media)	\
	__jf_lttng_array(uint8_t, item, src, len, __JF_LTTNG_HEX)
#define lttng_ust_field_variable_length_blob(item, src, len_type, len, media)	\
	__jf_lttng_sequence(uint8_t, item, src, len, __JF_LTTNG_HEX)
#define lttng_ust_field_fixed_length_blob_nowrite(...)
#define lttng_ust_field_variable_length_blob_nowrite(...)
#define lttng_ust_field_integer_nowrite(...)
#define lttng_ust_field_float_nowrite(...)
#define lttng_ust_field_enum_nowrite(...)
#define lttng_ust_field_string_nowrite(...)
#define lttng_ust_field_array_nowrite(...)
#define lttng_ust_field_array_text_nowrite(...)
#define lttng_ust_field_sequence_nowrite(...)
#define lttng_ust_field_sequence_text_nowrite(...)
#define lttng_ust_field_array_nowrite_hex(...)
#define lttng_ust_field_array_network_nowrite(...)
#define lttng_ust_field_array_network_nowrite_hex(...)
#define lttng_ust_field_sequence_nowrite_hex(...)
#define lttng_ust_field_sequence_network_nowrite(...)
#define lttng_ust_field_sequence_network_nowrite_hex(...)
#define lttng_ust_field_unused(...)
#define lttng_ust_field_unused_nowrite(...)
#define lttng_ust_field_enum_value(label, value)	\
	{ label, (int64_t)(value), (int64_t)(value), false },
#define lttng_ust_field_enum_range(label, first, last)	\
	{ label, (int64_t)(first), (int64_t)(last), false },
#define lttng_ust_field_enum_auto(label)	{ label, 0, 0, true },
/* Before 2.13. */
#define ctf_integer			lttng_ust_field_integer
#define ctf_integer_hex			lttng_ust_field_integer_hex
#define ctf_integer_network		lttng_ust_field_integer_network
#define ctf_integer_network_hex		lttng_ust_field_integer_network_hex
#define ctf_float			lttng_ust_field_float
#define ctf_enum			lttng_ust_field_enum
#define ctf_string			lttng_ust_field_string
#define ctf_array			lttng_ust_field_array
#define ctf_array_hex			lttng_ust_field_array_hex
#define ctf_array_network		lttng_ust_field_array_network
#define ctf_array_network_hex		lttng_ust_field_array_network_hex
#define ctf_array_text			lttng_ust_field_array_text
#define ctf_sequence			lttng_ust_field_sequence
#define ctf_sequence_hex		lttng_ust_field_sequence_hex
#define ctf_sequence_network		lttng_ust_field_sequence_network
#define ctf_sequence_network_hex	lttng_ust_field_sequence_network_hex
#define ctf_sequence_text		lttng_ust_field_sequence_text
#define ctf_integer_nowrite		lttng_ust_field_integer_nowrite
#define ctf_float_nowrite		lttng_ust_field_float_nowrite
#define ctf_enum_nowrite		lttng_ust_field_enum_nowrite
#define ctf_string_nowrite		lttng_ust_field_string_nowrite
#define ctf_array_nowrite		lttng_ust_field_array_nowrite
#define ctf_array_text_nowrite		lttng_ust_field_array_text_nowrite
#define ctf_sequence_nowrite		lttng_ust_field_sequence_nowrite
#define ctf_sequence_text_nowrite	lttng_ust_field_sequence_text_nowrite
#define ctf_array_nowrite_hex		lttng_ust_field_array_nowrite_hex
#define ctf_array_network_nowrite	lttng_ust_field_array_network_nowrite
#define ctf_array_network_nowrite_hex	lttng_ust_field_array_network_nowrite_hex
#define ctf_sequence_nowrite_hex	lttng_ust_field_sequence_nowrite_hex
#define ctf_sequence_network_nowrite	lttng_ust_field_sequence_network_nowrite
#define ctf_sequence_network_nowrite_hex	lttng_ust_field_sequence_network_nowrite_hex
#define ctf_unused			lttng_ust_field_unused
#define ctf_unused_nowrite		lttng_ust_field_unused_nowrite
#define ctf_enum_value			lttng_ust_field_enum_value
#define ctf_enum_range			lttng_ust_field_enum_range
#define ctf_enum_auto			lttng_ust_field_enum_auto
#endif

/* First: where a record's fields are, and the names of numbers. */
#define __jf_lttng_class(provider, name, args, fields)			\
	struct __jf_where_##provider##___##name {			\
		uint64_t __jf_size;					\
		fields							\
	};
#define __jf_lttng_instance(class_provider, class_, provider, name, args)
#define __jf_lttng_enum(provider, name, values)				\
	static __JF_UNUSED const struct jf_event_label __jf_labels_##provider##___##name[] = { \
		values							\
		{ NULL, 0, 0, false }					\
	};
#define __jf_lttng_level(provider, name, level)
#define __jf_lttng_number(type, item, src, show, labels)	uint64_t off_##item;
#define __jf_lttng_string(item, src)				uint64_t off_##item, num_##item;
#define __jf_lttng_array(type, item, src, len, show)		uint64_t off_##item;
#define __jf_lttng_sequence(type, item, src, len, show)	uint64_t off_##item, num_##item;
#include __JF_LTTNG_HEADER
#undef __jf_lttng_class
#undef __jf_lttng_instance
#undef __jf_lttng_enum
#undef __jf_lttng_level
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence

/* Second: the metadata. */
#define __jf_lttng_class(provider, name, args, fields)			\
	__extension__ static const struct jf_event_field __jf_fields_##provider##___##name[] = { \
		fields							\
		{ NULL, NULL, __JF_FIELD_END, 0, 0, 0, 0, 0, 0, NULL }	\
	};
#define __jf_lttng_instance(class_provider, class_, provider, name, args)
#define __jf_lttng_enum(provider, name, values)
#define __jf_lttng_level(provider, name, level)
/* Each field is where the one before it ends. */
#define __jf_lttng_field(item, type, kind, count, show, labels)	\
	{ #item, #type, __JF_FIELD_##kind, (uint8_t)__builtin_classify_type(*(type *)0), \
	  (type)-1 < (type)1, 1, sizeof(type), count, show, labels },
#define __jf_lttng_number(type, item, src, show, labels)		\
	__jf_lttng_field(item, type, SCALAR, 1, show, labels)
#define __jf_lttng_string(item, src)	__jf_lttng_field(item, char, STRING, 0, __JF_SHOW_TEXT, NULL)
#define __jf_lttng_array(type, item, src, len, show)			\
	__jf_lttng_field(item, type, ARRAY, len, show, NULL)
#define __jf_lttng_sequence(type, item, src, len, show)		\
	__jf_lttng_field(item, type, DYNAMIC, 0, show, NULL)
#include __JF_LTTNG_HEADER
#undef __jf_lttng_class
#undef __jf_lttng_instance
#undef __jf_lttng_enum
#undef __jf_lttng_level
#undef __jf_lttng_field
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence

/* Third: how the fields are written. */
#define __JF_LTTNG_MORE_some(...)	, __JF_LTTNG_PROTO(__VA_ARGS__)
#define __JF_LTTNG_MORE_none(...)
#define __JF_LTTNG_HAND_some(...)	, __JF_LTTNG_NAMES(__VA_ARGS__)
#define __JF_LTTNG_HAND_none(...)
#define __JF_LTTNG_MORE(...)	__JF_LTTNG_PICK(__JF_LTTNG_MORE, __VA_ARGS__)(__VA_ARGS__)
#define __JF_LTTNG_HAND_ON(...)	__JF_LTTNG_PICK(__JF_LTTNG_HAND, __VA_ARGS__)(__VA_ARGS__)
#define __jf_lttng_class(provider, name, args, fields)			\
	static __JF_INLINE void						\
	__jf_assign_##provider##___##name(char *__jf_entry,		\
					  const struct __jf_where_##provider##___##name *__jf_where \
					  __JF_LTTNG_MORE args)		\
	{								\
		(void)__jf_entry;					\
		(void)__jf_where;					\
		fields							\
	}
#define __jf_lttng_instance(class_provider, class_, provider, name, args)
#define __jf_lttng_enum(provider, name, values)
#define __jf_lttng_level(provider, name, level)
#define __jf_lttng_number(type, item, src, show, labels)		\
{									\
	type __jf_val = (type)(src);					\
									\
	memcpy(__jf_entry + __jf_where->off_##item, &__jf_val, sizeof(type)); \
}
#define __jf_lttng_string(item, src)					\
	__jf_str_put(__jf_entry + __jf_where->off_##item, __jf_where->num_##item, \
		     __jf_str((const char *)(src)), false);
#define __jf_lttng_array(type, item, src, len, show)			\
	memcpy(__jf_entry + __jf_where->off_##item, (src), sizeof(type) * (len));
#define __jf_lttng_sequence(type, item, src, len, show)		\
{									\
	uint32_t __jf_num = (uint32_t)__jf_where->num_##item;		\
									\
	memcpy(__jf_entry + __jf_where->off_##item, &__jf_num, 4);	\
	memcpy(__jf_entry + __jf_where->off_##item + 4, (src), __jf_num * sizeof(type)); \
}
#include __JF_LTTNG_HEADER
#undef __jf_lttng_class
#undef __jf_lttng_instance
#undef __jf_lttng_enum
#undef __jf_lttng_level
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence

/* Fourth: the probe, and its registration with the library. */
#define __jf_lttng_recorder(recorder, provider, name, args, fields, slot, begin) \
	static __JF_UNUSED void						\
	recorder(void *__jf_data __JF_LTTNG_MORE args)			\
	{								\
		struct __jf_where_##provider##___##name __jf_where;	\
		uint64_t __jf_size = 0;					\
		char *__jf_entry;					\
		slot(__jf_slot);					\
									\
		fields							\
		__jf_where.__jf_size = __jf_size;			\
		__jf_entry = (char *)begin;				\
		if (!__jf_entry)					\
			return;						\
		__jf_assign_##provider##___##name(__jf_entry, &__jf_where __JF_LTTNG_HAND_ON args); \
		__jf_slot.id = __JF_LOAD(((struct jf_event *)__jf_data)->id); \
	}
#define __jf_lttng_class(provider, name, args, fields)			\
	__jf_lttng_recorder(__jf_record_##provider##___##name, provider, name, \
			    __JF_PARAMS(args), __JF_PARAMS(fields), __JF_SLOT, \
			    __jf_reserve(&__jf_slot, __jf_size,		\
					 __JF_LOAD(((struct jf_event *)__jf_data)->id))) \
	__jf_lttng_recorder(__jf_choose_##provider##___##name, provider, name, \
			    __JF_PARAMS(args), __JF_PARAMS(fields), __JF_DRAFT, \
			    __jf_draft_begin(&__jf_slot, __jf_data, __jf_size))
#define __jf_lttng_number(type, item, src, show, labels)		\
	__jf_where.off_##item = __jf_size;				\
	__jf_size += sizeof(type);
#define __jf_lttng_string(item, src)					\
	__jf_where.off_##item = __jf_size;				\
	__jf_where.num_##item = __jf_str_size(__jf_str((const char *)(src))); \
	__jf_size += __jf_where.num_##item;
#define __jf_lttng_array(type, item, src, len, show)			\
	__jf_where.off_##item = __jf_size;				\
	__jf_size += sizeof(type) * (len);
#define __jf_lttng_sequence(type, item, src, len, show)		\
	__jf_where.num_##item = (uint32_t)(len);			\
	__jf_where.off_##item = __jf_size;				\
	__jf_size += 4 + __jf_room((uint32_t)__jf_where.num_##item, sizeof(type));
#define __jf_lttng_enum(provider, name, values)
/* Before the event is announced: a constructor with a priority runs earlier. */
#define __jf_lttng_level(provider, name, value)				\
	__attribute__((__constructor__(200), __used__))			\
	static void __jf_event_level_##provider##___##name(void)	\
	{								\
		__jf_event_##provider##___##name.level = (value) + 1;	\
	}
#define __jf_lttng_instance(class_provider, class_, provider, name, args) \
	static struct jf_event __jf_event_##provider##___##name = {	\
		JF_EVENT_VERSION, 0, 0, #provider, #name, "",		\
		__jf_fields_##class_provider##___##class_,		\
		0, __JF_EVENT_PACKED | __JF_EVENT_CHOOSES, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE + 1, \
		NULL, __extension__ (void *)__jf_record_##class_provider##___##class_, \
		NULL, __JF_STR(args),					\
		__extension__ (void *)__jf_choose_##class_provider##___##class_, NULL, NULL \
	};								\
	__attribute__((__constructor__, __used__))			\
	static void __jf_event_load_##provider##___##name(void)		\
	{								\
		__jf_event_register(&__jf_event_##provider##___##name);	\
	}								\
	__attribute__((__destructor__, __used__))			\
	static void __jf_event_unload_##provider##___##name(void)	\
	{								\
		__jf_event_unregister(&__jf_event_##provider##___##name);	\
	}
#include __JF_LTTNG_HEADER
#undef __jf_lttng_class
#undef __jf_lttng_recorder
#undef __jf_lttng_instance
#undef __jf_lttng_enum
#undef __jf_lttng_level
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence
#undef __JF_LTTNG_MORE
#undef __JF_LTTNG_MORE_some
#undef __JF_LTTNG_MORE_none
#undef __JF_LTTNG_HAND_ON
#undef __JF_LTTNG_HAND_some
#undef __JF_LTTNG_HAND_none
#undef __JF_LTTNG_HEADER
#undef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#undef TRACEPOINT_HEADER_MULTI_READ
#undef __JF_LTTNG_PASS
#pragma GCC diagnostic pop
/* The next header begins as this one did. */
#define __jf_lttng_class(provider, name, args, fields)
#define __jf_lttng_instance(class_provider, class_, provider, name, args) \
	__JF_LTTNG_DECLARE(provider##___##name, args)			\
	__jf_lttng_place(provider, name, args)
#define __jf_lttng_enum(provider, name, values)
#define __jf_lttng_level(provider, name, level)
#endif
