/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Throughput: the sites stand among eight independent additions each, which keep all arithmetic
 * units busy, be they four or six. What does no arithmetic costs nothing there. The compiler that
 * made a row is part of its group's name.
 */
#ifndef JF_USER_BENCH_ALU_H
#define JF_USER_BENCH_ALU_H

#ifdef __clang__
#define ALU_GROUP	"alu-clang"
#else
#define ALU_GROUP	"alu"
#endif

#define BODY								\
	__asm__ volatile("add $1, %%r8d; add $1, %%r9d; add $1, %%r10d; add $1, %%r11d;" \
			 "add $1, %%ecx; add $1, %%edx; add $1, %%esi; add $1, %%edi" \
			 ::: "r8", "r9", "r10", "r11", "rcx", "rdx", "rsi", "rdi", "cc", "memory")

#define NO_RANDOM
#include "loops.h"

#define ALU_ROW(name, text)	BENCH_ROW_COLD(ALU_GROUP, name, text, NULL)

#endif /* JF_USER_BENCH_ALU_H */
