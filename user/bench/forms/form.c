// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The probes of one form: FORM is its name. */
#include "forms.h"
#include "row.h"

#include <jumpfunc-sdt/sys/sdt.h>

#define STR_(x)		#x
#define STR(x)		STR_(x)
#define NAME__(form, name)	form##_##name
#define NAME_(form, name)	NAME__(form, name)
#define NAME(name)	NAME_(FORM, name)

#define IS_none		1
#define IS_site		2
#define IS_call		3
#define IS_page		4
#define IS__(form)	IS_##form
#define IS_(form)	IS__(form)

#if IS_(FORM) == IS_none
#define PROBE(name, a, b, c)	__asm__ volatile("" : : "nor" (a), "nor" (b), "nor" (c))

#elif IS_(FORM) == IS_site
#define PROBE_(name, a, b, c)	STAP_PROBE3(jfforms, name, a, b, c)
#define PROBE(name, a, b, c)	PROBE_(NAME(name), a, b, c)

#elif IS_(FORM) == IS_call
/*
 * A nop of five bytes where a call was, whose arguments are where calls have them, and which counts
 * as a call: it takes from the compiler all registers that a function may change. On, it is a jump
 * to the code that a call would lead to, which jumps back: the same instructions, and no return to
 * predict.
 */
#define SYMBOL_(name)	"__jf_sdt_3.jfforms." STR(name)
#define PROBE_(name, a, b, c)								\
	do {										\
		long __a = (a), __b = (b), __c = (c);					\
											\
		__asm__ volatile(							\
			"771:\n\t"							\
			".byte 0x0f, 0x1f, 0x44, 0, 0\n"				\
			"773:\n\t"							\
			".pushsection .text.unlikely, \"ax\", @progbits\n"		\
			"772:\n\t"							\
			"subq $40, %%rsp\n\t"						\
			"movq %%rdi, (%%rsp)\n\t"					\
			"movq %%rsi, 8(%%rsp)\n\t"					\
			"movq %%rdx, 16(%%rsp)\n\t"					\
			"movq %%rsp, %%rsi\n\t"						\
			"leaq " SYMBOL_(name) "(%%rip), %%rdi\n\t"			\
			"call __jf_sdt_hit@PLT\n\t"					\
			"addq $40, %%rsp\n\t"						\
			"jmp 773b\n\t"							\
			".popsection\n\t"						\
			".pushsection __jf_sites, \"a" __JF_P_RETAIN "?\", @progbits\n\t" \
			".balign 4\n\t"							\
			".long 771b - ., 772b - ., " SYMBOL_(name) " + 8 - ., 2\n\t"	\
			".popsection\n\t"						\
			__JF_P_OBJECT							\
			__JF_P_DEFINE("jfforms", STR(name), SYMBOL_(name), "0", 3,	\
				      ".byte 0x18, 0x18, 0x18\n\t")			\
			: "+D" (__a), "+S" (__b), "+d" (__c) :				\
			: "rax", "rcx", "r8", "r9", "r10", "r11", "cc", "memory",	\
			  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",	\
			  "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"); \
	} while (0)
#define PROBE(name, a, b, c)	PROBE_(NAME(name), a, b, c)

#elif IS_(FORM) == IS_page
/*
 * A record in the order of addresses: those of one file are, as long as the linker keeps them so.
 */
#define PROBE_(name, a, b, c)								\
	do {										\
		page_args[0] = (a);							\
		page_args[1] = (b);							\
		page_args[2] = (c);							\
		__asm__ volatile(							\
			"771:\n\t"							\
			"testl %%eax, page_read(%%rip)\n\t"				\
			".pushsection .rodata.str1.1, \"aMS\", @progbits, 1\n"		\
			"772:\n\t"							\
			".asciz \"jfforms:" STR(name) "\"\n\t"				\
			".popsection\n\t"						\
			".pushsection page_probes, \"aw\"\n\t"				\
			".balign 8\n\t"							\
			".quad 771b, 772b, 0\n\t"					\
			".popsection\n\t"						\
			: : : "cc", "memory");						\
	} while (0)
#define PROBE(name, a, b, c)	PROBE_(NAME(name), a, b, c)
#endif

#define PLAIN_ONE(hi, lo)	PROBE(plain_##lo, a, b, c); BRANCH_BODY;
static long plain(unsigned long turns, long a, long b, long c)
{
	/* The compiler must not know them, nor that they stay the same. */
	for (; turns; turns--) {
		__asm__ volatile("" : "+r" (a), "+r" (b), "+r" (c));
		FOR_64(PLAIN_ONE, 0)
	}
	return a + b + c;
}

#define BUSY_USE									\
	__asm__ volatile("" : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4), "+r" (x5),	\
			 "+r" (x6), "+r" (x7), "+r" (x8), "+r" (x9), "+r" (x10), "+r" (x11));
#define BUSY_ONE(hi, lo)	PROBE(busy_##lo, x0, x1, x2); BUSY_USE
static long busy(unsigned long turns, long a, long b, long c)
{
	long x0 = a, x1 = b, x2 = c, x3 = a + 1, x4 = b + 1, x5 = c + 1;
	long x6 = a + 2, x7 = b + 2, x8 = c + 2, x9 = a + 3, x10 = b + 3, x11 = c + 3;

	for (; turns; turns--) {
		FOR_64(BUSY_ONE, 0)
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11;
}

/* Fifty functions of a hundred probes: "many_PART_NUMBER". */
#define D10(m, n)									\
	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define MANY_ONE(n)	PROBE(many_##n, a, b, c);
#define MANY_TEN(n)									\
	MANY_ONE(n##0) MANY_ONE(n##1) MANY_ONE(n##2) MANY_ONE(n##3) MANY_ONE(n##4)		\
	MANY_ONE(n##5) MANY_ONE(n##6) MANY_ONE(n##7) MANY_ONE(n##8) MANY_ONE(n##9)
#define MANY_PART(n)									\
	static __attribute__((noinline)) void many_part_##n(long a, long b, long c)		\
	{										\
		__asm__ volatile("" : "+r" (a), "+r" (b), "+r" (c));			\
		MANY_TEN(n##0) MANY_TEN(n##1) MANY_TEN(n##2) MANY_TEN(n##3) MANY_TEN(n##4)	\
		MANY_TEN(n##5) MANY_TEN(n##6) MANY_TEN(n##7) MANY_TEN(n##8) MANY_TEN(n##9)	\
	}
D10(MANY_PART, 0) D10(MANY_PART, 1) D10(MANY_PART, 2) D10(MANY_PART, 3) D10(MANY_PART, 4)
#define MANY_ENTRY(n)	many_part_##n,
static void (*const many[MANY_PARTS])(long a, long b, long c) = {
	D10(MANY_ENTRY, 0) D10(MANY_ENTRY, 1) D10(MANY_ENTRY, 2) D10(MANY_ENTRY, 3) D10(MANY_ENTRY, 4)
};

const struct form NAME_(form, FORM) = { STR(FORM), plain, busy, many };
