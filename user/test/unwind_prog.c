// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Looks out of a probe that a chain has called: the unwinder must find the function
 * with the tracepoint, and its caller, for each number of arguments.
 */
#include <jumpfunc/tracepoint.h>

#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

DECLARE_JF_TRACE_NOARGS(none);
DECLARE_JF_TRACE(one, JF_PROTO(long a), JF_ARGS(a));
DECLARE_JF_TRACE(two, JF_PROTO(long a, long b), JF_ARGS(a, b));
DECLARE_JF_TRACE(five, JF_PROTO(long a, long b, long c, long d, long e), JF_ARGS(a, b, c, d, e));
DEFINE_JF_TRACE(none);
DEFINE_JF_TRACE(one);
DEFINE_JF_TRACE(two);
DEFINE_JF_TRACE(five);

static int looked, found;

int main(void);

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *arg)
{
	int *frames = arg;

	if (++*frames > 32)
		return _URC_END_OF_STACK;
	if (_Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(context) - 1)) != (void *)(uintptr_t)main)
		return _URC_NO_REASON;
	found++;
	return _URC_END_OF_STACK;
}

__attribute__((noinline)) static void look_out(void)
{
	int frames = 0;

	looked++;
	_Unwind_Backtrace(look, &frames);
}

static void none1(void *data) { (void)data; look_out(); }
static void none2(void *data) { (void)data; }
static void one1(void *data, long a) { (void)data, (void)a; look_out(); }
static void one2(void *data, long a) { (void)data, (void)a; }
static void two1(void *data, long a, long b) { (void)data, (void)a, (void)b; look_out(); }
static void two2(void *data, long a, long b) { (void)data, (void)a, (void)b; }
static void five1(void *data, long a, long b, long c, long d, long e)
{
	(void)data, (void)a, (void)b, (void)c, (void)d, (void)e;
	look_out();
}
static void five2(void *data, long a, long b, long c, long d, long e)
{
	(void)data, (void)a, (void)b, (void)c, (void)d, (void)e;
}

__attribute__((noinline)) static void serve(void)
{
	jf_trace_none();
	jf_trace_one(1);
	jf_trace_two(1, 2);
	jf_trace_five(1, 2, 3, 4, 5);
	/* The last one would be a jump, and nothing of this function be left. */
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (register_jf_trace_none(none1, NULL) || register_jf_trace_none(none2, NULL) ||
		    register_jf_trace_one(one1, NULL) || register_jf_trace_one(one2, NULL) ||
		    register_jf_trace_two(two1, NULL) || register_jf_trace_two(two2, NULL) ||
		    register_jf_trace_five(five1, NULL) || register_jf_trace_five(five2, NULL))
			return 2;
		serve();
		if (unregister_jf_trace_none(none1, NULL) || unregister_jf_trace_none(none2, NULL) ||
		    unregister_jf_trace_one(one1, NULL) || unregister_jf_trace_one(one2, NULL) ||
		    unregister_jf_trace_two(two1, NULL) || unregister_jf_trace_two(two2, NULL) ||
		    unregister_jf_trace_five(five1, NULL) || unregister_jf_trace_five(five2, NULL))
			return 2;
	}
	printf("looked %d found %d\n", looked, found);
	return looked != 12 || found != 12;
}
