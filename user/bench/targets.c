// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The targets of the compiled rows; in an object of its own, so that nothing is inlined. */
#include "row.h"

int bench_arg1 = 17;
long bench_arg2 = 34;

/* Where a rewritten jump leads before it is rewritten. */
void bench_wrong(void)
{
	printf("Bail out! a site was not rewritten\n");
	exit(1);
}

#define DEFINE_TARGET(hi, lo) void bench_target_##hi##lo(void) \
	{ __asm__ volatile("" :: "i" (SITE_INDEX(hi, lo))); }
FOR_ALL(DEFINE_TARGET)

long bench_wrong_link(long x)
{
	bench_wrong();
	return x;
}

#define DEFINE_LINK(hi, lo) long bench_link_##hi##lo(long x) \
	{ return x * 3 + SITE_INDEX(hi, lo); }
FOR_64(DEFINE_LINK, 0)

#define DEFINE_PROBE(n)							\
	static void probe_##n(void *data, int number, long length)	\
	{								\
		(void)length;						\
		__asm__ volatile("" :: "i" (n));			\
		*(volatile int *)data = number;				\
	}
DEFINE_PROBE(0) DEFINE_PROBE(1) DEFINE_PROBE(2) DEFINE_PROBE(3)
DEFINE_PROBE(4) DEFINE_PROBE(5) DEFINE_PROBE(6) DEFINE_PROBE(7)

bench_probe_fn *const bench_probes[MAX_SUBSCRIBERS] = {
	probe_0, probe_1, probe_2, probe_3, probe_4, probe_5, probe_6, probe_7,
};

/* What -mindirect-branch=thunk-extern calls: an lfence in place of a retpoline. */
#define THUNK(reg)							\
	__asm__(".pushsection .text.bench_thunks, \"ax\", @progbits\n\t"	\
	    ".p2align 6\n\t"						\
	    ".globl __x86_indirect_thunk_" #reg "\n"			\
	    "__x86_indirect_thunk_" #reg ":\n\t"			\
	    "lfence\n\tjmp *%" #reg "\n\t"				\
	    ".popsection");
THUNK(rax) THUNK(rbx) THUNK(rcx) THUNK(rdx) THUNK(rsi) THUNK(rdi) THUNK(rbp)
THUNK(r8) THUNK(r9) THUNK(r10) THUNK(r11) THUNK(r12) THUNK(r13) THUNK(r14) THUNK(r15)
