// SPDX-License-Identifier: GPL-2.0
/*
 * The meaning of a call of a dynamic function in C, in each of its forms: from a
 * site, by the trampoline, through a pointer. Nothing here is patched by force:
 * everything must hold with any back end.
 *
 * Faults that were tried, by the case that they broke:
 *   args		"+S" and "+d" exchanged in __jf_call_3()
 *   extend, narrow	__jf_reg() that does not extend the sign to 64 bits
 *   results		the case for one byte removed from __jf_result()
 *   clobbers		"r9" removed from the clobbers of __jf_call_5()
 *   memory		the call of jf_nop() removed from __jf_call_asm()
 *   init_text		jf_module_live() forgets no site: the machine oopses
 */
#include "jf_test.h"

/* Keeps the compiler from knowing a value. */
#define HIDE(x)								\
({									\
	typeof(x) jft_x = (x);						\
									\
	OPTIMIZER_HIDE_VAR(jft_x);					\
	jft_x;								\
})

/* As many sites in this object file, or none where there are none at all. */
#define CHECK_SITES(name, n)						\
	CHECK_EQ(jft_num_sites(&__jf_func_##name), JF_HAVE_PATCHING ? (n) : 0)

static unsigned long seen[12];
static unsigned int nseen;

static void forget(void)
{
	memset(seen, 0x5a, sizeof(seen));
	nseen = 0;
}

/* --- number and place of arguments -------------------------------------- */

static noinline long args0(void)
{
	nseen = 1;
	return 1000;
}

static noinline long args1(long a)
{
	seen[0] = a;
	return 1001;
}

static noinline long args2(long a, long b)
{
	seen[0] = a, seen[1] = b;
	return 1002;
}

static noinline long args3(long a, long b, long c)
{
	seen[0] = a, seen[1] = b, seen[2] = c;
	return 1003;
}

static noinline long args4(long a, long b, long c, long d)
{
	seen[0] = a, seen[1] = b, seen[2] = c, seen[3] = d;
	return 1004;
}

static noinline long args5(long a, long b, long c, long d, long e)
{
	seen[0] = a, seen[1] = b, seen[2] = c, seen[3] = d, seen[4] = e;
	return 1005;
}

static noinline long args6(long a, long b, long c, long d, long e, long f)
{
	seen[0] = a, seen[1] = b, seen[2] = c, seen[3] = d, seen[4] = e, seen[5] = f;
	return 1006;
}

static noinline long args7(long a, long b, long c, long d, long e, long f, long g)
{
	args6(a, b, c, d, e, f);
	seen[6] = g;
	return 1007;
}

static noinline long args9(long a, long b, long c, long d, long e, long f, int g, u8 h, short i)
{
	args7(a, b, c, d, e, f, g);
	seen[7] = h, seen[8] = i;
	return 1009;
}

static noinline long args12(long a, long b, long c, long d, long e, long f,
			    long g, long h, long i, long j, long k, long l)
{
	args7(a, b, c, d, e, f, g);
	seen[7] = h, seen[8] = i, seen[9] = j, seen[10] = k, seen[11] = l;
	return 1012;
}

DEFINE_DYNFUNC(calls_0, args0);
DEFINE_DYNFUNC(calls_1, args1);
DEFINE_DYNFUNC(calls_2, args2);
DEFINE_DYNFUNC(calls_3, args3);
DEFINE_DYNFUNC(calls_4, args4);
DEFINE_DYNFUNC(calls_5, args5);
DEFINE_DYNFUNC(calls_6, args6);
DEFINE_DYNFUNC(calls_7, args7);
DEFINE_DYNFUNC(calls_9, args9);
DEFINE_DYNFUNC(calls_12, args12);

static const unsigned long pattern[12] = {
	0x1111222233334444, 0x8000000000000001, 0xfedcba9876543210, 0x00000000ffffffff,
	0xffffffff00000000, 0x0123456789abcdef, 0xaaaa5555aaaa5555, 0x7fffffffffffffff,
	0x8888888800000000, 0x0000000188888888, 0xdeadbeefcafebabe, 0x0f0f0f0f0f0f0f0f,
};

#define P(i)	HIDE((long)pattern[i])

static void check_args(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		CHECK_EQ(seen[i], pattern[i]);
	forget();
}

static int test_args(void)
{
	forget();
	CHECK_EQ(dynfunc_call(calls_0), 1000);
	CHECK_EQ(nseen, 1);
	CHECK_EQ(dynfunc_call(calls_1, P(0)), 1001);
	check_args(1);
	CHECK_EQ(dynfunc_call(calls_2, P(0), P(1)), 1002);
	check_args(2);
	CHECK_EQ(dynfunc_call(calls_3, P(0), P(1), P(2)), 1003);
	check_args(3);
	CHECK_EQ(dynfunc_call(calls_4, P(0), P(1), P(2), P(3)), 1004);
	check_args(4);
	CHECK_EQ(dynfunc_call(calls_5, P(0), P(1), P(2), P(3), P(4)), 1005);
	check_args(5);
	CHECK_EQ(dynfunc_call(calls_6, P(0), P(1), P(2), P(3), P(4), P(5)), 1006);
	check_args(6);

	/* Each of them really was a site. */
	CHECK_SITES(calls_0, 1);
	CHECK_SITES(calls_1, 1);
	CHECK_SITES(calls_2, 1);
	CHECK_SITES(calls_3, 1);
	CHECK_SITES(calls_4, 1);
	CHECK_SITES(calls_5, 1);
	CHECK_SITES(calls_6, 1);
	return 0;
}

static int test_trampolines(void)
{
	forget();
	CHECK_EQ(dynfunc_calls_0(), 1000);
	CHECK_EQ(nseen, 1);
	CHECK_EQ(dynfunc_calls_1(P(0)), 1001);
	check_args(1);
	CHECK_EQ(dynfunc_calls_2(P(0), P(1)), 1002);
	check_args(2);
	CHECK_EQ(dynfunc_calls_3(P(0), P(1), P(2)), 1003);
	check_args(3);
	CHECK_EQ(dynfunc_calls_4(P(0), P(1), P(2), P(3)), 1004);
	check_args(4);
	CHECK_EQ(dynfunc_calls_5(P(0), P(1), P(2), P(3), P(4)), 1005);
	check_args(5);
	CHECK_EQ(dynfunc_calls_6(P(0), P(1), P(2), P(3), P(4), P(5)), 1006);
	check_args(6);
	CHECK_EQ(dynfunc_calls_7(P(0), P(1), P(2), P(3), P(4), P(5), P(6)), 1007);
	check_args(7);
	CHECK_EQ(dynfunc_calls_9(P(0), P(1), P(2), P(3), P(4), P(5), -7, HIDE(0x1fe), -9), 1009);
	CHECK_EQ(seen[6], -7);
	CHECK_EQ(seen[7], 0xfe);
	CHECK_EQ(seen[8], -9);
	check_args(6);
	CHECK_EQ(dynfunc_calls_12(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), P(9), P(10), P(11)), 1012);
	check_args(12);
	return 0;
}

/* --- conversions ---------------------------------------------------------- */

enum colour { RED = -1, GREEN = 7 };

static noinline void take_s64(s64 x)
{
	seen[0] = x;
}

static noinline void take_u64(u64 x)
{
	seen[0] = x;
}

static noinline void take_int(int x)
{
	seen[0] = (long)x;
}

static noinline void take_uint(unsigned int x)
{
	seen[0] = x;
}

static noinline void take_enum(enum colour x)
{
	seen[0] = (long)(int)x;
}

static noinline const char *take_pointers(const char *a, void *b, int (*c)(void))
{
	seen[0] = (unsigned long)a, seen[1] = (unsigned long)b, seen[2] = (unsigned long)c;
	return a;
}

DEFINE_DYNFUNC(calls_s64, take_s64);
DEFINE_DYNFUNC(calls_u64, take_u64);
DEFINE_DYNFUNC(calls_int, take_int);
DEFINE_DYNFUNC(calls_uint, take_uint);
DEFINE_DYNFUNC(calls_enum, take_enum);
DEFINE_DYNFUNC(calls_pointers, take_pointers);

static int test_extend(void)
{
	static const char text[] = "text";
	const char *p = text;

	/* Signed and unsigned sources, to a wider parameter. */
	dynfunc_call(calls_s64, HIDE(-5));
	CHECK_EQ(seen[0], -5);
	dynfunc_call(calls_s64, HIDE((s8)-6));
	CHECK_EQ(seen[0], -6);
	dynfunc_call(calls_s64, HIDE((short)-7));
	CHECK_EQ(seen[0], -7);
	dynfunc_call(calls_s64, HIDE((u8)0xff));
	CHECK_EQ(seen[0], 0xff);
	dynfunc_call(calls_s64, HIDE((u16)0xffff));
	CHECK_EQ(seen[0], 0xffff);
	dynfunc_call(calls_s64, HIDE(0xffffffffU));
	CHECK_EQ(seen[0], 0xffffffffUL);
	dynfunc_call(calls_s64, HIDE(RED));
	CHECK_EQ(seen[0], -1);
	dynfunc_call(calls_s64, HIDE(true));
	CHECK_EQ(seen[0], 1);
	dynfunc_call(calls_u64, HIDE(-8));
	CHECK_EQ(seen[0], -8UL);
	dynfunc_call(calls_u64, 'x' - 300);
	CHECK_EQ(seen[0], 'x' - 300UL);

	/* To a narrower one, of 32 bits. */
	dynfunc_call(calls_int, HIDE(0x1234567880000001L));
	CHECK_EQ(seen[0], (long)(int)0x80000001);
	dynfunc_call(calls_uint, HIDE(-1L));
	CHECK_EQ(seen[0], 0xffffffffUL);
	dynfunc_call(calls_enum, RED);
	CHECK_EQ(seen[0], -1);
	dynfunc_call(calls_enum, HIDE(7));
	CHECK_EQ(seen[0], GREEN);

	/* Pointers, null pointers, arrays, functions. */
	CHECK_EQ(dynfunc_call(calls_pointers, p, NULL, NULL), p);
	CHECK_EQ(seen[0], p);
	CHECK_EQ(seen[1], 0);
	CHECK_EQ(seen[2], 0);
	CHECK_EQ(dynfunc_call(calls_pointers, text, &seen[3], test_extend), text);
	CHECK_EQ(seen[0], text);
	CHECK_EQ(seen[1], &seen[3]);
	CHECK_EQ(seen[2], test_extend);
	CHECK_EQ(dynfunc_call(calls_pointers, 0, seen, NULL), 0);
	CHECK_EQ(seen[1], seen);
	return 0;
}

/* Parameters narrower than int: a site if the types agree, else the trampoline. */
static noinline int take_bool(bool a, bool b)
{
	seen[0] = a, seen[1] = b;
	return 10 * a + b;
}

static noinline int take_chars(s8 a, u8 b, char c)
{
	seen[0] = (long)a, seen[1] = b, seen[2] = (long)c;
	return a + b + c;
}

static noinline int take_shorts(short a, u16 b, long c)
{
	seen[0] = (long)a, seen[1] = b, seen[2] = c;
	return a + b + c;
}

DEFINE_DYNFUNC(calls_bool, take_bool);
DEFINE_DYNFUNC(calls_bool_conv, take_bool);
DEFINE_DYNFUNC(calls_chars, take_chars);
DEFINE_DYNFUNC(calls_chars_conv, take_chars);
DEFINE_DYNFUNC(calls_shorts, take_shorts);
DEFINE_DYNFUNC(calls_shorts_conv, take_shorts);

static int test_narrow(void)
{
	bool yes = HIDE(true), no = HIDE(false);
	const s8 a = HIDE((s8)-100);
	u8 b = HIDE((u8)200);
	char c = HIDE((char)-3);
	short s = HIDE((short)-30000);
	u16 u = HIDE((u16)60000);
	long l = HIDE(-1L);

	CHECK_EQ(dynfunc_call(calls_bool, yes, no), 10);
	CHECK_EQ(dynfunc_call(calls_bool, no, yes), 1);
	CHECK_SITES(calls_bool, 2);
	/* 256 and a pointer are true. */
	CHECK_EQ(dynfunc_call(calls_bool_conv, HIDE(256), no), 10);
	CHECK_EQ(dynfunc_call(calls_bool_conv, 0, HIDE(&seen[0])), 1);
	CHECK_SITES(calls_bool_conv, 0);

	CHECK_EQ(dynfunc_call(calls_chars, a, b, c), 100 + c);
	CHECK_EQ(seen[0], -100);
	CHECK_EQ(seen[1], 200);
	/* From 6.2 on a char has no sign. */
	CHECK_EQ(seen[2], (long)(char)-3);
	CHECK_SITES(calls_chars, 1);
	CHECK_EQ(dynfunc_call(calls_chars_conv, HIDE(0x1fe), HIDE(-1), HIDE(0x101)), 254);
	CHECK_EQ(seen[0], -2);
	CHECK_EQ(seen[1], 255);
	CHECK_EQ(seen[2], 1);
	CHECK_SITES(calls_chars_conv, 0);

	CHECK_EQ(dynfunc_call(calls_shorts, s, u, l), 29999);
	CHECK_EQ(seen[0], -30000);
	CHECK_EQ(seen[1], 60000);
	CHECK_EQ(seen[2], -1);
	CHECK_SITES(calls_shorts, 1);
	CHECK_EQ(dynfunc_call(calls_shorts_conv, HIDE(0x18000), HIDE(-1), HIDE(-2)), -32768 + 65535 - 2);
	CHECK_EQ(seen[0], -32768);
	CHECK_EQ(seen[1], 65535);
	CHECK_EQ(seen[2], -2);
	CHECK_SITES(calls_shorts_conv, 0);
	return 0;
}

/* --- results -------------------------------------------------------------- */

/* Returns its argument with whatever is in the upper bits. */
#define RETURNS(type)							\
static noinline type ret_##type(unsigned long x)			\
{									\
	return (type)x;							\
}									\
DEFINE_DYNFUNC(calls_ret_##type, ret_##type)

typedef void *pointer;
typedef unsigned int uint_;
typedef enum colour colour;

RETURNS(bool);
RETURNS(s8);
RETURNS(u8);
RETURNS(short);
RETURNS(u16);
RETURNS(int);
RETURNS(uint_);
RETURNS(long);
RETURNS(u64);
RETURNS(pointer);
RETURNS(colour);

static void ret_void(unsigned long x)
{
	seen[0] = x;
}
DEFINE_DYNFUNC(calls_ret_void, ret_void);

#if JF_HAVE_PATCHING
/* A callee need not define the bits above its return type: this one sets all. */
unsigned long jft_dirty_return(unsigned long x);
asm(".pushsection .text\n\t"
    ".p2align 4\n\t"
#ifdef CONFIG_ARM64
    ".type jft_dirty_return, @function\n"
    "jft_dirty_return:\n\t"
    __JF_BTI
    "ret\n\t"
#else
    ".skip 16, 0x90\n\t"
    ".type jft_dirty_return, @function\n"
    "jft_dirty_return:\n\t"
    __JF_ENDBR
    "movq %rdi, %rax\n\t"
    ASM_RET
#endif
    ".size jft_dirty_return, . - jft_dirty_return\n\t"
    ".popsection\n");

#define SET_DIRTY(type)							\
	__jf_func_update(&__jf_func_calls_ret_##type, jft_dirty_return)
#endif

static void check_results(void)
{
	unsigned long dirt = HIDE(0xdeadbeefcafe0000UL);

	CHECK_EQ(dynfunc_call(calls_ret_s8, dirt | 0x80), -128);
	CHECK_EQ(dynfunc_call(calls_ret_u8, dirt | 0x80), 128);
	CHECK_EQ(dynfunc_call(calls_ret_short, dirt | 0x8001), -32767);
	CHECK_EQ(dynfunc_call(calls_ret_u16, dirt | 0x8001), 0x8001);
	CHECK_EQ(dynfunc_call(calls_ret_int, dirt), (int)0xcafe0000);
	CHECK_EQ(dynfunc_call(calls_ret_uint_, dirt), 0xcafe0000U);
	CHECK_EQ(dynfunc_call(calls_ret_long, dirt), dirt);
	CHECK_EQ(dynfunc_call(calls_ret_u64, dirt), dirt);
	CHECK_EQ(dynfunc_call(calls_ret_pointer, dirt), dirt);
	CHECK_EQ(dynfunc_call(calls_ret_colour, HIDE(0xffffffffUL)), RED);
	/* A bool is its lowest byte. */
	CHECK(dynfunc_call(calls_ret_bool, dirt | 1));
	CHECK_EQ(dynfunc_call(calls_ret_bool, HIDE(1UL)), 1);
	CHECK(!dynfunc_call(calls_ret_bool, HIDE(0UL)));
}

static int test_results(void)
{
	check_results();
	dynfunc_call(calls_ret_void, 17);
	CHECK_EQ(seen[0], 17);

#if JF_HAVE_PATCHING
	CHECK_EQ(SET_DIRTY(bool) | SET_DIRTY(s8) | SET_DIRTY(u8) | SET_DIRTY(short) |
		 SET_DIRTY(u16) | SET_DIRTY(int) | SET_DIRTY(uint_) | SET_DIRTY(long) |
		 SET_DIRTY(u64) | SET_DIRTY(pointer) | SET_DIRTY(colour), 0);
	check_results();
	CHECK(!dynfunc_call(calls_ret_bool, HIDE(0xdeadbeefcafe0000UL)));
#endif

	CHECK_EQ(dynfunc_update(calls_ret_bool, ret_bool), 0);
	CHECK_EQ(dynfunc_update(calls_ret_s8, ret_s8), 0);
	CHECK_EQ(dynfunc_update(calls_ret_u8, ret_u8), 0);
	CHECK_EQ(dynfunc_update(calls_ret_short, ret_short), 0);
	CHECK_EQ(dynfunc_update(calls_ret_u16, ret_u16), 0);
	CHECK_EQ(dynfunc_update(calls_ret_int, ret_int), 0);
	CHECK_EQ(dynfunc_update(calls_ret_uint_, ret_uint_), 0);
	CHECK_EQ(dynfunc_update(calls_ret_long, ret_long), 0);
	CHECK_EQ(dynfunc_update(calls_ret_u64, ret_u64), 0);
	CHECK_EQ(dynfunc_update(calls_ret_pointer, ret_pointer), 0);
	CHECK_EQ(dynfunc_update(calls_ret_colour, ret_colour), 0);
	return 0;
}

/* --- registers ------------------------------------------------------------ */

#if JF_HAVE_PATCHING
/* Returns the sum of its arguments and destroys all that a callee may. */
asm(".pushsection .text\n\t"
    ".p2align 4\n\t"
#ifdef CONFIG_ARM64
    ".type jft_clobber, @function\n"
    "jft_clobber:\n\t"
    __JF_BTI
    "add x0, x0, x1\n\t"
    "add x0, x0, x2\n\t"
    "add x0, x0, x3\n\t"
    "add x0, x0, x4\n\t"
    "add x0, x0, x5\n\t"
    "movz x1, #0x5a5a\n\t"
    ".irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17\n\t"
    "mov x\\n, x1\n\t"
    ".endr\n\t"
#ifndef CONFIG_SHADOW_CALL_STACK
    "mov x18, x1\n\t"
#endif
    "cmp x1, #1\n\t"			/* and the flags */
    "ret\n\t"
#else
    ".skip 16, 0x90\n\t"
    ".type jft_clobber, @function\n"
    "jft_clobber:\n\t"
    __JF_ENDBR
    "leaq (%rdi, %rsi), %rax\n\t"
    "addq %rdx, %rax\n\t"
    "addq %rcx, %rax\n\t"
    "addq %r8, %rax\n\t"
    "addq %r9, %rax\n\t"
    "movq $0x5a5a5a5a, %rdi\n\t"
    "movq %rdi, %rsi\n\t"
    "movq %rdi, %rdx\n\t"
    "movq %rdi, %rcx\n\t"
    "movq %rdi, %r8\n\t"
    "movq %rdi, %r9\n\t"
    "movq %rdi, %r10\n\t"
    "movq %rdi, %r11\n\t"
    "addq %rdi, %rdi\n\t"		/* and the flags */
    ASM_RET
#endif
    ".size jft_clobber, . - jft_clobber\n\t"
    ".popsection\n");
long jft_clobber(long a, long b, long c, long d, long e, long f);

static long sum6(long a, long b, long c, long d, long e, long f)
{
	return a + b + c + d + e + f;
}

DEFINE_DYNFUNC(clobber_6, sum6);
DEFINE_DYNFUNC(clobber_5, args5);
DEFINE_DYNFUNC(clobber_4, args4);
DEFINE_DYNFUNC(clobber_3, args3);
DEFINE_DYNFUNC(clobber_2, args2);
DEFINE_DYNFUNC(clobber_1, args1);
DEFINE_DYNFUNC(clobber_0, args0);

/*
 * More live values than there are registers, so that the compiler uses any that
 * it thinks survive the call. All stay right, arguments included.
 */
#define CLOBBER_TEST(n, ...)						\
static noinline long clobber_test_##n(const long *v)			\
{									\
	long a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5];	\
	long g = v[6], h = v[7], i = v[8], j = v[9], k = v[10], l = v[11];	\
	bool less = a < l;						\
	int round;							\
									\
	for (round = 0; round < 3; round++) {				\
		OPTIMIZER_HIDE_VAR(a); OPTIMIZER_HIDE_VAR(b);		\
		OPTIMIZER_HIDE_VAR(c); OPTIMIZER_HIDE_VAR(d);		\
		OPTIMIZER_HIDE_VAR(e); OPTIMIZER_HIDE_VAR(f);		\
		OPTIMIZER_HIDE_VAR(g); OPTIMIZER_HIDE_VAR(h);		\
		OPTIMIZER_HIDE_VAR(i); OPTIMIZER_HIDE_VAR(j);		\
		OPTIMIZER_HIDE_VAR(k); OPTIMIZER_HIDE_VAR(l);		\
		l += dynfunc_call(clobber_##n, ##__VA_ARGS__) & 1;	\
	}								\
	return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g +	\
	       17 * h + 19 * i + 23 * j + 29 * k + 31 * (l & ~3) + less;	\
}

CLOBBER_TEST(0)
CLOBBER_TEST(1, a)
CLOBBER_TEST(2, a, b)
CLOBBER_TEST(3, a, b, c)
CLOBBER_TEST(4, a, b, c, d)
CLOBBER_TEST(5, a, b, c, d, e)
CLOBBER_TEST(6, a, b, c, d, e, f)

static int test_clobbers(void)
{
	static const long w[12] = { 1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31 };
	long v[12], want = 0, c6[6];
	int i, err = 0;

	for (i = 0; i < 12; i++) {
		v[i] = HIDE(1000000L * i + 4 * i * i);
		want += w[i] * v[i];
	}
	want += v[0] < v[11];

	err |= __jf_func_update(&__jf_func_clobber_0, jft_clobber);
	err |= __jf_func_update(&__jf_func_clobber_1, jft_clobber);
	err |= __jf_func_update(&__jf_func_clobber_2, jft_clobber);
	err |= __jf_func_update(&__jf_func_clobber_3, jft_clobber);
	err |= __jf_func_update(&__jf_func_clobber_4, jft_clobber);
	err |= __jf_func_update(&__jf_func_clobber_5, jft_clobber);
	err |= dynfunc_update(clobber_6, jft_clobber);
	CHECK_EQ(err, 0);

	CHECK_EQ(clobber_test_0(v), want);
	CHECK_EQ(clobber_test_1(v), want);
	CHECK_EQ(clobber_test_2(v), want);
	CHECK_EQ(clobber_test_3(v), want);
	CHECK_EQ(clobber_test_4(v), want);
	CHECK_EQ(clobber_test_5(v), want);
	CHECK_EQ(clobber_test_6(v), want);
	for (i = 0; i < 6; i++)
		c6[i] = HIDE(1L << (10 * i));
	CHECK_EQ(dynfunc_call(clobber_6, c6[0], c6[1], c6[2], c6[3], c6[4], c6[5]), 0x4010040100401UL);

	CHECK_EQ(dynfunc_update(clobber_0, args0), 0);
	CHECK_EQ(dynfunc_update(clobber_1, args1), 0);
	CHECK_EQ(dynfunc_update(clobber_2, args2), 0);
	CHECK_EQ(dynfunc_update(clobber_3, args3), 0);
	CHECK_EQ(dynfunc_update(clobber_4, args4), 0);
	CHECK_EQ(dynfunc_update(clobber_5, args5), 0);
	CHECK_EQ(dynfunc_update(clobber_6, sum6), 0);
	return 0;
}
#else
/* The compiler knows of these calls. */
static int test_clobbers(void)
{
	return JFT_SKIP;
}
#endif

/* --- arguments are expressions --------------------------------------------- */

static noinline int add(int a, int b)
{
	return a + b;
}

static noinline int multiply(int a, int b)
{
	return a * b;
}

DEFINE_DYNFUNC(calls_op, add);

static int test_once(void)
{
	int i = 0, v[3] = { 4, 5, 6 }, *p = v;

	CHECK_EQ(dynfunc_call(calls_op, i++, 10), 10);
	CHECK_EQ(i, 1);
	CHECK_EQ(dynfunc_call(calls_op, *p++, (i += 5)), 10);
	CHECK_EQ(p - v, 1);
	CHECK_EQ(i, 6);
	/* Calls in arguments: the inner ones must not disturb the outer's registers. */
	CHECK_EQ(dynfunc_call(calls_op, dynfunc_call(calls_op, 1, 2), dynfunc_call(calls_op, 30, 40)), 73);
	CHECK_EQ(dynfunc_call(calls_op, 100, dynfunc_calls_op(dynfunc_call(calls_op, 3, 4), 5)), 112);
	/* As operands, conditions, statements. */
	CHECK_EQ(dynfunc_call(calls_op, 1, 2) * 3 + 1, 10);
	CHECK_EQ(i ? dynfunc_call(calls_op, 1, 2) : 0, 3);
	if (dynfunc_call(calls_op, 1, -1) || !dynfunc_call(calls_op, 1, 1))
		CHECK(false);
	dynfunc_call(calls_op, 1, 1);
	(void)dynfunc_call(calls_op, 1, 1);
	for (i = 0; dynfunc_call(calls_op, i, 1) < 10; i++)
		;
	CHECK_EQ(i, 9);
	return 0;
}

/*
 * A variable whose address is never taken, changed by a target that is called from
 * another function: the compiler must not believe that it knows its value.
 */
static int touched;

static noinline void touch(int n)
{
	touched += n;
}

DEFINE_DYNFUNC(calls_touch, touch);

static noinline void touch_by_site(void)
{
	dynfunc_call(calls_touch, 5);
}

static noinline void touch_by_trampoline(void)
{
	dynfunc_calls_touch(7);
}

static int test_memory(void)
{
	touched = 0;
	touch_by_site();
	CHECK_EQ(touched, 5);
	touched = 1;
	touch_by_trampoline();
	CHECK_EQ(touched, 8);
	touched = 2;
	dynfunc_call(calls_touch, 1);
	CHECK_EQ(touched, 3);
	return 0;
}

/* --- NULL and RET0 --------------------------------------------------------- */

static noinline void hook(unsigned long x)
{
	seen[0] = x;
}

static noinline long number(int x)
{
	return x + 1;
}

static noinline void *find(const char *name)
{
	return (void *)name;
}

static noinline bool allowed(u8 x)
{
	return x > 3;
}

DEFINE_DYNFUNC_NULL(calls_hook, hook);
DEFINE_DYNFUNC_RET0(calls_number, number);
DEFINE_DYNFUNC_RET0(calls_find, find);
DEFINE_DYNFUNC_RET0(calls_allowed, allowed);

static noinline void check_hook(bool on)
{
	void (*pointer)(unsigned long) = HIDE(__JF_POINTER(calls_hook));

	forget();
	dynfunc_call(calls_hook, 5);
	CHECK_EQ(seen[0] == 5, on);
	dynfunc_calls_hook(6);
	CHECK_EQ(seen[0] == 6, on);
	pointer(7);
	CHECK_EQ(seen[0] == 7, on);
	CHECK_EQ(dynfunc_query(calls_hook), on ? hook : NULL);
}

static int test_null(void)
{
	check_hook(false);
	CHECK_EQ(dynfunc_update(calls_hook, hook), 0);
	check_hook(true);
	CHECK_EQ(dynfunc_update(calls_hook, NULL), 0);
	check_hook(false);
	CHECK_EQ(dynfunc_update(calls_hook, NULL), 0);
	check_hook(false);
	return 0;
}

static noinline void check_number(bool on)
{
	long (*pointer)(int) = HIDE(__JF_POINTER(calls_number));
	bool (*pbool)(u8) = HIDE(__JF_POINTER(calls_allowed));
	u8 x = HIDE((u8)200);

	CHECK_EQ(dynfunc_call(calls_number, -8), on ? -7 : 0);
	CHECK_EQ(dynfunc_calls_number(-8), on ? -7 : 0);
	CHECK_EQ(pointer(-8), on ? -7 : 0);
	CHECK_EQ(dynfunc_query(calls_number), on ? number : NULL);
	CHECK_EQ(dynfunc_call(calls_find, (char *)0x1234), on ? 0x1234 : 0);
	CHECK_EQ(dynfunc_calls_find((char *)0x1234), on ? 0x1234 : 0);
	CHECK_EQ(dynfunc_call(calls_allowed, x), on);
	CHECK_EQ(dynfunc_call(calls_allowed, HIDE(1000)), on);
	CHECK_EQ(dynfunc_calls_allowed(x), on);
	CHECK_EQ(pbool(x), on);
}

static int set_numbers(bool on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, calls_number, on ? number : NULL);
	dynfunc_batch_set(&b, calls_find, on ? find : NULL);
	dynfunc_batch_set(&b, calls_allowed, on ? allowed : NULL);
	return jf_batch_commit(&b);
}

static int test_ret0(void)
{
	check_number(false);
	CHECK_EQ(set_numbers(true), 0);
	check_number(true);
	CHECK_EQ(set_numbers(false), 0);
	check_number(false);
	return 0;
}

/* --- where a site can stand ------------------------------------------------- */

DEFINE_DYNFUNC(calls_form, add);

static noinline int in_loop(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += dynfunc_call(calls_form, i, 3);
	return sum;
}

static noinline int unrolled(void)
{
	int i, sum = 0;

#pragma GCC unroll 8
	for (i = 1; i <= 8; i++)
		sum += dynfunc_call(calls_form, i, 2);
	return sum;
}

static __always_inline int inlined(int a)
{
	return dynfunc_call(calls_form, a, 7);
}

/* Nothing but the call: no frame of its own but for the site's needs. */
static noinline int leaf(int a, int b)
{
	return dynfunc_call(calls_form, a, b);
}

/* Code that compilers make a (conditional) tail call. */
static noinline int tail(int a, int b)
{
	return dynfunc_calls_form(a, b);
}

static noinline int conditional_tail(int a, int b)
{
	if (a < 0)
		return dynfunc_calls_form(b, a);
	if (a > 100)
		return dynfunc_call(calls_form, a, b);
	return -1;
}

static noinline int conditional(int which)
{
	switch (which) {
	case 0:
		return dynfunc_call(calls_form, 1, 5);
	case 1:
		return dynfunc_call(calls_form, 2, 5) + 1;
	case 2:
		return which > 1 ? dynfunc_call(calls_form, 3, 5) : dynfunc_call(calls_form, 4, 5);
	default:
		if (unlikely(which == 4))
			return dynfunc_call(calls_form, 5, 5);
		return 0;
	}
}

static noinline void check_forms(int (*op)(int, int))
{
	int (*pointer)(int, int) = HIDE(__JF_POINTER(calls_form));
	int i, loop = 0, unroll = 0;

	for (i = 0; i < 20; i++)
		loop += op(i, 3);
	for (i = 1; i <= 8; i++)
		unroll += op(i, 2);
	CHECK_EQ(in_loop(HIDE(20)), loop);
	CHECK_EQ(unrolled(), unroll);
	CHECK_EQ(inlined(HIDE(1)), op(1, 7));
	CHECK_EQ(inlined(HIDE(2)), op(2, 7));
	CHECK_EQ(leaf(HIDE(3), HIDE(4)), op(3, 4));
	CHECK_EQ(tail(HIDE(5), HIDE(6)), op(5, 6));
	CHECK_EQ(conditional_tail(HIDE(-2), 9), op(9, -2));
	CHECK_EQ(conditional_tail(HIDE(200), 9), op(200, 9));
	CHECK_EQ(conditional_tail(HIDE(50), 9), -1);
	CHECK_EQ(conditional(0), op(1, 5));
	CHECK_EQ(conditional(1), op(2, 5) + 1);
	CHECK_EQ(conditional(2), op(3, 5));
	CHECK_EQ(conditional(4), op(5, 5));
	CHECK_EQ(pointer(6, 7), op(6, 7));
	CHECK_EQ(dynfunc_query(calls_form), op);
}

static int test_forms(void)
{
	check_forms(add);
	CHECK_EQ(dynfunc_update(calls_form, multiply), 0);
	check_forms(multiply);
#if JF_HAVE_PATCHING
	/* A trampoline is a target like any other. */
	CHECK_EQ(dynfunc_update(calls_form, &dynfunc_calls_op), 0);
	CHECK_EQ(leaf(HIDE(3), HIDE(4)), 7);
	CHECK_EQ(dynfunc_update(calls_op, multiply), 0);
	CHECK_EQ(leaf(HIDE(3), HIDE(4)), 12);
	CHECK_EQ(tail(HIDE(3), HIDE(4)), 12);
	CHECK_EQ(dynfunc_update(calls_op, add), 0);
#endif
	CHECK_EQ(dynfunc_update(calls_form, add), 0);
	check_forms(add);
	return 0;
}

/* --- __init and __exit text -------------------------------------------------- */

DEFINE_DYNFUNC(calls_init, add);
DEFINE_DYNFUNC(calls_exit, add);

static int init_results[3];

static int test_init_text(void)
{
	CHECK_EQ(init_results[0], 7);
	CHECK_EQ(init_results[1], 12);
	CHECK_EQ(init_results[2], 7);
	/* The site in __init text was freed with it: an update does not write it. */
	CHECK_EQ(dynfunc_update(calls_init, multiply), 0);
	CHECK_EQ(dynfunc_calls_init(3, 4), 12);
	CHECK_EQ(dynfunc_update(calls_init, add), 0);
	/* The module's end shows the result. */
	CHECK_EQ(dynfunc_update(calls_exit, multiply), 0);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "args", test_args },
	{ "trampolines", test_trampolines },
	{ "extend", test_extend },
	{ "narrow", test_narrow },
	{ "results", test_results },
	{ "clobbers", test_clobbers },
	{ "once", test_once },
	{ "memory", test_memory },
	{ "null", test_null },
	{ "ret0", test_ret0 },
	{ "forms", test_forms },
	{ "init_text", test_init_text },
	{ }
};

static int __init calls_init(void)
{
	init_results[0] = dynfunc_call(calls_init, 3, 4);
	if (dynfunc_update(calls_init, multiply))
		return -EINVAL;
	init_results[1] = dynfunc_call(calls_init, 3, 4);
	if (dynfunc_update(calls_init, add))
		return -EINVAL;
	init_results[2] = dynfunc_call(calls_init, 3, 4);
	return jft_init();
}

static void __exit calls_exit(void)
{
	jft_exit();
	/* By now the update to multiply() was made, and not undone. */
	pr_info("jf_calls: exit text: %d\n", dynfunc_call(calls_exit, 3, 4));
}

module_init(calls_init);
module_exit(calls_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Checks what calls of dynamic functions mean");
