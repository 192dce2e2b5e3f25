/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The end of a provider's header: see <lttng/tracepoint.h>, of this folder. Where the probes are to be made, in one source
 * file, it reads the header again, five times. No include guard.
 */
#if (defined(LTTNG_UST_TRACEPOINT_CREATE_PROBES) || defined(TRACEPOINT_CREATE_PROBES)) && !defined(__JF_LTTNG_PASS)
#define __JF_LTTNG_PASS
/* Each of the functions below uses some of an event's arguments. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define TRACEPOINT_HEADER_MULTI_READ
#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE

#ifdef LTTNG_UST_TRACEPOINT_INCLUDE
#define __JF_LTTNG_HEADER	LTTNG_UST_TRACEPOINT_INCLUDE
#else
#define __JF_LTTNG_HEADER	TRACEPOINT_INCLUDE
#endif

/* The same in each pass: an event is a class and an instance of it, and fields have two names. */
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields)	\
	LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, __JF_PARAMS(args), __JF_PARAMS(fields)) \
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(provider, name, provider, name, __JF_PARAMS(args))
#define ctf_integer(type, item, src)		__jf_lttng_number(type, item, src)
#define ctf_integer_hex(type, item, src)	__jf_lttng_number(type, item, src)
#define ctf_float(type, item, src)		__jf_lttng_number(type, item, src)
#define ctf_enum(provider, name, type, item, src)	__jf_lttng_number(type, item, src)
#define ctf_string(item, src)			__jf_lttng_string(item, src)
#define ctf_array(type, item, src, len)	__jf_lttng_array(type, item, src, len)
#define ctf_array_text(type, item, src, len)	__jf_lttng_array(type, item, src, len)
#define ctf_sequence(type, item, src, len_type, len)	__jf_lttng_sequence(type, item, src, len)
#define ctf_sequence_text(type, item, src, len_type, len)	__jf_lttng_sequence(type, item, src, len)
#define ctf_integer_nowrite(...)
#define ctf_float_nowrite(...)
#define ctf_enum_nowrite(...)
#define ctf_string_nowrite(...)
#define ctf_array_nowrite(...)
#define ctf_array_text_nowrite(...)
#define ctf_sequence_nowrite(...)
#define ctf_sequence_text_nowrite(...)
#define lttng_ust_field_integer(type, item, src)		__jf_lttng_number(type, item, src)
#define lttng_ust_field_integer_hex(type, item, src)	__jf_lttng_number(type, item, src)
#define lttng_ust_field_float(type, item, src)		__jf_lttng_number(type, item, src)
#define lttng_ust_field_enum(provider, name, type, item, src)	__jf_lttng_number(type, item, src)
#define lttng_ust_field_string(item, src)			__jf_lttng_string(item, src)
#define lttng_ust_field_array(type, item, src, len)	__jf_lttng_array(type, item, src, len)
#define lttng_ust_field_array_text(type, item, src, len)	__jf_lttng_array(type, item, src, len)
#define lttng_ust_field_sequence(type, item, src, len_type, len)	__jf_lttng_sequence(type, item, src, len)
#define lttng_ust_field_sequence_text(type, item, src, len_type, len)	__jf_lttng_sequence(type, item, src, len)
#define lttng_ust_field_integer_nowrite(...)
#define lttng_ust_field_float_nowrite(...)
#define lttng_ust_field_enum_nowrite(...)
#define lttng_ust_field_string_nowrite(...)
#define lttng_ust_field_array_nowrite(...)
#define lttng_ust_field_array_text_nowrite(...)
#define lttng_ust_field_sequence_nowrite(...)
#define lttng_ust_field_sequence_text_nowrite(...)

/* First: the fixed part of a record. */
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_, provider, name, args)
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)	\
	__JF_EVENT_STRUCT(provider##___##name, __JF_PARAMS(fields));
#define __jf_lttng_number(type, item, src)		type item;
#define __jf_lttng_string(item, src)
#define __jf_lttng_array(type, item, src, len)		type item[len];
#define __jf_lttng_sequence(type, item, src, len)
#include __JF_LTTNG_HEADER
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS

/* Second: where the other parts are. */
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)	\
	struct __jf_where_##provider##___##name {			\
		uint64_t __jf_size;					\
		fields							\
	};
#define __jf_lttng_number(type, item, src)
#define __jf_lttng_string(item, src)			uint64_t off_##item, num_##item;
#define __jf_lttng_array(type, item, src, len)
#define __jf_lttng_sequence(type, item, src, len)	uint64_t at_##item, off_##item, num_##item;
#include __JF_LTTNG_HEADER
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS

/* Third: what the metadata says. */
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)	\
	__JF_EVENT_FIELDS(provider##___##name, __JF_PARAMS(fields), "");
#define __jf_lttng_number(type, item, src)		__JF_EVENT_NUMBER(item, type, SCALAR, 1)
#define __jf_lttng_string(item, src)			__JF_EVENT_FIELD(item, "char", STRING, 1, 0, char, 0)
#define __jf_lttng_array(type, item, src, len)		__JF_EVENT_NUMBER(item, type, ARRAY, len)
#define __jf_lttng_sequence(type, item, src, len)	__JF_EVENT_NUMBER(item, type, DYNAMIC, 0)
#include __JF_LTTNG_HEADER
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS

/* Fourth: how the fields are written. */
#define __JF_LTTNG_MORE_some(...)	, __JF_LTTNG_PROTO(__VA_ARGS__)
#define __JF_LTTNG_MORE_none(...)
#define __JF_LTTNG_HAND_some(...)	, __JF_LTTNG_NAMES(__VA_ARGS__)
#define __JF_LTTNG_HAND_none(...)
#define __JF_LTTNG_MORE(...)	__JF_LTTNG_PICK(__JF_LTTNG_MORE, __VA_ARGS__)(__VA_ARGS__)
#define __JF_LTTNG_HAND_ON(...)	__JF_LTTNG_PICK(__JF_LTTNG_HAND, __VA_ARGS__)(__VA_ARGS__)
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)	\
	static __JF_INLINE void						\
	__jf_assign_##provider##___##name(struct __jf_entry_##provider##___##name *__jf_entry, \
					  const struct __jf_where_##provider##___##name *__jf_where \
					  __JF_LTTNG_MORE args)		\
	{								\
		(void)__jf_entry;					\
		(void)__jf_where;					\
		fields							\
	}
