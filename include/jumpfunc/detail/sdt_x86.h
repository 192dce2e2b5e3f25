/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A probe point that debuggers and tracers find, on x86-64. Not for users;
 * tracepoint.h places one in each tracepoint of a program.
 *
 *   __JF_SDT(provider, name, args...)	a statement; up to 12 arguments, or none
 *
 * Example, and what it becomes:
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
 * section: what moved it (prelink) has moved the probe by as much. The third
 * address would be that of a semaphore; nothing has to be switched on here.
 *
 * The probe has a nop of its own in front of the tracepoint's site, and not the
 * site for its address, because these tools write a breakpoint there and take
 * it back, each in its own way, while the site changes. A uprobe puts back the
 * first byte that the *file* has at the address, that of a nop; over a jump that
 * makes what is no instruction. On a site, a breakpoint
 * would also make updates fail with -EBUSY. One byte that is never patched keeps
 * the two apart.
 *
 * Caveats:
 * - The arguments are evaluated even while the tracepoint is off: a debugger
 *   has to find them. So the values of jf_trace(name, ...), which promises not
 *   to evaluate them, are not told.
 * - Arguments are integers, enums and pointers, of up to 8 bytes. Others are told
 *   as the constant 0. The first six are in registers or constants; further ones
 *   may be in memory, of which some tools only read what is on the stack.
 * - -DJF_NO_SDT leaves probe points out.
 */
#ifndef JUMPFUNC_SDT_X86_H
#define JUMPFUNC_SDT_X86_H

