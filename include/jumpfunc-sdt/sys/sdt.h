/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * SystemTap's probe points, as patched sites: for sources that include <sys/sdt.h> already.
 *
 * API (SystemTap's, DTrace's):
 *   DTRACE_PROBE(provider, name)
 *   DTRACE_PROBE1(provider, name, a) ... DTRACE_PROBE12(provider, name, a, ..., l)
 *   STAP_PROBE(...), STAP_PROBE1(...) ... STAP_PROBE12(...)	the same
 *   STAP_PROBEV(provider, name, ...)	the same, if SDT_USE_VARIADIC is defined
 *   and headers that dtrace -h has made, with their semaphores and PROVIDER_NAME_ENABLED()
 *
 * Example:
 *   gcc -I/usr/include/jumpfunc-sdt -c server.c	with DTRACE_PROBE2(srv, request, id, len)
 *   gcc -o server server.o -ljumpfunc
 *
 *   jf_sdt_register("srv:*", print, NULL);		in the program: <jumpfunc/sdt.h>
 *   JUMPFUNC_TRACE='srv:*' ./server		recorded: -ljumpfunc-trace, <jumpfunc/record.h>
 *   bpftrace -e 'usdt:./server:srv:request { ... }'	and all other tools, as before
 *
 * How it works: a probe is a nop of one byte, which the note names and which never changes, and a
 * branch site (branch.h), a nop of six. Tools put their breakpoints on the former; the library
 * makes the latter a jump while there are subscribers. The jump leads to a call of __jf_sdt_hit()
 * at the function's end, with the arguments in an array of words.
 *
 *	990:	nop
 *		a note of type 3 by "stapsdt" in .note.stapsdt: 990, "srv", "request",
 *		"-4@%ebx 8@%rbp"
 *	771:	cs nopl 0(%rax,%rax)	a record in __jf_sites, of __jf_sdt.srv.request
 *
 * A probe has no declaration: it may stand in many functions and files. So the asm statement of
 * each writes a struct jf_sdt for its name, and the linker keeps one for a program or shared
 * object. It keeps one constructor, too, which tells the library of them.
 *
 * Caveats:
 * - Link with -ljumpfunc: pkg-config --libs jumpfunc.
 * - The value of an argument is taken once, whether or not the probe is on, as with SystemTap's
 *   header.
 * - Arguments fit into a word: integers, enums, pointers, arrays (their address), float and double,
 *   whose bits are handed on. Others are told as the constant 0.
 * - STAP_SDT_ARG_CONSTRAINT may be defined before this header, as before SystemTap's.
 * - For x86-64. Elsewhere, in assembly, for the large code model, for clang before version 17 in
 *   C++98, and with -DJF_NO_SDT_SITES (for sources that have STAP_PROBE_ASM()), SystemTap's own
 *   header is included in place of this one (systemtap-sdt-dev).
 */
#ifndef JUMPFUNC_SYS_SDT_H
#define JUMPFUNC_SYS_SDT_H

#pragma GCC system_header

#if defined(__ASSEMBLER__) || !defined(__x86_64__) || !defined(__LP64__) || defined(__code_model_large__) || \
	defined(JF_NO_SDT_SITES) || \
	(defined(__clang__) && defined(__cplusplus) && __cplusplus < 201103L && __clang_major__ < 17)
#include_next <sys/sdt.h>
#else
/* SystemTap's is not to come after it. */
#ifndef _SYS_SDT_H
#define _SYS_SDT_H	1
#endif

/* Beside the folder that this one is in, wherever that is. */
#include "../../jumpfunc/detail/sdt_note.h"

#define __JF_P_STR_(...)	#__VA_ARGS__
#define __JF_P_STR(...)		__JF_P_STR_(__VA_ARGS__)

/* --- arguments: their types and values ------------------------------------------------ */

#ifdef __cplusplus
/* As a function's argument would be: no reference, no array, no const. */
template <typename T> T __jf_p_decay(T x);
#define __JF_P_BARE(x)		__typeof__(__jf_p_decay(x))