#define __jf_lttng_number(type, item, src)		__jf_entry->item = (type)(src);
#define __jf_lttng_string(item, src)					\
	__jf_str_put((char *)__jf_entry + __jf_where->off_##item, __jf_where->num_##item, \
		     __jf_str((const char *)(src)), false);
#define __jf_lttng_array(type, item, src, len)				\
	memcpy(__jf_entry->item, (src), sizeof(__jf_entry->item));
#define __jf_lttng_sequence(type, item, src, len)			\
{									\
	uint32_t __jf_num = (uint32_t)__jf_where->num_##item;		\
									\
	memcpy((char *)__jf_entry + __jf_where->at_##item, &__jf_num, 4); \
	memcpy((char *)__jf_entry + __jf_where->off_##item, (src), __jf_num * sizeof(type)); \
}
#include __JF_LTTNG_HEADER
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE

/* Fifth: the probe, and what the library is told. */
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)	\
	static __JF_UNUSED void						\
	__jf_record_##provider##___##name(void *__jf_data __JF_LTTNG_MORE args) \
	{								\
		struct __jf_where_##provider##___##name __jf_where;	\
		uint64_t __jf_size =					\
			offsetof(struct __jf_entry_##provider##___##name, __jf_end); \
		struct __jf_entry_##provider##___##name *__jf_entry;	\
		__JF_SLOT(__jf_slot);					\
									\
		fields							\
		__jf_where.__jf_size = __jf_size;			\
		__jf_entry = (struct __jf_entry_##provider##___##name *)	\
			__jf_reserve(&__jf_slot, __jf_size);		\
		if (!__jf_entry)					\
			return;						\
		__jf_assign_##provider##___##name(__jf_entry, &__jf_where __JF_LTTNG_HAND_ON args); \
		__jf_slot.id = __JF_LOAD(((struct jf_event *)__jf_data)->id); \
	}
#define __jf_lttng_number(type, item, src)
#define __jf_lttng_string(item, src)					\
	__jf_where.off_##item = __jf_size;				\
	__jf_where.num_##item = __jf_str_size(__jf_str((const char *)(src))); \
	__jf_size += __jf_where.num_##item;
#define __jf_lttng_array(type, item, src, len)
#define __jf_lttng_sequence(type, item, src, len)			\
	__jf_where.num_##item = (uint32_t)(len);			\
	__jf_where.at_##item = __jf_align(__jf_size, 4);		\
	__jf_where.off_##item = __jf_align(__jf_where.at_##item + 4, __alignof__(type)); \
	__jf_size = __jf_where.off_##item + __jf_room((uint32_t)__jf_where.num_##item, sizeof(type));
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_, provider, name, args) \
	DEFINE_JF_TRACE(provider##___##name);				\
	static struct jf_event __jf_event_##provider##___##name = {	\
		JF_EVENT_VERSION, 0, 0, #provider, #name,		\
		__jf_print_##class_provider##___##class_,		\
		__jf_fields_##class_provider##___##class_,		\
		offsetof(struct __jf_entry_##class_provider##___##class_, __jf_end), \
		&__jf_trace_##provider##___##name,			\
		__extension__ (void *)__jf_record_##class_provider##___##class_, NULL \
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
#undef __jf_lttng_number
#undef __jf_lttng_string
#undef __jf_lttng_array
#undef __jf_lttng_sequence
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#undef ctf_integer
#undef ctf_integer_hex
#undef ctf_float
#undef ctf_enum
#undef ctf_string
#undef ctf_array
#undef ctf_array_text
#undef ctf_sequence
#undef ctf_sequence_text
#undef ctf_integer_nowrite
#undef ctf_float_nowrite
#undef ctf_enum_nowrite
#undef ctf_string_nowrite
#undef ctf_array_nowrite
#undef ctf_array_text_nowrite
#undef ctf_sequence_nowrite
#undef ctf_sequence_text_nowrite
#undef lttng_ust_field_integer
#undef lttng_ust_field_integer_hex
#undef lttng_ust_field_float
#undef lttng_ust_field_enum
#undef lttng_ust_field_string
#undef lttng_ust_field_array
#undef lttng_ust_field_array_text
#undef lttng_ust_field_sequence
#undef lttng_ust_field_sequence_text
#undef lttng_ust_field_integer_nowrite
#undef lttng_ust_field_float_nowrite
#undef lttng_ust_field_enum_nowrite
#undef lttng_ust_field_string_nowrite
#undef lttng_ust_field_array_nowrite
#undef lttng_ust_field_array_text_nowrite
#undef lttng_ust_field_sequence_nowrite
#undef lttng_ust_field_sequence_text_nowrite
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
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields)	\
	__JF_LTTNG_DECLARE(provider##___##name, args)
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_, provider, name, args) \
	__JF_LTTNG_DECLARE(provider##___##name, args)
#endif
