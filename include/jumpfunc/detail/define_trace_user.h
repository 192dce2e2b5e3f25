/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The passes of <jumpfunc/define_trace.h> in a program: trace_event_user.h gives their purpose.
 * Each gives the words of TP_STRUCT__entry() another meaning and reads the header of events again.
 * No include guard: there may be several such headers.
 */
#undef CREATE_TRACE_POINTS
#define TRACE_HEADER_MULTI_READ
#define __JF_EVENT_PASS

#undef DECLARE_EVENT_CLASS
#undef JF_TRACE_EVENT
#undef JF_DEFINE_EVENT
#undef JF_TRACE_EVENT_CONDITION
#undef JF_DEFINE_EVENT_CONDITION
/* What is the same in each pass. */
#define __field_ext(type, item, filter)		__field(type, item)
#define __field_struct_ext(type, item, filter)	__field_struct(type, item)
#define __rel_dynamic_array(type, item, len)	__dynamic_array(type, item, len)
#define __rel_string(item, src)			__string(item, src)
#define __rel_string_len(item, src, len)	__string_len(item, src, len)
#define JF_TRACE_EVENT(name, proto, args, tstruct, assign, print)	\
	DECLARE_EVENT_CLASS(name, __JF_PARAMS(proto), __JF_PARAMS(args), \
			    __JF_PARAMS(tstruct), __JF_PARAMS(assign), print); \
	JF_DEFINE_EVENT(name, name, __JF_PARAMS(proto), __JF_PARAMS(args))
#define JF_TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	DECLARE_EVENT_CLASS(name, __JF_PARAMS(proto), __JF_PARAMS(args), \
			    __JF_PARAMS(tstruct), __JF_PARAMS(assign), print); \
	JF_DEFINE_EVENT_CONDITION(name, name, __JF_PARAMS(proto),	\
				  __JF_PARAMS(args), __JF_PARAMS(cond))

/* First. */
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	__JF_EVENT_STRUCT(name, __JF_PARAMS(tstruct))
#define JF_DEFINE_EVENT(class_, name, proto, args)			\
	struct __jf_event_first_##name
#define JF_DEFINE_EVENT_CONDITION(class_, name, proto, args, cond)	\
	struct __jf_event_first_##name
#define __field(type, item)			type item;
#define __field_struct(type, item)		type item;
#define __array(type, item, len)		type item[len];
#define __dynamic_array(type, item, len)
#define __string(item, src)
#define __string_len(item, src, len)
#include __JF_EVENT_HEADER(TRACE_INCLUDE_PATH, TRACE_INCLUDE_FILE)
#undef DECLARE_EVENT_CLASS
#undef JF_DEFINE_EVENT
#undef JF_DEFINE_EVENT_CONDITION
#undef __field
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef __string
#undef __string_len

/* Second. */
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	__JF_EVENT_FIELDS(name, __JF_PARAMS(tstruct), print)
#define JF_DEFINE_EVENT(class_, name, proto, args)			\
	struct __jf_event_second_##name
#define JF_DEFINE_EVENT_CONDITION(class_, name, proto, args, cond)	\
	struct __jf_event_second_##name
#define __field(type, item)						\
	__JF_EVENT_NUMBER(item, type, SCALAR, 1)
