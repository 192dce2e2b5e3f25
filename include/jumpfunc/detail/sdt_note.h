/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A note of a probe point, as SystemTap's <sys/sdt.h> makes it, on x86-64. Not for users: sdt_x86.h
 * (probe points of tracepoints) and <jumpfunc-sdt/sys/sdt.h> (those of other sources) include it.
 * It is C from C89 on and C++ from C++98 on, as the latter is.
 *
 * Both have, for argument n of a probe, the operands
 *   __jf_c<n>	a constant, its code: how many bytes, 16 if it is signed, 32 if it is a float
 *   __jf_a<n>	where it is
 * in an asm statement that begins with __JF_SDT_NOTE().
 *
 * Caveats:
 * - Labels 990 to 994 of the statement are taken.
 */
#ifndef JUMPFUNC_SDT_NOTE_H
#define JUMPFUNC_SDT_NOTE_H

#pragma GCC system_header

/*
 * For each of the n arguments in parentheses, @args: m(number, FEW, argument), and from the seventh
 * on, where registers run short, m(number, MANY, argument). If there are none: m_NONE. Those after
 * the n-th are left out.
 */
#define __JF_SDT_EACH(n, m, args)						\
	__JF_SDT_EACH_N(__JF_SDT_EACH_##n, m, __JF_SDT_BARE args, )
#define __JF_SDT_EACH_N(each, ...)	each(__VA_ARGS__)
#define __JF_SDT_BARE(...)		__VA_ARGS__

#define __JF_SDT_EACH_0(m, ...)		m##_NONE
#define __JF_SDT_EACH_1(m, a, ...)	m(1, FEW, a)
#define __JF_SDT_EACH_2(m, a, b, ...)	__JF_SDT_EACH_1(m, a, ) m(2, FEW, b)
#define __JF_SDT_EACH_3(m, a, b, c, ...)	__JF_SDT_EACH_2(m, a, b, ) m(3, FEW, c)
#define __JF_SDT_EACH_4(m, a, b, c, d, ...)	__JF_SDT_EACH_3(m, a, b, c, ) m(4, FEW, d)
#define __JF_SDT_EACH_5(m, a, b, c, d, e, ...)	__JF_SDT_EACH_4(m, a, b, c, d, ) m(5, FEW, e)
#define __JF_SDT_EACH_6(m, a, b, c, d, e, f, ...)	__JF_SDT_EACH_5(m, a, b, c, d, e, ) m(6, FEW, f)
#define __JF_SDT_EACH_7(m, a, b, c, d, e, f, g, ...)	__JF_SDT_EACH_6(m, a, b, c, d, e, f, ) m(7, MANY, g)
#define __JF_SDT_EACH_8(m, a, b, c, d, e, f, g, h, ...)				\
	__JF_SDT_EACH_7(m, a, b, c, d, e, f, g, ) m(8, MANY, h)
#define __JF_SDT_EACH_9(m, a, b, c, d, e, f, g, h, i, ...)			\
	__JF_SDT_EACH_8(m, a, b, c, d, e, f, g, h, ) m(9, MANY, i)
#define __JF_SDT_EACH_10(m, a, b, c, d, e, f, g, h, i, j, ...)			\
	__JF_SDT_EACH_9(m, a, b, c, d, e, f, g, h, i, ) m(10, MANY, j)
#define __JF_SDT_EACH_11(m, a, b, c, d, e, f, g, h, i, j, k, ...)		\
	__JF_SDT_EACH_10(m, a, b, c, d, e, f, g, h, i, j, ) m(11, MANY, k)
#define __JF_SDT_EACH_12(m, a, b, c, d, e, f, g, h, i, j, k, l, ...)		\
	__JF_SDT_EACH_11(m, a, b, c, d, e, f, g, h, i, j, k, ) m(12, MANY, l)

/*
 * The text of an argument: its size, and its place. Registers have the names of all 64 bits, and
 * the size says how many count: gdb knows no r9b. This is no macro of the assembler, since that of
 * clang knows none of an earlier statement.
 */
#define __JF_SDT_TEXT(n, room, x)						\
	".if " #n " > 1\n\t.ascii \" \"\n\t.endif\n\t"				\
	".if %c[__jf_c" #n "] & 16\n\t.ascii \"-\"\n\t.endif\n\t"		\
	".byte '0' + (%c[__jf_c" #n "] & 15)\n\t"				\
	".if %c[__jf_c" #n "] & 32\n\t.ascii \"f\"\n\t.endif\n\t"		\
	".ascii \"@%q[__jf_a" #n "]\"\n\t"
#define __JF_SDT_TEXT_NONE	""

/*
 * A nop, and the note that names it, for @num arguments. "?" puts the note into the group of the
 * function that it is in: an inline function of C++, which the linker keeps once, keeps its notes
 * once. The base is where the note's addresses count from, one for each object, however many notes
 * and providers that has.
 */
#define __JF_SDT_NOTE(provider, name, semaphore, num, args)			\
	"990:\n\t"								\
	"nop\n\t"								\
	".pushsection .note.stapsdt, \"?\", @note\n\t"				\
	".balign 4\n\t"								\
	".long 992f - 991f, 994f - 993f, 3\n"					\
	"991:\n\t"								\
	".asciz \"stapsdt\"\n"							\
	"992:\n\t"								\
	".balign 4\n"								\
	"993:\n\t"								\
	".quad 990b, _.stapsdt.base, " semaphore "\n\t"				\
	".asciz \"" provider "\"\n\t"						\
	".asciz \"" name "\"\n\t"						\
	__JF_SDT_EACH(num, __JF_SDT_TEXT, args)					\
	".byte 0\n"								\
	"994:\n\t"								\
	".balign 4\n\t"								\
	".popsection\n\t"							\
	".ifndef _.stapsdt.base\n\t"						\
	".pushsection .stapsdt.base, \"aG\", @progbits, .stapsdt.base, comdat\n\t" \
	".weak _.stapsdt.base\n\t"						\
	".hidden _.stapsdt.base\n"						\
	"_.stapsdt.base:\n\t"							\
	".byte 0\n\t"								\
	".size _.stapsdt.base, 1\n\t"						\
	".popsection\n\t"							\
	".endif\n\t"

/* Stays beside the code that other compilers and versions can inline. */
#if defined(__clang__) || __GNUC__ >= 9
#define __JF_SDT_ASM	__asm__ __inline__
#else
#define __JF_SDT_ASM	__asm__
#endif

#endif /* JUMPFUNC_SDT_NOTE_H */
