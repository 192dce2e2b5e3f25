/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * JF_TRACE_EVENT() in programs: an event that is recorded into a ring (ring_user.h), in the
 * Common Trace Format. Included by trace_event.h, which says how a header of events looks.
 *
 * How it works: jf_trace_my_rx() is a tracepoint, and the recorder is a probe on it. Where
 * CREATE_TRACE_POINTS is defined, <jumpfunc/define_trace.h> reads the header of events again,
 * three times: for the structure of the fixed part of a record, for the description of the
 * fields, from which the trace's metadata is made, and for the probe. That reserves the
 * record's place in the ring, lets TP_fast_assign() write there, and commits.
 *
 * In the trace the fields of a fixed size come first, and then, in their order, strings and
 * dynamic arrays.
 *
 * Caveats:
 *   Understood in TP_STRUCT__entry(): __field, __field_ext, __field_struct, __array,
 *   __dynamic_array, __string, __string_len, and the __rel_ forms of the last three. Others
 *   (__bitmask, __cpumask, __sockaddr, __vstring) are for kernels.
 *
 *   TP_printk() is kept as text, for lists of events. It is not compiled.
 *
 *   A field is a number, an enum or a pointer of at most 8 bytes; __field_struct() is shown as
 *   bytes. A structure's fields have the alignment that they have in C.
 *
 *   A string that changes while it is recorded, or becomes shorter, is filled up with '#'.
 *
 *   TRACE_EVENT() and DEFINE_EVENT() are nothing in a program.
 */
#ifndef JUMPFUNC_TRACE_EVENT_USER_H
#define JUMPFUNC_TRACE_EVENT_USER_H

#ifndef JUMPFUNC_TRACE_EVENT_H
#error "include <jumpfunc/trace_event.h>"
#endif

#include <string.h>

#include <jumpfunc/detail/ring_user.h>

/*
 * The kernel's names of types, since headers of events have them. A program that has such names
 * itself defines JF_NO_KERNEL_TYPES.
 */
#ifndef JF_NO_KERNEL_TYPES
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
__extension__ typedef unsigned long long u64;
__extension__ typedef long long s64;
#endif

/* Of the structures below; the library refuses others. */
#define JF_EVENT_VERSION	2

enum __jf_field_kind {
	__JF_FIELD_END,
	__JF_FIELD_SCALAR,
	__JF_FIELD_ARRAY,
	__JF_FIELD_BYTES,
	__JF_FIELD_STRING,
	__JF_FIELD_DYNAMIC
};

/*
 * jf_event_field.flags: how numbers are shown. Without a flag arrays of char are text, and
 * pointers are hexadecimal.
 */
#define __JF_SHOW_DECIMAL	0x01
#define __JF_SHOW_HEX		0x02
#define __JF_SHOW_TEXT		0x04
#define __JF_SHOW_NETWORK	0x08	/* with one of the others: big-endian */

/* jf_event.flags */
#define __JF_EVENT_PACKED	0x01	/* fields in their order, without a gap */
#define __JF_EVENT_CHOOSES	0x02	/* it has the members from chooser on */
#define __JF_EVENT_COUNTED	0x04	/* it has counters and never a record */

/**
 * struct jf_event_label - names numbers of a field
 * @name:  the name; NULL ends the list
 * @first: of the numbers
 * @last:  of them
 * @next:  the number after the previous label's number, or 0, whatever @first is
 */
struct jf_event_label {
	const char	*name;
	int64_t		first;
	int64_t		last;
	bool		next;
};

/**
 * struct jf_event_field - a field, as the metadata describes it
 * @name:   of the field
 * @type:   as it was written
 * @kind:   one of enum __jf_field_kind
 * @class_: __builtin_classify_type() of one element
 * @sign:   is it signed
 * @align:  of one element
 * @size:   of one element
 * @count:  of elements, of an array
 * @flags:  __JF_SHOW_*, or 0
 * @labels: of the numbers of a scalar, or NULL
 *
 * Those of a fixed size are where C puts a structure's members of these types.
 */
struct jf_event_field {
	const char	*name;
	const char	*type;
	uint8_t		kind;
	uint8_t		class_;
	uint8_t		sign;
	uint8_t		align;
	uint32_t	size;
	uint32_t	count;
	uint32_t	flags;
	const struct jf_event_label *labels;
};

/**
 * struct jf_event - an event that can be recorded
 * @version: JF_EVENT_VERSION
 * @id:      in the trace; 0 until it is announced
 * @on:      is it being recorded
 * @system:  TRACE_SYSTEM
 * @name:    of the event
 * @print:   TP_printk(), as written
 * @fields:  ends with one of kind 0
 * @size:    of the fixed part
 * @flags:   __JF_EVENT_PACKED, __JF_EVENT_CHOOSES, __JF_EVENT_COUNTED
 * @level:   1 and the level that LTTng-UST gives it, or 0: none
 * @tp:      its tracepoint, or NULL: its places' tracepoints
 * @probe:   records it
 * @next:    in the library's list
 * @args:    if @tp is NULL: parameters, as written; a place must have the same
 * @chooser: makes a draft (struct jf_draft), of which the library makes a record or none
 * @choice:  for the library: which records are made; NULL: all, by @probe
 * @why:     for the library: why it could not be chosen which, or NULL
 */