#define __field_struct(type, item)					\
	__JF_EVENT_FIELD(item, #type, BYTES, 12, 0, type, 1)
#define __array(type, item, len)					\
	__JF_EVENT_NUMBER(item, type, ARRAY, len)
#define __dynamic_array(type, item, len)				\
	__JF_EVENT_NUMBER(item, type, DYNAMIC, 0)
#define __string(item, src)						\
	__JF_EVENT_FIELD(item, "char", STRING, 1, 0, char, 0)
#define __string_len(item, src, len)		__string(item, src)
#include __JF_EVENT_HEADER(TRACE_INCLUDE_PATH, TRACE_INCLUDE_FILE)
#undef DECLARE_EVENT_CLASS
#undef JF_DEFINE_EVENT
#undef JF_DEFINE_EVENT_CONDITION
#undef __field
#undef __field_struct
#undef __array
#undef __dynamic_array
#undef __string
#undef __string_len

/* Third. */
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	__JF_EVENT_RECORD(name, __JF_PARAMS(proto), __JF_PARAMS(tstruct), \
			  __JF_PARAMS(assign))
#define JF_DEFINE_EVENT(class_, name, proto, args)			\
	__JF_EVENT_DEFINE(class_, name, __jf_record_##class_, __jf_choose_##class_)
#define JF_DEFINE_EVENT_CONDITION(class_, name, proto, args, cond)	\
	__JF_EVENT_DEFINE_COND(class_, name, __JF_PARAMS(proto),	\
			       __JF_PARAMS(args), __JF_PARAMS(cond))
#define __field(type, item)
#define __field_struct(type, item)
#define __array(type, item, len)
/* The number of elements, and then they. */
#define __dynamic_array(type, item, len)				\
	uint32_t __jf_num_##item = (uint32_t)(len);			\
	uint64_t __jf_at_##item = __jf_align(__jf_size, 4);		\
	struct __jf_dyn __jf_dyn_##item = {				\
		__jf_dyns, (uint32_t)__jf_at_##item, __jf_num_##item	\
	};								\
	uint64_t __jf_off_##item =					\
		__jf_align(__jf_at_##item + 4, __alignof__(type));	\
	uint64_t __jf_len_##item = __jf_room(__jf_num_##item, sizeof(type)); \
	uint32_t __jf_bit_##item __JF_UNUSED = 0;			\
	struct __jf_dyn __jf_fix_##item __JF_UNUSED = { NULL, 0, 0 };	\
	__jf_size = __jf_off_##item + __jf_len_##item;			\
	__jf_dyns = &__jf_dyn_##item;
#define __JF_EVENT_STRING(item, src, size)				\
	const char *__jf_src_##item = __jf_str((const char *)(src)); \
	uint64_t __jf_len_##item = size;				\
	uint64_t __jf_off_##item = __jf_size;				\
	uint32_t __jf_bit_##item = __jf_todo + 1;			\
	struct __jf_dyn __jf_fix_##item __JF_UNUSED = {			\
		NULL, (uint32_t)__jf_size, (uint32_t)__jf_len_##item	\
	};								\
	__jf_todo = __jf_todo * 2 + 1;					\
	__jf_size += __jf_len_##item;
#define __string(item, src)						\
	__JF_EVENT_STRING(item, src, __jf_str_size(__jf_src_##item))
#define __string_len(item, src, len)					\
	__JF_EVENT_STRING(item, src, __jf_str_size_max(__jf_src_##item, (uint64_t)(len)))

/* In TP_fast_assign(): with the source again, as kernels before 6.10 have it, or without. */
#define __assign_str(...)	__JF_BY_NUMBER(__jf_assign_str_, __VA_ARGS__)
#define __jf_assign_str_1(item)						\
	(__jf_done |= __jf_bit_##item,					\
	 __jf_str_put((char *)__entry + __jf_off_##item, __jf_len_##item, \
		      __jf_src_##item, true))
#define __jf_assign_str_2(item, src)					\
	(__jf_done |= __jf_bit_##item,					\
	 __jf_str_put((char *)__entry + __jf_off_##item, __jf_len_##item, \
		      __jf_str((const char *)(src)),			\
		      (const char *)(src) == __jf_src_##item))
#define __assign_str_len(item, src, len)	__jf_assign_str_2(item, src)
#define __assign_rel_str(...)			__assign_str(__VA_ARGS__)
#define __assign_rel_str_len(item, src, len)	__jf_assign_str_2(item, src)
/* Whatever another thread writes there: it is a string in the end. */
#define __get_dynamic_array(item)					\
__extension__ ({							\
	if (__jf_bit_##item && !(__jf_done & __jf_bit_##item)) {	\
		__jf_done |= __jf_bit_##item;				\
		__jf_fix_##item.next = __jf_fixes;			\
		__jf_fixes = &__jf_fix_##item;				\
	}								\
	(void *)((char *)__entry + __jf_off_##item);			\
})
#define __get_dynamic_array_len(item)		((unsigned int)__jf_len_##item)
#define __get_rel_dynamic_array(item)		__get_dynamic_array(item)
#define __get_rel_dynamic_array_len(item)	__get_dynamic_array_len(item)
#define __get_str(item)				((char *)__get_dynamic_array(item))
#define __get_rel_str(item)			__get_str(item)
#include __JF_EVENT_HEADER(TRACE_INCLUDE_PATH, TRACE_INCLUDE_FILE)
#undef DECLARE_EVENT_CLASS
#undef JF_DEFINE_EVENT
#undef JF_DEFINE_EVENT_CONDITION
#undef JF_TRACE_EVENT
#undef JF_TRACE_EVENT_CONDITION
#undef __field
#undef __field_ext
#undef __field_struct
#undef __field_struct_ext
#undef __array
#undef __dynamic_array
#undef __rel_dynamic_array
#undef __JF_EVENT_STRING
#undef __string
#undef __string_len
#undef __rel_string
#undef __rel_string_len
#undef __assign_str
#undef __jf_assign_str_1
#undef __jf_assign_str_2
#undef __assign_str_len
#undef __assign_rel_str
#undef __assign_rel_str_len
#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_rel_dynamic_array
#undef __get_rel_dynamic_array_len
#undef __get_str
#undef __get_rel_str

#undef TRACE_HEADER_MULTI_READ
#define DECLARE_EVENT_CLASS	__JF_EVENT_UNUSED
#define CREATE_TRACE_POINTS
