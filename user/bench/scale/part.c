// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * One part of a program with very many sites: 5000 in 200 functions. It is compiled
 * once, and linked as often as sites are wanted, each time under another name.
 */
#include "scale.h"

/*
 * In programs there is other code between sites. With it there is one site in 256 bytes,
 * and among the bytes between is one that looks like a breakpoint, as those of immediate
 * operands and of padding do.
 */
#ifdef SPARSE
#define BETWEEN	__asm__ volatile("jmp 1f; .skip 119, 0x90; .byte 0xcc; .skip 120, 0x90; 1:");
#else
#define BETWEEN
#endif
#define SITE(n)		on += jf_branch_unlikely(&scale_all); BETWEEN
#define SITES5(n)	SITE(n) SITE(n) SITE(n) SITE(n) SITE(n)
#define SITES25(n)	SITES5(n) SITES5(n) SITES5(n) SITES5(n) SITES5(n)
#define FUNCTION(n)							\
	static __attribute__((noinline)) unsigned int run_##n(unsigned int on) \
	{								\
		SITES25(n)						\
		return on;						\
	}
#define EACH10(m, n)	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4)		\
			m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define EACH100(m, n)	EACH10(m, n##0) EACH10(m, n##1) EACH10(m, n##2)	\
			EACH10(m, n##3) EACH10(m, n##4) EACH10(m, n##5)	\
			EACH10(m, n##6) EACH10(m, n##7) EACH10(m, n##8)	\
			EACH10(m, n##9)
#define EACH(m)		EACH100(m, a) EACH100(m, b)
EACH(FUNCTION)

unsigned int scale_part(void)
{
	unsigned int on = 0;

#define CALL(n)		on = run_##n(on);
	EACH(CALL)
	return on;
}