struct jf_event {
	uint16_t			version;
	uint16_t			id;
	uint32_t			on;
	const char			*system;
	const char			*name;
	const char			*print;
	const struct jf_event_field	*fields;
	uint32_t			size;
	uint16_t			flags;
	uint16_t			level;
	struct jf_tracepoint		*tp;
	void				*probe;
	struct jf_event			*next;
	const char			*args;
	void				*chooser;
	struct jf_event_choice		*choice;
	char				*why;
};

/**
 * struct jf_draft - a record of which is not known yet whether it is made
 * @event:  of it
 * @fields: of it: in @room, or in a mapping
 * @size:   of @fields
 * @id:     of the record; 0: none is made
 * @room:   for most
 */
struct jf_draft {
	struct jf_event	*event;
	void		*fields;
	uint64_t	size;
	uint16_t	id;
	uint64_t	room[64];
};

/**
 * struct jf_place - a tracepoint of an event that is in another source file, or in another object
 * @version: JF_EVENT_VERSION
 * @system:  of the event
 * @name:    of the event
 * @args:    its parameters, as written
 * @tp:      the tracepoint
 * @next:    in the library's list
 */
struct jf_place {
	uint32_t		version;
	const char		*system;
	const char		*name;
	const char		*args;
	struct jf_tracepoint	*tp;
	struct jf_place		*next;
};

__JF_BEGIN_DECLS
void __jf_event_register(struct jf_event *event);
void __jf_event_unregister(struct jf_event *event);
void __jf_place_register(struct jf_place *place);
void __jf_place_unregister(struct jf_place *place);
void *__jf_draft_begin(struct jf_draft *draft, void *event, uint64_t size);
void __jf_draft_end(struct jf_draft *draft);
__JF_END_DECLS

/* The rest is filled in by __jf_draft_begin(). */
#define __JF_DRAFT(name)						\
	struct jf_draft name __attribute__((__cleanup__(__jf_draft_end))); \
	name.fields = NULL

/* A string or dynamic array of a record that is being written. */
struct __jf_dyn {
	struct __jf_dyn	*next;
	uint32_t	off;
	uint32_t	num;
};

/* Of an array: so many elements that they do not fit are not to pass for few. */
static __JF_INLINE uint64_t __jf_room(uint32_t num, size_t size)
{
	return num > UINT32_MAX / size ? UINT32_MAX : num * (uint64_t)size;
}

static __JF_INLINE const char *__jf_str(const char *src)
{
	return src ? src : "(null)";
}

static __JF_INLINE uint64_t __jf_str_size(const char *src)
{
	return strlen(src) + 1;
}

/* At most @max; strnlen() is not in standard C. */
static __JF_INLINE size_t __jf_str_len_max(const char *src, uint64_t max)
{
	const char *end = (const char *)memchr(src, 0, (size_t)max);

	return end ? (size_t)(end - src) : (size_t)max;
}

static __JF_INLINE uint64_t __jf_str_size_max(const char *src, uint64_t max)
{
	return __jf_str_len_max(src, max > UINT32_MAX ? UINT32_MAX : max) + 1;
}

/* Exactly one 0, at the end: a reader takes the first for the end of the string. */
static __JF_INLINE void __jf_str_fix(char *dst, uint64_t size)
{
	char *nul = (char *)memchr(dst, 0, size - 1);

	if (__builtin_expect(!!nul, 0))
		memset(nul, '#', (size_t)(size - 1 - (uint64_t)(nul - dst)));
	dst[size - 1] = 0;
}

static __JF_INLINE void __jf_str_put(char *dst, uint64_t size, const char *src, bool known)
{
	memcpy(dst, src, known ? (size_t)size - 1 : __jf_str_len_max(src, size - 1));
	__jf_str_fix(dst, size);
}

/* --- an event where its header is included: a tracepoint ------------------------ */

#define __JF_EVENT_DECLARE(name, proto, args, tstruct, assign, print)	\
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args))
#define __JF_EVENT_DECLARE_OF(class_, name, proto, args)		\
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args))
#define __JF_EVENT_DECLARE_COND(name, proto, args, cond, tstruct, assign, print) \
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args))
#define __JF_EVENT_DECLARE_OF_COND(class_, name, proto, args, cond)	\
	DECLARE_JF_TRACE(name, __JF_PARAMS(proto), __JF_PARAMS(args))

/* --- first pass: the fixed part of a record ------------------------------------- */

