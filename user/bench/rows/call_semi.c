// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The idea of the C++ library semi-static-conditions, in words of our own: an
 * ordinary call to a function whose first instruction is a jump, and the program
 * rewrites the jump's displacement in its own text, made writable for that. (It
 * has no protocol, so no other thread may run there during a change.)
 */
#include "row.h"

#include <sys/mman.h>

#define STRING_(x)	#x
#define STRING(x)	STRING_(x)
#define NAME(hi, lo)	"bench_semi_" STRING(VARIANT) "_" #hi #lo
#define ENTRY(hi, lo)							\
	__asm__(".pushsection .text.bench_semi, \"ax\", @progbits\n"	\
		".globl " NAME(hi, lo) "\n"				\
		NAME(hi, lo) ":\n"					\
		"	.byte 0xe9\n"					\
		"	.long bench_wrong - (. + 4)\n"			\
		"	.balign 16, 0xcc\n"				\
		".popsection");						\
	void semi_##hi##lo(void) __asm__(NAME(hi, lo));
FOR_ALL(ENTRY)

#define BODY
#define SITE(hi, lo)	semi_##hi##lo()
#include "loops.h"

static void set(void (*entry)(void), void (*target)(void))
{
	uintptr_t page = (uintptr_t)entry & ~4095UL;
	int32_t disp = (int32_t)((intptr_t)target - ((intptr_t)entry + 5));

	if (mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		stress_die(-errno, "mprotect of text, which semi-static conditions need");
	memcpy((char *)(uintptr_t)entry + 1, &disp, sizeof(disp));
	if (mprotect((void *)page, 8192, PROT_READ | PROT_EXEC))
		stress_die(-errno, "mprotect");
}

static void choose(void)
{
#define CHOOSE(hi, lo)	set(semi_##hi##lo, bench_target_##hi##lo);
	FOR_ALL(CHOOSE)
}

BENCH_ROWS("call", "semi-static", "semi-static: call to a rewritten jmp", choose);
