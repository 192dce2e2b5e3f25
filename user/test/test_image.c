// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Dispatch images: tracepoints of none to six arguments, with none to eighteen probes and
 * back. Each probe spoils all registers that a function may spoil, and looks at its
 * arguments, its data, and where the stack is. Six arguments are more than images take.
 *
 * usage: test_image
 */
#include <errno.h>
#include <stdint.h>

#include <jumpfunc/tracepoint.h>

#include "tap.h"

#define PROBES	18
#define FIRST	11L

static struct {
	int nr;
	int order[PROBES + 1];
	bool wrong_argument, wrong_stack;
} seen;

static int cookies[PROBES];

static void record(const void *data, const long *args, int nr_args, uintptr_t frame)
{
	int i;

	if (seen.nr <= PROBES)
		seen.order[seen.nr++] = (int)((const int *)data - cookies);
	for (i = 0; i < nr_args; i++)
		seen.wrong_argument |= args[i] != FIRST * (i + 1);
	/* At the call, the stack was a multiple of 16. */
	seen.wrong_stack |= frame % 16 != 0;
}

#define SPOIL()								\
	__asm__ volatile("mov $-1, %%rax; mov %%rax, %%rdi; mov %%rax, %%rsi;" \
			 "mov %%rax, %%rdx; mov %%rax, %%rcx; mov %%rax, %%r8;" \
			 "mov %%rax, %%r9; mov %%rax, %%r10; mov %%rax, %%r11" \
			 : : : "rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11")

/* A tracepoint of @nr arguments, and the functions that a test has to call for it. */
#define POINT(nr, with_data, proto, args, values)			\
	DECLARE_JF_TRACE(of_##nr, JF_PROTO proto, JF_ARGS args);	\
	DEFINE_JF_TRACE(of_##nr);					\
	static __attribute__((__noinline__)) void probe_##nr with_data	\
	{								\
		long all[] = { 0, PASS args };				\
									\
		record(data, all + 1, nr, (uintptr_t)__builtin_frame_address(0)); \
		SPOIL();						\
	}								\
	static __attribute__((__noinline__)) void fire_##nr(void) { jf_trace_of_##nr values; } \
	static int add_##nr(void *data) { return register_jf_trace_of_##nr(probe_##nr, data); } \
	static int del_##nr(void *data) { return unregister_jf_trace_of_##nr(probe_##nr, data); }
#define PASS(...) __VA_ARGS__

POINT(1, (void *data, long a), (long a), (a), (11))
POINT(2, (void *data, long a, long b), (long a, long b), (a, b), (11, 22))
POINT(3, (void *data, long a, long b, long c), (long a, long b, long c), (a, b, c), (11, 22, 33))
POINT(4, (void *data, long a, long b, long c, long d), (long a, long b, long c, long d), (a, b, c, d),
      (11, 22, 33, 44))
POINT(5, (void *data, long a, long b, long c, long d, long e), (long a, long b, long c, long d, long e),
      (a, b, c, d, e), (11, 22, 33, 44, 55))
POINT(6, (void *data, long a, long b, long c, long d, long e, long f),
      (long a, long b, long c, long d, long e, long f), (a, b, c, d, e, f), (11, 22, 33, 44, 55, 66))

DECLARE_JF_TRACE_NOARGS(of_0);
DEFINE_JF_TRACE(of_0);
static __attribute__((__noinline__)) void probe_0(void *data)
{
	record(data, NULL, 0, (uintptr_t)__builtin_frame_address(0));
	SPOIL();
}
static __attribute__((__noinline__)) void fire_0(void) { jf_trace_of_0(); }
static int add_0(void *data) { return register_jf_trace_of_0(probe_0, data); }
static int del_0(void *data) { return unregister_jf_trace_of_0(probe_0, data); }

#define ROW(nr)	{ fire_##nr, add_##nr, del_##nr }
static const struct {
	void (*fire)(void);
	int (*add)(void *data), (*del)(void *data);
} points[] = { ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6) };

/* Exactly the first @nr ran, in their order. */
static void check(int args, int nr, const char *when)
{
	int i;

	memset(&seen, 0, sizeof(seen));
	points[args].fire();
	CHECK(seen.nr == nr, "%s: %d ran instead of %d", when, seen.nr, nr);
	for (i = 0; i < nr && i < seen.nr; i++)
		CHECK(seen.order[i] == i, "%s: %d ran as number %d of %d", when, seen.order[i], i, nr);
	CHECK(!seen.wrong_argument, "%s: arguments of %d", when, nr);
	CHECK(!seen.wrong_stack, "%s: the stack of %d", when, nr);
}

int main(void)
{
	char name[64];
	int args, n;

	for (args = 0; args < 7; args++) {
		check(args, 0, "none");
		for (n = 0; n < PROBES; n++) {
			CHECK(points[args].add(&cookies[n]) == 0, "probe %d", n);
			check(args, n + 1, "up");
		}
		while (n--) {
			CHECK(points[args].del(&cookies[n]) == 0, "probe %d", n);
			check(args, n, "down");
		}
		snprintf(name, sizeof(name), "0 to %d probes and back, %d arguments", PROBES, args);
		finish(name);
	}
	return tap_end();
}
