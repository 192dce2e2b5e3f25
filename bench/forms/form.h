/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The probes of one form. FORM is its name, PROBE(kind, n, i, a, b, c) a probe: n are the
 * digits of its name, i is its number; JFF_FORM_KEPT and JFF_FORM_SET are as in struct jff_form.
 */
#include "repeat.h"

#define JFF_CAT_(a, b)		a##b
#define JFF_CAT(a, b)		JFF_CAT_(a, b)

/* Work that waits for nothing, which a probe stands in the midst of. */
#define JFF_WORK		asm volatile("inc %0\n\tinc %1" : "+r" (b), "+r" (c) : : "cc")

/* The digits are octal: 000 to 077. */
#define JFF_PLAIN(n)		PROBE(plain, n, n, a, b, c); JFF_WORK;
#define JFF_PLAIN_ALL		JFB_REP64(JFF_PLAIN, 0)
static noinline notrace __aligned(64) long plain(unsigned long turns, long a, long b, long c)
{
	for (; turns; turns--) {
		/* The compiler must not know them, nor that they stay the same. */
		asm volatile("" : "+r" (a), "+r" (b), "+r" (c));
		JFF_PLAIN_ALL
		asm volatile("sub %2, %0\n\tsub %2, %1"
			     : "+r" (b), "+r" (c) : "i" (JFF_HOT) : "cc");
	}
	return a + b + c;
}

#define JFF_USE									\
	asm volatile("" : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4), "+r" (x5),	\
		     "+r" (x6), "+r" (x7), "+r" (x8), "+r" (x9), "+r" (x10), "+r" (x11));
#define JFF_BUSY_ONE(n)		PROBE(busy, n, JFF_BUSY + n, x0, x1, x2); JFF_USE
#define JFF_BUSY_ALL		JFB_REP64(JFF_BUSY_ONE, 0)
static noinline notrace __aligned(64) long busy(unsigned long turns, long a, long b, long c)
{
	long x0 = a, x1 = b, x2 = c, x3 = a + 1, x4 = b + 1, x5 = c + 1;
	long x6 = a + 2, x7 = b + 2, x8 = c + 2, x9 = a + 3, x10 = b + 3, x11 = c + 3;

	for (; turns; turns--) {
		JFF_USE
		JFF_BUSY_ALL
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11;
}

/* Decimal: 10000 to 14999. */
#define JFF_MANY_ONE(n)		PROBE(many, n, JFF_MANY + n - 10000, a, b, c);
#define JFF_MANY_PART(p)						\
	static noinline notrace void many_##p(long a, long b, long c)	\
	{								\
		asm volatile("" : "+r" (a), "+r" (b), "+r" (c));	\
		JFB_REP100(JFF_MANY_ONE, p)				\
	}
JFB_TEN(JFF_MANY_PART, 10)
JFB_TEN(JFF_MANY_PART, 11)
JFB_TEN(JFF_MANY_PART, 12)
JFB_TEN(JFF_MANY_PART, 13)
JFB_TEN(JFF_MANY_PART, 14)

#define JFF_MANY_POINTER(p)	many_##p,
static void (*const many[JFF_PARTS])(long a, long b, long c) = {
	JFB_TEN(JFF_MANY_POINTER, 10)
	JFB_TEN(JFF_MANY_POINTER, 11)
	JFB_TEN(JFF_MANY_POINTER, 12)
	JFB_TEN(JFF_MANY_POINTER, 13)
	JFB_TEN(JFF_MANY_POINTER, 14)
};

const struct jff_form JFF_CAT(jff_, FORM) = {
	.name	= JFF_FORM_NAME,
	.kept	= JFF_FORM_KEPT,
	.plain	= plain,
	.busy	= busy,
	.many	= many,
	.set	= JFF_FORM_SET,
};
