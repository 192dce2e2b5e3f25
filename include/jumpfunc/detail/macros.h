/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Preprocessor helpers of the public headers. Not for users.
 */
#ifndef JUMPFUNC_MACROS_H
#define JUMPFUNC_MACROS_H

#ifdef __KERNEL__
#include <linux/compiler.h>

#define __JF_BEGIN_DECLS
#define __JF_END_DECLS
#define __JF_ASSERT		static_assert
#define __JF_LOAD(x)		READ_ONCE(x)
#define __JF_LOAD_SITE(x)	READ_ONCE(x)
#define __JF_RO_DATA		__ro_after_init
#define __JF_SYMBOL(name)
#define __JF_HIDDEN
#define __JF_HIDDEN_DEF
#define __JF_HIDE(decl)
#define __JF_NEAR(name)
#define __JF_ALL_OF(n, ...)	{ [0 ... (n) - 1] = __VA_ARGS__ }
#define __JF_HINT(symbol, what)
#else
#include <jumpfunc/detail/range_user.h>
#include <jumpfunc/detail/user.h>

#define __JF_RO_DATA
#define __JF_LOAD(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
/* Pairs with ent_store(): stores before a change are seen on the branch. */
#define __JF_LOAD_SITE(x)	__atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#endif

#define __JF_USED	__attribute__((__used__))
/* A change returns whether it was made: the compiler warns if a caller ignores the result. */
#define __JF_MUST_CHECK	__attribute__((__warn_unused_result__))
#define __JF_UNUSED	__attribute__((__unused__))
#define __JF_INLINE	inline __attribute__((__always_inline__, __unused__))

#define __JF_STR_(...)	#__VA_ARGS__
#define __JF_STR(...)	__JF_STR_(__VA_ARGS__)

#define __JF_CAT_(a, b)	a##b
#define __JF_CAT(a, b)	__JF_CAT_(a, b)

/* How many arguments follow the first one, 0 to 16. */
#define __JF_MORE(...)							\
	__JF_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,	\
		    6, 5, 4, 3, 2, 1, 0, 0)

#ifndef __KERNEL__
/*
 * 1 if there is one argument, 2 if there are more, up to 127, as many as C knows. That is
 * for macros without further arguments: before C23 and C++20 "..." cannot be nothing.
 */
#define __JF_TWOS				2, 2, 2, 2, 2, 2, 2, 2
#define __JF_ONE_OR_TWO(...)						\
	__JF_ONE_OR_TWO_(__VA_ARGS__, 2, 2, 2, 2, 2, 2, __JF_TWOS,	\
			 __JF_TWOS, __JF_TWOS, __JF_TWOS, __JF_TWOS, __JF_TWOS, \
			 __JF_TWOS, __JF_TWOS, __JF_TWOS, __JF_TWOS, __JF_TWOS, \
			 __JF_TWOS, __JF_TWOS, __JF_TWOS, __JF_TWOS, 1, 0)
#define __JF_ONE_OR_TWO_(...)		__JF_ONE_OR_TWO__(__VA_ARGS__)
#define __JF_ONE_OR_TWO__(						\
	_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, \
	_17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, \
	_31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, \
	_45, _46, _47, _48, _49, _50, _51, _52, _53, _54, _55, _56, _57, _58, \
	_59, _60, _61, _62, _63, _64, _65, _66, _67, _68, _69, _70, _71, _72, \
	_73, _74, _75, _76, _77, _78, _79, _80, _81, _82, _83, _84, _85, _86, \
	_87, _88, _89, _90, _91, _92, _93, _94, _95, _96, _97, _98, _99, _100, \
	_101, _102, _103, _104, _105, _106, _107, _108, _109, _110, _111, \
	_112, _113, _114, _115, _116, _117, _118, _119, _120, _121, _122, \
	_123, _124, _125, _126, _127, n, ...)	n
/* @m1(x), or @m2(x, ...) */
#define __JF_BY_NUMBER(m, ...)						\
	__JF_CAT(m, __JF_ONE_OR_TWO(__VA_ARGS__))(__VA_ARGS__)
#endif

/* Number of arguments, 0 to 16. Standard C keeps the comma where nothing follows. */
#ifdef __KERNEL__
#define __JF_COUNT(...)		__JF_COUNT16(0, ##__VA_ARGS__)
#endif
#define __JF_COUNT_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, \
		    _13, _14, _15, _16, n, ...) n
#define __JF_COUNT16(...)						\
	__JF_COUNT_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, \
		    6, 5, 4, 3, 2, 1, 0)

/* m(ctx, x) for each further argument x, 1 to 16 of them. */
#define __JF_FOR_EACH(m, ctx, ...)					\
	__JF_CAT(__JF_EACH_, __JF_COUNT(__VA_ARGS__))(m, ctx, __VA_ARGS__)
#define __JF_EACH_1(m, c, x)		m(c, x)
#define __JF_EACH_2(m, c, x, ...)	m(c, x) __JF_EACH_1(m, c, __VA_ARGS__)
#define __JF_EACH_3(m, c, x, ...)	m(c, x) __JF_EACH_2(m, c, __VA_ARGS__)
#define __JF_EACH_4(m, c, x, ...)	m(c, x) __JF_EACH_3(m, c, __VA_ARGS__)
#define __JF_EACH_5(m, c, x, ...)	m(c, x) __JF_EACH_4(m, c, __VA_ARGS__)
#define __JF_EACH_6(m, c, x, ...)	m(c, x) __JF_EACH_5(m, c, __VA_ARGS__)
#define __JF_EACH_7(m, c, x, ...)	m(c, x) __JF_EACH_6(m, c, __VA_ARGS__)
#define __JF_EACH_8(m, c, x, ...)	m(c, x) __JF_EACH_7(m, c, __VA_ARGS__)
#define __JF_EACH_9(m, c, x, ...)	m(c, x) __JF_EACH_8(m, c, __VA_ARGS__)
#define __JF_EACH_10(m, c, x, ...)	m(c, x) __JF_EACH_9(m, c, __VA_ARGS__)
#define __JF_EACH_11(m, c, x, ...)	m(c, x) __JF_EACH_10(m, c, __VA_ARGS__)
#define __JF_EACH_12(m, c, x, ...)	m(c, x) __JF_EACH_11(m, c, __VA_ARGS__)
#define __JF_EACH_13(m, c, x, ...)	m(c, x) __JF_EACH_12(m, c, __VA_ARGS__)
#define __JF_EACH_14(m, c, x, ...)	m(c, x) __JF_EACH_13(m, c, __VA_ARGS__)
#define __JF_EACH_15(m, c, x, ...)	m(c, x) __JF_EACH_14(m, c, __VA_ARGS__)
#define __JF_EACH_16(m, c, x, ...)	m(c, x) __JF_EACH_15(m, c, __VA_ARGS__)

/*
 * Declarations that name a function type without its parameters, on purpose.
 * gcc before version 12 misplaces pragmas that come from macros in arguments of
 * macros, so there the warning is off from here to the end of the source file.
 */
#ifdef __cplusplus
#define __JF_UNPROTOTYPED(...)		__VA_ARGS__
#elif defined(__GNUC__) && __GNUC__ < 12 && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define __JF_UNPROTOTYPED(...)		__VA_ARGS__
#else
#define __JF_UNPROTOTYPED(...)						\
	_Pragma("GCC diagnostic push")					\
	_Pragma("GCC diagnostic ignored \"-Wstrict-prototypes\"")	\
	__VA_ARGS__							\
	_Pragma("GCC diagnostic pop")
#endif

#endif /* JUMPFUNC_MACROS_H */
