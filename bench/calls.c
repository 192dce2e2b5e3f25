// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a call, by its kind. Each call hands its result to the next one, so none can be left
 * out or counted twice unnoticed.
 *
 * One site is the best case of any branch predictor. 64 sites with a target of
 * their own each, one after the other, show a site's share of it.
 */
#include "bench.h"
#include "loops.h"
#include "targets.h"

#include <linux/static_call.h>

#if JFB_X86
#include <asm/nospec-branch.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#endif

#define DEFINE(i)	DEFINE_DYNFUNC(jfb_##i, jfb_target_##i);
JFB_REP64(DEFINE, t)

#define DEFINE_STATIC(i) DEFINE_STATIC_CALL(jfb_static_##i, jfb_target_##i);
JFB_REP64(DEFINE_STATIC, t)

/* A plain indirect call: the cost of a pointer without mitigations. */
#if JFB_X86
#define plain_call(f, x)						\
({									\
	unsigned long __rax = (unsigned long)(f), __rdi = (x);		\
									\
	asm volatile(ANNOTATE_RETPOLINE_SAFE "\n\t"			\
		     "call *%%rax\n\t"					\
		     : "+a" (__rax), "+D" (__rdi), ASM_CALL_CONSTRAINT	\
		     : : "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11",	\
			 "memory", "cc");				\
	__rax;								\
})
#else
#define plain_call(f, x)	((f)(x))
#endif

/* Enumerators t00 to t77 of consecutive value. */
#define ENUMERATOR(i)	i,
enum { JFB_REP64(ENUMERATOR, t) };

#define LOOP(i)		asm volatile("" : "+r" (x));
#define DIRECT(i)	x = jfb_target_##i(x);
#define SITE(i)		x = dynfunc_call(jfb_##i, x);
#define TRAMPOLINE(i)	x = dynfunc_jfb_##i(x);
#define STATIC(i)	x = static_call(jfb_static_##i)(x);
#define PLAIN(i)	x = plain_call(READ_ONCE(pointers[i]), x);
#define POINTER(i)	x = READ_ONCE(pointers[i])(x);

static jfb_fn *pointers[JFB_SITES] = {
#define POINTER_INIT(i)	[i] = jfb_target_##i,
	JFB_REP64(POINTER_INIT, t)
};

JFB_LOOPS(loop, LOOP)
JFB_LOOPS(direct, DIRECT)
JFB_LOOPS(site, SITE)
JFB_LOOPS(trampoline, TRAMPOLINE)
JFB_LOOPS(kernel, STATIC)
JFB_LOOPS(plain, PLAIN)
JFB_LOOPS(pointer, POINTER)

static bool check_loop(const struct jfb_row *row, unsigned long n,
		       unsigned long x, unsigned long y)
{
	return y == x;
}

static bool check_calls(const struct jfb_row *row, unsigned long n,
			unsigned long x, unsigned long y)
{
	return y == x + n;
}

#define ROWS(n)								\
	{ "none", "the loop alone, subtracted below", n, 0, JFB_LOOP,	\
	  loop_##n, check_loop },					\
	{ "direct", "direct call", n, 0, JFB_BASE,			\
	  direct_##n, check_calls },					\
	{ "inline", "dynfunc_call(), a site patched in place", n, 0, 0,	\
	  site_##n, check_calls },					\
	{ "trampoline", "dynfunc_name(), call to jmp", n, 0, 0,		\
	  trampoline_##n, check_calls },				\
	{ "static-call", "static_call(), the kernel's own", n, 0, 0,	\
	  kernel_##n, check_calls },					\
	{ "indirect", "pointer, without a retpoline", n, 0, 0,		\
	  plain_##n, check_calls },					\
	{ "pointer", "pointer, as this kernel runs it", n, 0, 0,	\
	  pointer_##n, check_calls }

static const struct jfb_row rows[] = { ROWS(1), ROWS(64) };

const struct jfb_suite jfb_calls = {
	.name	= "calls",
	.group	= "call",
	.title	= "one call",
	.rows	= rows,
	.num	= ARRAY_SIZE(rows),
};
