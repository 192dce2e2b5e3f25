/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions in kernels with patching: the common part of inline call sites on all
 * architectures. Included by their dynfunc_*.h only, which define __jf_call_0() to __jf_call_6(),
 * one for each number of arguments, and __JF_CALL_ASM().
 */
#ifndef JUMPFUNC_DYNFUNC_INLINE_H
#define JUMPFUNC_DYNFUNC_INLINE_H

#ifndef JUMPFUNC_DYNFUNC_H
#error "include <jumpfunc/dynfunc.h>"
#endif

#define __JF_POINTER(name)	(&dynfunc_##name)

#define __JF_DECLARE_CALL(name, func)					\
	extern typeof(func) dynfunc_##name

#define __JF_EXPORT_CALL(exp, name)					\
	exp(dynfunc_##name);						\
	exp(__jf_func_##name)
#define __JF_EXPORT_CALL_ONLY(exp, name)				\
	exp(dynfunc_##name)

/* dynfunc.h describes it. */
#define dynfunc_call(name, ...)						\
({									\
	typedef typeof(dynfunc_##name(__VA_ARGS__)) __jf_ret_t;		\
	__JF_UNPROTOTYPED(enum {					\
		__jf_inline = __JF_IS_PLAIN(dynfunc_##name, __jf_ret_t) || \
			__JF_SAME_ARGS(name, __VA_ARGS__)		\
	};)								\
	__JF_ASSERT(__jf_inline || __JF_CONTRACT(name) == JF_BARE,	\
		"a call with a contract needs arguments of exactly the parameters' types, where one is narrower than int"); \
									\
	__builtin_choose_expr(__jf_inline,				\
		__JF_CAT(__jf_call_, __JF_COUNT(__VA_ARGS__))		\
			(name, __jf_ret_t, __VA_ARGS__),		\
		dynfunc_##name(__VA_ARGS__));				\
})

/* True if the arguments have exactly the types of the parameters. */
#define __JF_SAME_ARGS(name, ...)					\
	__builtin_types_compatible_p(typeof(dynfunc_##name),		\
		__jf_ret_t(__JF_CAT(__JF_TYPES_,			\
				    __JF_COUNT(__VA_ARGS__))(__VA_ARGS__)))
#define __JF_TYPES_0()			void
#define __JF_TYPES_1(a)			typeof(a)
#define __JF_TYPES_2(a, ...)		typeof(a), __JF_TYPES_1(__VA_ARGS__)
#define __JF_TYPES_3(a, ...)		typeof(a), __JF_TYPES_2(__VA_ARGS__)
#define __JF_TYPES_4(a, ...)		typeof(a), __JF_TYPES_3(__VA_ARGS__)
#define __JF_TYPES_5(a, ...)		typeof(a), __JF_TYPES_4(__VA_ARGS__)
#define __JF_TYPES_6(a, ...)		typeof(a), __JF_TYPES_5(__VA_ARGS__)

/* More than there are registers for; up to 12, for an error message of ours. */
#define __JF_TYPES_7(...)		void
#define __JF_TYPES_8(...)		void
#define __JF_TYPES_9(...)		void
#define __JF_TYPES_10(...)		void
#define __JF_TYPES_11(...)		void
#define __JF_TYPES_12(...)		void

/* A module that may only call it names its trampoline. */
#define __JF_CALL_IN(name)						\
	[jf_ent] "i" (__builtin_choose_expr(__JF_CALL_ONLY(name),	\
					    (void *)&dynfunc_##name,	\
					    (void *)&__jf_func_##name.ent)), \
	[jf_flags] "i" (JF_SITE_CALL)

/* Structs, unions and floating point have classes of their own from 8 on. */
#define __JF_IS_SCALAR(x)	(__builtin_classify_type(x) < 8)

/*
 * The value of an argument as a register holds it. Going through the argument's
 * own type extends its sign where C would; a wider parameter sees the value
 * that C would convert to, a 32-bit one ignores the upper half.
 */
#define __jf_reg(x)							\
({									\
	/* As an argument: an array is a pointer here. */		\
	static_assert(!__jf_inline || sizeof(1 ? (x) : (x)) <= 8,	\
		"an argument of dynfunc_call() has at most 8 bytes: call dynfunc_<name>() itself"); \
	static_assert(!__jf_inline || __JF_IS_SCALAR(x),		\
		"an argument of dynfunc_call() is an integer, an enum or a pointer: call dynfunc_<name>() itself"); \
	(unsigned long)(x);						\
})

/* A result that a register holds. */
#define __jf_check_result(type)						\
	static_assert(!__jf_inline || sizeof(type) <= 8,		\
		"a result of dynfunc_call() has at most 8 bytes: call dynfunc_<name>() itself"); \
	static_assert(!__jf_inline || __JF_IS_SCALAR(			\
		__builtin_choose_expr(					\
			__builtin_types_compatible_p(type, void), 0,	\
			((type (*)(void))NULL)())),			\
		"a result of dynfunc_call() is an integer, an enum or a pointer: call dynfunc_<name>() itself")

/* A register's value, as the return type: a callee leaves the rest unset. */
#define __jf_result(type, rax)						\
	((type)(sizeof(type) == 1 ? (u8)(rax) :				\
		sizeof(type) == 2 ? (u16)(rax) :			\
		sizeof(type) == 4 ? (u32)(rax) : (rax)))

/*
 * After the arguments are evaluated, and before a register variable is set: it may
 * call functions, too.
 */
#define __jf_begin(name)						\
	int __jf_idx = __jf_enter(__JF_CONTRACT(name))

/*
 * The call of jf_nop() in each __jf_call_asm(): to find the static variables that a
 * function may change (-fipa-reference), gcc considers its calls but not its asm
 * statements, whatever these clobber. It would keep a variable in a register across the
 * call of a function whose site calls a target that writes the variable. A call of an
 * external function prevents that, and gcc has removed this one before it generates code.
 */

#define __JF_COMMA	,

/*
 * The __jf_call_N() do not use ", ##args": an argument beside "##" is not expanded, and so
 * could not contain a dynfunc_call() itself.
 */

#define __jf_too_many()							\
({									\
	_Static_assert(0, "dynfunc_call() takes at most six arguments: call dynfunc_<name>() itself"); \
	0;								\
})
#define __jf_call_7(name, type, ...)	__jf_too_many()
#define __jf_call_8(name, type, ...)	__jf_too_many()
#define __jf_call_9(name, type, ...)	__jf_too_many()
#define __jf_call_10(name, type, ...)	__jf_too_many()
#define __jf_call_11(name, type, ...)	__jf_too_many()
#define __jf_call_12(name, type, ...)	__jf_too_many()

#endif /* JUMPFUNC_DYNFUNC_INLINE_H */
