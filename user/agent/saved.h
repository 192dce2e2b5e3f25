/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A thread that has come by a probe, and its system calls: for record.c, pair.c, members.c,
 * memory.c, value.c, watch.c and aside.c, which that thread executes. They use general registers
 * alone, and call no function of libc.
 */
#ifndef JF_SAVED_H
#define JF_SAVED_H

#include "agent.h"

/**
 * struct jf_saved - of a thread that has come to a probe, as entry.S pushes it
 * @flags:    the arithmetic flags
 * @reg:      by their numbers; the stack pointer here is not the thread's own
 * @ret:      in the probe's code, after the call
 * @red_zone: of the thread
 */
struct jf_saved {
	uint64_t	flags;
	uint64_t	reg[16];
	uint64_t	ret;
	uint64_t	red_zone[16];
};

static inline long call4(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret) : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret)
			 : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif /* JF_SAVED_H */
