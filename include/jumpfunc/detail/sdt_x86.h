/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A probe point that debuggers and tracers find, on x86-64. Not for users;
 * tracepoint.h places one in each tracepoint of a program.
 *
 *   __JF_SDT(provider, name, args...)	a statement; up to 12 arguments, or none
 *
 * Example, with its result:
 *   __JF_SDT(jumpfunc, rx, p, len);
 *
 *	775:	nop
 *		a note of type 3 by "stapsdt" in .note.stapsdt:
 *		address of 775, address of the base, 0,
 *		"jumpfunc", "rx", "8@%rbx -4@%rbp"
 *
 * The format is SystemTap's, version 3, and gdb (info probes), perf (perf
 * buildid-cache --add, perf probe sdt_jumpfunc:rx), bpftrace (usdt:) and others
 * read it. An argument is told as its size, negative if it is signed, and the
 * operand that the compiler chose for it. The base is one byte of an allocated
 * section: a tool that moved it (prelink) has moved the probe by as much. The third
 * address would be that of a semaphore; nothing has to be switched on here.
 *
 * The probe has a nop of its own in front of the tracepoint's site, and not the
 * site for its address, because these tools write a breakpoint there and take
 * it back, each in its own way, while the site changes. A uprobe puts back the
 * first byte that the *file* has at the address, the byte of a nop; over a jump this byte does not
 * make a valid instruction. On a site, a breakpoint would also make updates fail with -EBUSY. One
 * byte that is never patched keeps the two apart.
 *
 * Caveats:
 * - The arguments are evaluated even while the tracepoint is off: a debugger
 *   has to find them. So the values of jf_trace(name, ...), which promises not
 *   to evaluate them, are not told.
 * - Arguments are integers, enums and pointers, of up to 8 bytes. Others are told
 *   as the constant 0. The first six are in registers or constants; further ones
 *   may be in memory, of which some tools only read the stack.
 * - -DJF_NO_SDT leaves probe points out.
 */
#ifndef JUMPFUNC_SDT_X86_H
#define JUMPFUNC_SDT_X86_H

#include <jumpfunc/detail/sdt_note.h>

/*
 * The kind of an expression's type, by the numbers of gcc's typeclass.h: up to 4
 * integers, enums and bool, 5 pointers, from 8 on those that a note cannot describe. Nor does it
 * tell __int128: gcc has no operand for such a constant, and gdb reads no argument of a
 * note with a size above 8.
 */
#define __JF_SDT_INTEGER(x)	(__builtin_classify_type(x) < 5 && sizeof(x) <= 8)
#define __JF_SDT_PLAIN(x)	(__builtin_classify_type(x) < 8 && sizeof(x) <= 8)
#define __JF_SDT_BYTES(x)	((int)(sizeof(x) <= 8 ? sizeof(x) : 8))

#ifdef __cplusplus
template <typename T, bool integer, bool = __is_enum(T)> struct __jf_sdt_type {
	static constexpr bool is_signed = false;
};
template <typename T> struct __jf_sdt_type<T, true, false> {
	static constexpr bool is_signed = T(-1) < T(1);
};
template <typename T> struct __jf_sdt_type<T, true, true> {
	static constexpr bool is_signed =
		__jf_sdt_type<__underlying_type(T), true, false>::is_signed;
};
template <> struct __jf_sdt_type<bool, true, false> {
	static constexpr bool is_signed = false;
};
template <typename T> struct __jf_sdt_bare { typedef T type; };
template <typename T> struct __jf_sdt_bare<const T> { typedef T type; };
template <typename T> struct __jf_sdt_bare<volatile T> { typedef T type; };
template <typename T> struct __jf_sdt_bare<const volatile T> { typedef T type; };
template <typename T> struct __jf_sdt_bare<T &> : __jf_sdt_bare<T> {};
template <bool plain> struct __jf_sdt_pick {
	template <typename T>
	static inline __attribute__((__always_inline__)) T of(T x) { return x; }
};
template <> struct __jf_sdt_pick<false> {
	template <typename T> static constexpr int of(const T &) { return 0; }
};
#define __JF_SDT_SIGNED(x)						\
	(__jf_sdt_type<__jf_sdt_bare<__typeof__(x)>::type,		\
		       __JF_SDT_INTEGER(x)>::is_signed)
#define __JF_SDT_VALUE(x)	__jf_sdt_pick<__JF_SDT_PLAIN(x)>::of(x)
#else
#define __JF_SDT_TYPE(x)						\
	__typeof__(__builtin_choose_expr(__JF_SDT_INTEGER(x), (x), 0UL))
#define __JF_SDT_SIGNED(x)						\
	((__JF_SDT_TYPE(x))-1 < (__JF_SDT_TYPE(x))1)
#define __JF_SDT_VALUE(x)						\
	__builtin_choose_expr(__JF_SDT_PLAIN(x), (x), 0)
#endif

/* In registers, so that each tool can read them. */
#define __JF_SDT_IN_FEW		"nr"
#define __JF_SDT_IN_MANY	"nor"
#define __JF_SDT_ARG(n, room, x)					\
	[__jf_c##n] "i" (__JF_SDT_BYTES(x) |				\
			 (__JF_SDT_SIGNED(x) ? 16 : 0)),		\
	[__jf_a##n] __JF_SDT_IN_##room (__JF_SDT_VALUE(x)),
#define __JF_SDT_ARG_NONE

#ifdef JF_NO_SDT
#define __JF_SDT(provider, ...)	do { } while (0)
#else
#define __JF_SDT_STR_(x)	#x
#define __JF_SDT_STR(x)		__JF_SDT_STR_(x)
/* How many arguments follow the name, and which. */
#define __JF_SDT_COUNT_(name, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, \
			_12, n, ...) n
#define __JF_SDT_COUNT(...)						\
	__JF_SDT_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )
#define __JF_SDT_FIRST_(name, ...)	#name
#define __JF_SDT_FIRST(...)		__JF_SDT_FIRST_(__VA_ARGS__, )
#define __JF_SDT_REST_(name, ...)	(__VA_ARGS__)
#define __JF_SDT_REST(...)		__JF_SDT_REST_(__VA_ARGS__, )
#define __JF_SDT(provider, ...)						\
	__JF_SDT_(__JF_SDT_STR(provider), __JF_SDT_FIRST(__VA_ARGS__),	\
		  __JF_SDT_COUNT(__VA_ARGS__), __JF_SDT_REST(__VA_ARGS__))
#define __JF_SDT_(provider, name, n, args)				\
	__JF_SDT_N(provider, name, n, args)
#define __JF_SDT_N(provider, name, n, args)				\
	__JF_SDT_ASM __volatile__(					\
		__JF_SDT_NOTE(provider, name, "0", n, args)		\
		:: __JF_SDT_EACH(n, __JF_SDT_ARG, args)			\
		[__jf_none] "i" (0))
#endif

#endif /* JUMPFUNC_SDT_X86_H */