template <typename T, bool is_enum = __is_enum(T)> struct __jf_p_kind {
	enum { plain = 0, is_signed = 0, is_float = 0 };
};
template <typename T> struct __jf_p_kind<T, true> {
	enum { plain = sizeof(T) <= 8, is_signed = __jf_p_kind<__underlying_type(T)>::is_signed, is_float = 0 };
};
template <typename T> struct __jf_p_kind<T *, false> {
	enum { plain = 1, is_signed = 0, is_float = 0 };
};
#define __JF_P_KIND_OF(type, sign, fraction)					\
	template <> struct __jf_p_kind<type, false> {				\
		enum { plain = 1, is_signed = sign, is_float = fraction };	\
	};
__JF_P_KIND_OF(bool, 0, 0)
__JF_P_KIND_OF(char, (char)-1 < (char)1, 0)
__JF_P_KIND_OF(signed char, 1, 0)
__JF_P_KIND_OF(unsigned char, 0, 0)
__JF_P_KIND_OF(wchar_t, (wchar_t)-1 < (wchar_t)1, 0)
#if __cplusplus >= 201103L
__JF_P_KIND_OF(char16_t, 0, 0)
__JF_P_KIND_OF(char32_t, 0, 0)
#endif
#ifdef __cpp_char8_t
__JF_P_KIND_OF(char8_t, 0, 0)
#endif
__JF_P_KIND_OF(short, 1, 0)
__JF_P_KIND_OF(unsigned short, 0, 0)
__JF_P_KIND_OF(int, 1, 0)
__JF_P_KIND_OF(unsigned int, 0, 0)
__JF_P_KIND_OF(long, 1, 0)
__JF_P_KIND_OF(unsigned long, 0, 0)
__JF_P_KIND_OF(long long, 1, 0)
__JF_P_KIND_OF(unsigned long long, 0, 0)
__JF_P_KIND_OF(float, 0, 1)
__JF_P_KIND_OF(double, 0, 1)
#undef __JF_P_KIND_OF

template <bool plain> struct __jf_p_pick {
	template <typename T> static inline __attribute__((__always_inline__)) T of(T x) { return x; }
};
template <> struct __jf_p_pick<false> {
	template <typename T> static inline __attribute__((__always_inline__)) int of(const T &) { return 0; }
};
#define __JF_P_PLAIN(x)		((bool)__jf_p_kind<__JF_P_BARE(x)>::plain)
#define __JF_P_SIGNED(x)	((int)__jf_p_kind<__JF_P_BARE(x)>::is_signed)
#define __JF_P_FLOAT(x)		((int)__jf_p_kind<__JF_P_BARE(x)>::is_float)
#define __JF_P_VALUE(x)		__jf_p_pick<__JF_P_PLAIN(x)>::of(x)
#define __JF_P_TYPE(x)		__typeof__(__JF_P_VALUE(x))
#else
/*
 * Kinds of types by the numbers of gcc's typeclass.h: up to 4 integers, enums and bool, 5 pointers,
 * arrays and functions, 8 float and double. The comma makes a pointer of an array.
 */
#define __JF_P_BARE(x)		__typeof__(((void)0, (x)))
#define __JF_P_CLASS(x)		__builtin_classify_type(x)
#define __JF_P_FLOAT(x)		(__JF_P_CLASS(x) == 8 && sizeof(__JF_P_BARE(x)) <= 8)
#define __JF_P_PLAIN(x)		((__JF_P_CLASS(x) <= 5 && sizeof(__JF_P_BARE(x)) <= 8) || __JF_P_FLOAT(x))
#define __JF_P_INTEGER(x)							\
	__typeof__(__builtin_choose_expr(__JF_P_CLASS(x) < 5 && __JF_P_PLAIN(x), (x), 0UL))
#define __JF_P_SIGNED(x)	((__JF_P_INTEGER(x))-1 < (__JF_P_INTEGER(x))1)
#define __JF_P_VALUE(x)		__builtin_choose_expr(__JF_P_PLAIN(x), (x), 0)
#define __JF_P_TYPE(x)		__typeof__(((void)0, __JF_P_VALUE(x)))
#endif