/*
 * What kind of type an expression has, by the numbers of gcc's typeclass.h: up to 4
 * integers, enums and bool, 5 pointers, from 8 on what a note does not tell. Nor does it
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

#define __JF_SDT_SIZE(x)						\
	(__JF_SDT_SIGNED(x) ? -__JF_SDT_BYTES(x) : __JF_SDT_BYTES(x))

/* Operands: size and place of argument number n. */
#define __JF_SDT_ARG(n, constraint, x)					\
	[__jf_s##n] "i" (__JF_SDT_SIZE(x)),				\
	[__jf_a##n] constraint (__JF_SDT_VALUE(x))
#define __JF_SDT_ARGS_0(name)
#define __JF_SDT_ARGS_1(name, a)					\
	__JF_SDT_ARG(1, "nr", a)
#define __JF_SDT_ARGS_2(name, a, b)					\
	__JF_SDT_ARGS_1(name, a),					\
	__JF_SDT_ARG(2, "nr", b)
#define __JF_SDT_ARGS_3(name, a, b, c)					\
	__JF_SDT_ARGS_2(name, a, b),					\
	__JF_SDT_ARG(3, "nr", c)
#define __JF_SDT_ARGS_4(name, a, b, c, d)				\
	__JF_SDT_ARGS_3(name, a, b, c),					\
	__JF_SDT_ARG(4, "nr", d)
#define __JF_SDT_ARGS_5(name, a, b, c, d, e)				\
	__JF_SDT_ARGS_4(name, a, b, c, d),				\
	__JF_SDT_ARG(5, "nr", e)
#define __JF_SDT_ARGS_6(name, a, b, c, d, e, f)				\
	__JF_SDT_ARGS_5(name, a, b, c, d, e),				\
	__JF_SDT_ARG(6, "nr", f)
#define __JF_SDT_ARGS_7(name, a, b, c, d, e, f, g)			\
	__JF_SDT_ARGS_6(name, a, b, c, d, e, f),			\
	__JF_SDT_ARG(7, "nor", g)
#define __JF_SDT_ARGS_8(name, a, b, c, d, e, f, g, h)			\
	__JF_SDT_ARGS_7(name, a, b, c, d, e, f, g),			\
	__JF_SDT_ARG(8, "nor", h)
#define __JF_SDT_ARGS_9(name, a, b, c, d, e, f, g, h, i)		\
	__JF_SDT_ARGS_8(name, a, b, c, d, e, f, g, h),			\
	__JF_SDT_ARG(9, "nor", i)
#define __JF_SDT_ARGS_10(name, a, b, c, d, e, f, g, h, i, j)		\
	__JF_SDT_ARGS_9(name, a, b, c, d, e, f, g, h, i),		\
	__JF_SDT_ARG(10, "nor", j)
#define __JF_SDT_ARGS_11(name, a, b, c, d, e, f, g, h, i, j, k)		\
	__JF_SDT_ARGS_10(name, a, b, c, d, e, f, g, h, i, j),		\
	__JF_SDT_ARG(11, "nor", k)
#define __JF_SDT_ARGS_12(name, a, b, c, d, e, f, g, h, i, j, k, l)	\
	__JF_SDT_ARGS_11(name, a, b, c, d, e, f, g, h, i, j, k),	\
	__JF_SDT_ARG(12, "nor", l)

/*
 * Their text in the note. Registers have the names of all 64 bits, and the size
 * says how many count: gdb knows no r9b.
 */
#define __JF_SDT_TEXT(n)	"%c[__jf_s" #n "]@%q[__jf_a" #n "]"
#define __JF_SDT_TEXT_0		""
#define __JF_SDT_TEXT_1		__JF_SDT_TEXT(1)
#define __JF_SDT_TEXT_2		__JF_SDT_TEXT_1 " " __JF_SDT_TEXT(2)
#define __JF_SDT_TEXT_3		__JF_SDT_TEXT_2 " " __JF_SDT_TEXT(3)
#define __JF_SDT_TEXT_4		__JF_SDT_TEXT_3 " " __JF_SDT_TEXT(4)
#define __JF_SDT_TEXT_5		__JF_SDT_TEXT_4 " " __JF_SDT_TEXT(5)
#define __JF_SDT_TEXT_6		__JF_SDT_TEXT_5 " " __JF_SDT_TEXT(6)
#define __JF_SDT_TEXT_7		__JF_SDT_TEXT_6 " " __JF_SDT_TEXT(7)
#define __JF_SDT_TEXT_8		__JF_SDT_TEXT_7 " " __JF_SDT_TEXT(8)
#define __JF_SDT_TEXT_9		__JF_SDT_TEXT_8 " " __JF_SDT_TEXT(9)
#define __JF_SDT_TEXT_10	__JF_SDT_TEXT_9 " " __JF_SDT_TEXT(10)
#define __JF_SDT_TEXT_11	__JF_SDT_TEXT_10 " " __JF_SDT_TEXT(11)
#define __JF_SDT_TEXT_12	__JF_SDT_TEXT_11 " " __JF_SDT_TEXT(12)

/*
 * "?" puts the note into the group of the function that it is in: an inline
 * function of C++, which the linker keeps once, keeps its notes once.
 */
#define __JF_SDT_NOTE(provider, name, text)				\
	"775:\n\t"							\
	"nop\n\t"							\
	".pushsection .note.stapsdt, \"?\", @note\n\t"			\
	".balign 4\n\t"							\
	".long 777f - 776f, 779f - 778f, 3\n"				\
	"776:\n\t"							\
	".asciz \"stapsdt\"\n"						\
	"777:\n\t"							\
	".balign 4\n"							\
	"778:\n\t"							\
	".quad 775b, _.stapsdt.base, 0\n\t"				\
	".asciz \"" provider "\"\n\t"					\
	".asciz \"" name "\"\n\t"					\
	".asciz \"" text "\"\n"						\
	"779:\n\t"							\
	".balign 4\n\t"							\
	".popsection\n\t"						\
	/* One for each object, however many notes and providers it has. */ \
	".ifndef _.stapsdt.base\n\t"					\
	".pushsection .stapsdt.base, \"aG\", @progbits, .stapsdt.base, comdat\n\t" \
	".weak _.stapsdt.base\n\t"					\
	".hidden _.stapsdt.base\n"					\
	"_.stapsdt.base:\n\t"						\
	".byte 0\n\t"							\
	".size _.stapsdt.base, 1\n\t"					\
	".popsection\n\t"						\
	".endif"

#ifdef JF_NO_SDT
#define __JF_SDT(provider, ...)	do { } while (0)
#else
#define __JF_SDT_STR_(x)	#x
#define __JF_SDT_STR(x)		__JF_SDT_STR_(x)
#define __JF_SDT_CAT_(a, b)	a##b
#define __JF_SDT_CAT(a, b)	__JF_SDT_CAT_(a, b)
/* How many arguments follow the name. */
#define __JF_SDT_COUNT_(name, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, \
			_12, n, ...) n
#define __JF_SDT_COUNT(...)						\
	__JF_SDT_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, )
#define __JF_SDT_FIRST_(name, ...)	#name
#define __JF_SDT_FIRST(...)		__JF_SDT_FIRST_(__VA_ARGS__, )
#define __JF_SDT(provider, ...)						\
	__asm__ __volatile__(						\
		__JF_SDT_NOTE(__JF_SDT_STR(provider),			\
			      __JF_SDT_FIRST(__VA_ARGS__),		\
			      __JF_SDT_CAT(__JF_SDT_TEXT_,		\
					   __JF_SDT_COUNT(__VA_ARGS__))) \
		:: __JF_SDT_CAT(__JF_SDT_ARGS_,				\
				__JF_SDT_COUNT(__VA_ARGS__))(__VA_ARGS__))
#endif

#endif /* JUMPFUNC_SDT_X86_H */
