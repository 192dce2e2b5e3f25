// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of an inline call site with more than six arguments: the compiler's
 * own call, its call through a trampoline, and an asm statement that pushes the arguments that
 * registers do not hold. docs/design.md has the conclusion.
 */
#include <stdio.h>
#include <time.h>

#define CALLS	400000
#define RUNS	400

#define SIX	long a, long b, long c, long d, long e, long f

__attribute__((noinline)) long target8(SIX, long g, long h)
{
	asm volatile("" : : "r" (b + c + d + e + f + g));
	return a + h;
}

__attribute__((noinline)) long target12(SIX, long g, long h, long i, long j, long k, long l)
{
	asm volatile("" : : "r" (b + c + d + e + f + g + h + i + j + k));
	return a + l;
}

asm(".p2align 4\ntramp8: .byte 0xe9; .long target8 - (. + 4)\n"
    ".p2align 4\ntramp12: .byte 0xe9; .long target12 - (. + 4)\n");
long tramp8(SIX, long g, long h);
long tramp12(SIX, long g, long h, long i, long j, long k, long l);

#define IN_OUT	"=a" (rax), "+D" (a), "+S" (b), "+d" (c), "+c" (d), "+r" (r8), "+r" (r9)

/* A program has a red zone to step over, which costs nothing beside the pushes. */
static inline long push8(SIX, long g, long h)
{
	long rax;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;

	asm volatile("subq $128, %%rsp\n\tpushq %[h]\n\tpushq %[g]\n\t"
		     "call target8\n\taddq $144, %%rsp"
		     : IN_OUT : [g] "r" (g), [h] "r" (h) : "r10", "r11", "memory", "cc");
	return rax;
}

/* The values are more than registers are left: from an array. */
static inline long push12(SIX, long g, long h, long i, long j, long k, long l)
{
	long rax, rest[6] = { g, h, i, j, k, l };
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;
	register long *r10 asm("r10") = rest;

	asm volatile("subq $128, %%rsp\n\t"
		     "pushq 40(%%r10)\n\tpushq 32(%%r10)\n\tpushq 24(%%r10)\n\t"
		     "pushq 16(%%r10)\n\tpushq 8(%%r10)\n\tpushq (%%r10)\n\t"
		     "call target12\n\taddq $176, %%rsp"
		     : IN_OUT, "+r" (r10) : : "r11", "memory", "cc");
	return rax;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

#define ROW(what, call)							\
do {									\
	double best = 1e9;						\
									\
	for (int run = 0; run < RUNS; run++) {				\
		double begin = now();					\
		long x = 1;						\
									\
		for (long n = 0; n < CALLS; n++) {			\
			asm volatile("" : "+r" (x));			\
			x = (call) & 7;					\
		}							\
		begin = (now() - begin) / CALLS;			\
		if (begin < best)					\
			best = begin;					\
	}								\
	printf("%-36s %5.2f ns\n", what, best);			\
} while (0)

int main(void)
{
	ROW("8 arguments, direct", target8(x, 2, 3, 4, 5, 6, x, 8));
	ROW("8 arguments, trampoline", tramp8(x, 2, 3, 4, 5, 6, x, 8));
	ROW("8 arguments, site with pushes", push8(x, 2, 3, 4, 5, 6, x, 8));
	ROW("12 arguments, direct", target12(x, 2, 3, 4, 5, 6, x, 8, 9, 10, 11, 12));
	ROW("12 arguments, trampoline", tramp12(x, 2, 3, 4, 5, 6, x, 8, 9, 10, 11, 12));
	ROW("12 arguments, site with pushes", push12(x, 2, 3, 4, 5, 6, x, 8, 9, 10, 11, 12));
	return 0;
}