/* The size, 16 if it is signed, 32 if it is a float: so in struct jf_sdt, too. */
#define __JF_P_CODE(x)								\
	((__JF_P_PLAIN(x) ? (int)sizeof(__JF_P_BARE(x)) : 8) |			\
	 (__JF_P_SIGNED(x) ? 16 : 0) | (__JF_P_FLOAT(x) ? 32 : 0))

/*
 * In registers or constants as far as there are enough, since clang else puts all of them into
 * memory.
 */
#if !defined(STAP_SDT_ARG_CONSTRAINT) && !defined(__clang__)
#define STAP_SDT_ARG_CONSTRAINT	nor
#endif
#ifdef STAP_SDT_ARG_CONSTRAINT
#define __JF_P_FEW		__JF_P_STR(STAP_SDT_ARG_CONSTRAINT)
#define __JF_P_MANY		__JF_P_STR(STAP_SDT_ARG_CONSTRAINT)
#else
#define __JF_P_FEW		"nr"
#define __JF_P_MANY		"nor"
#endif
#define __JF_P_KEEP_NONE
#define __JF_P_KEEP(n, room, x)	__JF_P_TYPE(x) __jf_v##n = __JF_P_VALUE(x);
#define __JF_P_OPERAND(n, room, x)						\
	[__jf_c##n] "i" (__JF_P_CODE(x)), [__jf_a##n] __JF_P_##room (__jf_v##n),
#define __JF_P_OPERAND_NONE
#define __JF_P_WORD_NONE	0
#define __JF_P_WORD(n, room, x)							\
	__jf_p_word(&__jf_v##n, sizeof(__jf_v##n), __JF_P_SIGNED(x)),

/* A word of @size bytes: signed ones keep their sign, of others the rest is 0. */
static __inline__ __attribute__((__always_inline__, __unused__)) unsigned long
__jf_p_word(const void *p, unsigned long size, int is_signed)
{
	unsigned long word = 0;

	__builtin_memcpy(&word, p, size);
	if (is_signed)
		word = (unsigned long)((long)(word << (64 - size * 8)) >> (64 - size * 8));
	return word;
}

/* --- data for the library -------------------------------------------------------------- */

/* Records are kept although nothing refers to them. */
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#define __JF_P_RETAIN		"R"
#endif
#endif
#ifndef __JF_P_RETAIN
#define __JF_P_RETAIN		""
#endif

/*
 * A struct jf_object (<jumpfunc/detail/types.h>) with the bounds of all records, and the
 * constructor and the destructor that bring it. Sources that have keys of their own bring one more
 * with the same bounds.
 */
#define __JF_P_BOUND(symbol)	".weak " symbol "\n\t.hidden " symbol "\n\t"
#define __JF_P_BOUNDS(of)							\
	__JF_P_BOUND("__start_" of) __JF_P_BOUND("__stop_" of)			\
	".quad __start_" of ", __stop_" of "\n\t"
#define __JF_P_CALLS(label, function, array)					\
	".pushsection .text.jumpfunc_sdt, \"axG\", @progbits, __jf_sdt_object, comdat\n\t" \
	".type " label ", @function\n"						\
	label ":\n\t"								\
	"endbr64\n\t"								\
	"lea{q __jf_sdt_object(%%rip), %%rdi| rdi, [rip + __jf_sdt_object]}\n\t" \
	"jmp " function "@PLT\n\t"						\
	".size " label ", . - " label "\n\t"					\
	".popsection\n\t"							\
	".pushsection ." array ".00101, \"awG\", @" array ", __jf_sdt_object, comdat\n\t" \
	".balign 8\n\t"								\
	".quad " label "\n\t"							\
	".popsection\n\t"
#define __JF_P_OBJECT								\
	".ifndef __jf_sdt_object\n\t"						\
	".pushsection .data.jumpfunc_sdt, \"awG\", @progbits, __jf_sdt_object, comdat\n\t" \
	".balign 8\n\t"								\
	".weak __jf_sdt_object\n\t"						\
	".hidden __jf_sdt_object\n\t"						\
	".type __jf_sdt_object, @object\n"					\
	"__jf_sdt_object:\n\t"							\
	".long 0x6a660004, 16 | 24 << 16\n\t"					\
	__JF_P_BOUNDS("__jf_sites") __JF_P_BOUNDS("__jf_sites_on")		\
	__JF_P_BOUNDS("__jf_sites_now") __JF_P_BOUNDS("__jf_ents")		\
	".quad 0\n\t"								\
	".size __jf_sdt_object, . - __jf_sdt_object\n\t"			\
	".popsection\n\t"							\
	__JF_P_CALLS("__jf_sdt_loads", "__jf_object_register", "init_array")	\
	__JF_P_CALLS("__jf_sdt_unloads", "__jf_object_unregister", "fini_array") \
	".endif\n\t"

#define __JF_P_BYTE_NONE	""
#define __JF_P_BYTE(n, room, x)	".byte %c[__jf_c" #n "]\n\t"

/*
 * A struct jf_sdt, and its record. jf_sdt.h and the library check its offsets. Flags: 0x10 is
 * JF_ENT_TRACE, 0x200 JF_ENT_SDT.
 */
#define __JF_P_DEFINE(provider, name, symbol, semaphore, num, codes)		\
	".ifndef " symbol "\n\t"						\
	".pushsection .data.jumpfunc_sdt, \"awG\", @progbits, " symbol ", comdat\n\t" \
	".balign 32\n\t"							\
	".weak " symbol "\n\t"							\
	".hidden " symbol "\n\t"						\
	".type " symbol ", @object\n"						\
	symbol ":\n\t"								\
	/* key: enabled, count, ent */						\
	".long 0, 0\n\t"							\
	".quad 995f, __jf_sdt_object\n\t"					\
	".short 1, 0x210\n\t"							\
	".long 0\n\t"								\
	".quad 0\n\t"								\
	".zero 24\n\t"								\
	/* tp: name, owner, key, call, iter, nargs, active, probes, next, origin */ \
	".quad 995f, __jf_sdt_object, " symbol ", 0, 0\n\t"			\
	".long " #num ", 0\n\t"							\
	".quad 0, 0, 0, 0\n\t"							\
	".quad " semaphore "\n\t"						\
	".long 1\n"								\
	"996:\n\t"								\
	codes									\
	".zero 16 - (. - 996b)\n"						\
	"995:\n\t"								\
	".asciz \"" provider ":" name "\"\n\t"					\
	".size " symbol ", . - " symbol "\n\t"					\
	".popsection\n\t"							\
	".pushsection __jf_ents, \"awG" __JF_P_RETAIN "\", @progbits, " symbol ", comdat\n\t" \
	".balign 8\n\t"								\
	".quad " symbol " + 8, 0\n\t"						\
	".long 1, 64\n\t"							\
	".popsection\n\t"							\
	".endif\n\t"

#define __JF_P_SITE(symbol)							\
	".byte 0x2e\n"								\
	"771:\n\t"								\
	".byte 0x0f, 0x1f, 0x44, 0, 0\n\t"					\
	".reloc 771b, R_X86_64_NONE, " symbol "\n\t"				\
	".reloc 771b, R_X86_64_NONE, %l[__jf_hit]\n\t"				\
	".pushsection __jf_sites, \"a" __JF_P_RETAIN "?\", @progbits\n\t"	\
	".balign 4\n\t"								\
	".long 771b - ., %l[__jf_hit] - ., " symbol " + 8 - ., 0x42\n\t"	\
	".popsection\n\t"

/* Where there are semaphores, a name is another probe than where there are none. */
#ifdef _SDT_HAS_SEMAPHORES
#define __JF_P_SEMAPHORE(provider, name)	#provider "_" #name "_semaphore"
#define __JF_P_KIND		"__jf_sdt_s"
#define __JF_P_USE(provider, name)						\
	__asm__ __volatile__("" : : "m" (provider##_##name##_semaphore));
#else
#define __JF_P_SEMAPHORE(provider, name)	"0"
#define __JF_P_KIND		"__jf_sdt_"
#define __JF_P_USE(provider, name)
#endif

/*
 * Places that have a name, a number of arguments and the types of these in common are one probe.
 * The symbol has the code of each argument, so that a place never gets the types of another.
 */
#define __JF_P_SYMBOL(provider, name, num, args)				\
	__JF_P_KIND #num "." #provider "." #name __JF_SDT_EACH(num, __JF_P_TYPED, args)
#define __JF_P_TYPED_NONE	""
#define __JF_P_TYPED(n, room, x)	".%c[__jf_c" #n "]"
#define __JF_P_CONSTANT_NONE
#define __JF_P_CONSTANT(n, room, x)	[__jf_c##n] "i" (__JF_P_CODE(x)),

#define __JF_P_GOTO(provider, name, n, args)					\
	__JF_SDT_ASM goto(							\
		__JF_SDT_NOTE(#provider, #name, __JF_P_SEMAPHORE(provider, name), n, args) \
		__JF_P_SITE(__JF_P_SYMBOL(provider, name, n, args))		\
		__JF_P_OBJECT							\
		__JF_P_DEFINE(#provider, #name, __JF_P_SYMBOL(provider, name, n, args), \
			      __JF_P_SEMAPHORE(provider, name), n, __JF_SDT_EACH(n, __JF_P_BYTE, args)) \
		: : __JF_SDT_EACH(n, __JF_P_OPERAND, args) [__jf_none] "i" (0) \
		: "cc" : __jf_hit)

#ifdef __cplusplus
extern "C" {
#endif
struct jf_sdt;
void __jf_sdt_hit(struct jf_sdt *sdt, const unsigned long *words)
	__attribute__((__cold__));
#ifdef __cplusplus
}
#endif

#define __JF_P_HIT(provider, name, n, args)					\
	do {									\
		struct jf_sdt *__jf_sdt;					\
		unsigned long __jf_words[] = { __JF_SDT_EACH(n, __JF_P_WORD, args) };\
										\
		__asm__("lea{q " __JF_P_SYMBOL(provider, name, n, args) "(%%rip), %0|" \
			" %0, [rip + " __JF_P_SYMBOL(provider, name, n, args) "]}" \
			: "=r" (__jf_sdt)					\
			: __JF_SDT_EACH(n, __JF_P_CONSTANT, args) [__jf_none] "i" (0)); \
		__jf_sdt_hit(__jf_sdt, __jf_words);				\
	} while (0)

/*
 * clang before version 17 takes each asm goto of a function for one that may jump to the labels of
 * all others. A lambda is a function of its own.
 */
#if defined(__clang__) && defined(__cplusplus) && __clang_major__ < 17
#define __JF_P_PROBE(provider, name, n, args)					\
	do {									\
		__JF_SDT_EACH(n, __JF_P_KEEP, args)			\
		__JF_P_USE(provider, name)					\
		if (__builtin_expect(([&]() __attribute__((__always_inline__)) -> bool { \
			__JF_P_GOTO(provider, name, n, args);			\
			return false;						\
		__jf_hit:							\
			return true;						\
		}()), 0))							\
			__JF_P_HIT(provider, name, n, args);			\
	} while (0)
#else
#define __JF_P_PROBE(provider, name, n, args)					\
	do { __extension__ ({							\
		__label__ __jf_hit;						\
		__JF_SDT_EACH(n, __JF_P_KEEP, args)			\
		__JF_P_USE(provider, name)					\
		__JF_P_GOTO(provider, name, n, args);				\
		if (0) {							\
		__jf_hit:							\
			__JF_P_HIT(provider, name, n, args);			\
		}								\
	}); } while (0)
#endif

/* --- SystemTap's and DTrace's names ------------------------------------------------------- */

#define STAP_PROBE(provider, name)	__JF_P_PROBE(provider, name, 0, ())
#define DTRACE_PROBE(provider, name)	STAP_PROBE(provider, name)
#define STAP_PROBE1(provider, name, a)	__JF_P_PROBE(provider, name, 1, (a))
#define DTRACE_PROBE1(provider, name, a)	STAP_PROBE1(provider, name, a)
#define STAP_PROBE2(provider, name, a, b)	__JF_P_PROBE(provider, name, 2, (a, b))
#define DTRACE_PROBE2(provider, name, a, b)	STAP_PROBE2(provider, name, a, b)
#define STAP_PROBE3(provider, name, a, b, c)	__JF_P_PROBE(provider, name, 3, (a, b, c))
#define DTRACE_PROBE3(provider, name, a, b, c)	STAP_PROBE3(provider, name, a, b, c)
#define STAP_PROBE4(provider, name, a, b, c, d)	__JF_P_PROBE(provider, name, 4, (a, b, c, d))
#define DTRACE_PROBE4(provider, name, a, b, c, d)	STAP_PROBE4(provider, name, a, b, c, d)
#define STAP_PROBE5(provider, name, a, b, c, d, e)	__JF_P_PROBE(provider, name, 5, (a, b, c, d, e))
#define DTRACE_PROBE5(provider, name, a, b, c, d, e)	STAP_PROBE5(provider, name, a, b, c, d, e)
#define STAP_PROBE6(provider, name, a, b, c, d, e, f)	__JF_P_PROBE(provider, name, 6, (a, b, c, d, e, f))
#define DTRACE_PROBE6(provider, name, a, b, c, d, e, f)	STAP_PROBE6(provider, name, a, b, c, d, e, f)
#define STAP_PROBE7(provider, name, a, b, c, d, e, f, g)	\
	__JF_P_PROBE(provider, name, 7, (a, b, c, d, e, f, g))
#define DTRACE_PROBE7(provider, name, a, b, c, d, e, f, g)	STAP_PROBE7(provider, name, a, b, c, d, e, f, g)
#define STAP_PROBE8(provider, name, a, b, c, d, e, f, g, h)	\
	__JF_P_PROBE(provider, name, 8, (a, b, c, d, e, f, g, h))
#define DTRACE_PROBE8(provider, name, a, b, c, d, e, f, g, h)	\
	STAP_PROBE8(provider, name, a, b, c, d, e, f, g, h)
#define STAP_PROBE9(provider, name, a, b, c, d, e, f, g, h, i)	\
	__JF_P_PROBE(provider, name, 9, (a, b, c, d, e, f, g, h, i))
#define DTRACE_PROBE9(provider, name, a, b, c, d, e, f, g, h, i)	\
	STAP_PROBE9(provider, name, a, b, c, d, e, f, g, h, i)
#define STAP_PROBE10(provider, name, a, b, c, d, e, f, g, h, i, j)	\
	__JF_P_PROBE(provider, name, 10, (a, b, c, d, e, f, g, h, i, j))
#define DTRACE_PROBE10(provider, name, a, b, c, d, e, f, g, h, i, j)	\
	STAP_PROBE10(provider, name, a, b, c, d, e, f, g, h, i, j)
#define STAP_PROBE11(provider, name, a, b, c, d, e, f, g, h, i, j, k)	\
	__JF_P_PROBE(provider, name, 11, (a, b, c, d, e, f, g, h, i, j, k))
#define DTRACE_PROBE11(provider, name, a, b, c, d, e, f, g, h, i, j, k)	\
	STAP_PROBE11(provider, name, a, b, c, d, e, f, g, h, i, j, k)
#define STAP_PROBE12(provider, name, a, b, c, d, e, f, g, h, i, j, k, l)	\
	__JF_P_PROBE(provider, name, 12, (a, b, c, d, e, f, g, h, i, j, k, l))
#define DTRACE_PROBE12(provider, name, a, b, c, d, e, f, g, h, i, j, k, l)	\
	STAP_PROBE12(provider, name, a, b, c, d, e, f, g, h, i, j, k, l)

#ifdef SDT_USE_VARIADIC
#define __JF_P_COUNT_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, n, ...)	n
#define __JF_P_COUNT(...)							\
	__JF_P_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define __JF_P_PROBE_N(provider, name, n, ...)	__JF_P_PROBE_N_(provider, name, n, (__VA_ARGS__))
#define __JF_P_PROBE_N_(provider, name, n, args)	__JF_P_PROBE(provider, name, n, args)
#define STAP_PROBEV(provider, name, ...)					\
	__JF_P_PROBE_N(provider, name, __JF_P_COUNT(0, ##__VA_ARGS__), ##__VA_ARGS__)
#endif

#endif
#endif /* JUMPFUNC_SYS_SDT_H */