#define __JF_EVENT_STRUCT(class_, tstruct)				\
	__extension__ struct __jf_entry_##class_ {			\
		tstruct							\
		char __jf_end[0];					\
	};								\
	__JF_ASSERT(__alignof__(struct __jf_entry_##class_) <= 8,	\
		    "a field's alignment is at most 8")

/* --- second pass: its description -------------------------------------------------- */

#define __JF_EVENT_FIELD(item, text, kind, class_, sign, type, count)	\
	{ #item, text, __JF_FIELD_##kind, (uint8_t)(class_), sign,	\
	  __alignof__(type), sizeof(type), count, 0, NULL },
#define __JF_EVENT_NUMBER(item, type, kind, count)			\
	__JF_EVENT_FIELD(item, #type, kind,				\
			 __builtin_classify_type(*(type *)0),		\
			 (type)-1 < (type)1, type, count)
#define __JF_EVENT_FIELDS(class_, tstruct, text)			\
	__extension__ static const struct jf_event_field __jf_fields_##class_[] = { \
		tstruct							\
		{ NULL, NULL, __JF_FIELD_END, 0, 0, 0, 0, 0, 0, NULL }	\
	};								\
	static const char __jf_print_##class_[] = text

/* --- third pass: the probe, and its registration --------------------------------- */

#define __JF_EVENT_RECORDER(recorder, class_, proto, tstruct, assign, slot, begin) \
	static __JF_UNUSED void						\
	recorder(void *__jf_data, proto)				\
	{								\
		uint64_t __jf_size = offsetof(struct __jf_entry_##class_, __jf_end); \
		struct __jf_dyn *__jf_dyns = NULL, *__jf_fixes = NULL;	\
		unsigned int __jf_todo = 0, __jf_done = 0;		\
		struct __jf_entry_##class_ *__entry;			\
		tstruct							\
		slot(__jf_slot);					\
									\
		__entry = (struct __jf_entry_##class_ *)begin;		\
		if (!__entry)						\
			return;						\
		for (; __jf_dyns; __jf_dyns = __jf_dyns->next)		\
			memcpy((char *)__entry + __jf_dyns->off, &__jf_dyns->num, 4); \
		{ assign }						\
		for (; __jf_fixes; __jf_fixes = __jf_fixes->next)	\
			__jf_str_fix((char *)__entry + __jf_fixes->off,	\
				     __jf_fixes->num);			\
		/* A string that was not assigned would be shorter for a reader than it is. */ \
		if (__jf_done == __jf_todo)				\
			__jf_slot.id = __JF_LOAD(((struct jf_event *)__jf_data)->id); \
	}

/* The second one is for events with a filter: the first one stays as fast as it is. */
#define __JF_EVENT_RECORD(class_, proto, tstruct, assign)		\
	__JF_EVENT_RECORDER(__jf_record_##class_, class_, __JF_PARAMS(proto), \
			    __JF_PARAMS(tstruct), __JF_PARAMS(assign), __JF_SLOT, \
			    __jf_reserve(&__jf_slot, __jf_size,		\
					 __JF_LOAD(((struct jf_event *)__jf_data)->id))) \
	__JF_EVENT_RECORDER(__jf_choose_##class_, class_, __JF_PARAMS(proto), \
			    __JF_PARAMS(tstruct), __JF_PARAMS(assign), __JF_DRAFT, \
			    __jf_draft_begin(&__jf_slot, __jf_data, __jf_size)) \
	struct __jf_record_end_##class_

#define __JF_EVENT_DEFINE(class_, name, recorder, chooser)		\
	DEFINE_JF_TRACE(name);						\
	static struct jf_event __jf_event_##name = {			\
		JF_EVENT_VERSION, 0, 0, __JF_STR(TRACE_SYSTEM), #name,	\
		__jf_print_##class_, __jf_fields_##class_,		\
		offsetof(struct __jf_entry_##class_, __jf_end), __JF_EVENT_CHOOSES, 0, \
		&__jf_trace_##name, __extension__ (void *)recorder, NULL, NULL, \
		__extension__ (void *)chooser, NULL, NULL		\
	};								\
	__attribute__((__constructor__, __used__))			\
	static void __jf_event_load_##name(void)			\
	{								\
		__jf_event_register(&__jf_event_##name);		\
	}								\
	__attribute__((__destructor__, __used__))			\
	static void __jf_event_unload_##name(void)			\
	{								\
		__jf_event_unregister(&__jf_event_##name);		\
	}								\
	struct __jf_event_end_##name

#define __JF_EVENT_DEFINE_COND(class_, name, proto, args, cond)		\
	static void __jf_record_if_##name(void *__jf_data, proto)	\
	{								\
		if (cond)						\
			__jf_record_##class_(__jf_data, args);		\
	}								\
	static void __jf_choose_if_##name(void *__jf_data, proto)	\
	{								\
		if (cond)						\
			__jf_choose_##class_(__jf_data, args);		\
	}								\
	__JF_EVENT_DEFINE(class_, name, __jf_record_if_##name, __jf_choose_if_##name)

#endif /* JUMPFUNC_TRACE_EVENT_USER_H */
